import { failureOf } from '../api/failure.ts';
import { sessionFetch } from '../session/session-fetch.ts';
import type { StoredFile } from './stored-file.ts';

/**
 * Uploads a picture, or another document.
 *
 * @throws Failure
 */
export async function upload(kind: 'image' | 'document', file: File): Promise<StoredFile> {
  const body = new FormData();
  body.set('file', file);
  const url = new URL(`/trace/api/common/${kind}`, location.href);
  const response = await sessionFetch(new Request(url, { method: 'POST', body }));
  const answer = (await response.json().catch(() => undefined)) as { data: StoredFile } | undefined;
  if (!response.ok || !answer) throw failureOf(answer, response.status, response.headers.get('retry-after'));
  return answer.data;
}
