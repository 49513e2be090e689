import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { Answer, RunningService } from './service.ts';

export interface UploadOptions {
  /** att_ and a ULID, in a form field */
  id?: string;
  name?: string;
  headers?: Record<string, string>;
}

/** Uploads bytes as a browser's form does. */
export async function upload(
  service: Pick<RunningService, 'url'>,
  bytes: Uint8Array | string,
  { id, name = 'leaf.bin', headers = {} }: UploadOptions = {},
): Promise<Answer> {
  const form = new FormData();
  if (id !== undefined) form.set('id', id);
  form.set('file', new Blob([bytes as Uint8Array<ArrayBuffer>]), name);
  const response = await fetch(`${service.url}/attachments`, { method: 'POST', body: form, headers });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
}

/** Downloads bytes, and what came with them. */
export async function download(
  service: Pick<RunningService, 'url'>,
  id: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: Headers; bytes: Buffer }> {
  const response = await fetch(`${service.url}/attachments/${id}`, { headers });
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, bytes };
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Headers of the tus protocol. */
export const TUS = { 'tus-resumable': '1.0.0' };
export const TUS_PATCH = { ...TUS, 'content-type': 'application/offset+octet-stream' };

/** The files that a service keeps in its DATA_DIR, by path below DATA_DIR/files. */
export async function storedFiles(dataDir: string): Promise<string[]> {
  const folder = path.join(dataDir, 'files');
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter(entry => entry.isFile())
    .map(entry => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .sort();
}
