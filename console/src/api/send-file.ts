import { failureOf } from './failure.ts';
import { sessionFetch } from './session-fetch.ts';
import type { StoredFile } from './stored-file.ts';

/**
 * Uploads a picture, or another document.
 *
 * @throws Failure
 */
export function upload(kind: 'image' | 'document', file: File): Promise<StoredFile> {
  return sendFile(`/trace/api/common/${kind}`, file);
}

/**
 * Sends a file to the trace backend; returns the `data` of the answer.
 *
 * @throws Failure
 */
export async function sendFile<Data>(path: string, file: File): Promise<Data> {
  const body = new FormData();
  body.set('file', file);
  const url = new URL(path, location.href);
  const response = await sessionFetch(new Request(url, { method: 'POST', body }));
  const answer = (await response.json().catch(() => undefined)) as { data: Data } | undefined;
  if (!response.ok || !answer) throw failureOf(answer, response);
  return answer.data;
}
