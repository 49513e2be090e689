import sharp from 'sharp';
import type { Answer } from './service.ts';
import type { LoggedIn, RunningTrace } from './trace.ts';

/** A one-coloured image; a phone's photo in all but its contents. */
export function picture(width: number, height: number, background = '#c03010') {
  return sharp({ create: { width, height, channels: 3, background } });
}

/** Uploads bytes as a browser's form does. */
export async function uploadFile(
  trace: Pick<RunningTrace, 'url'>,
  user: Pick<LoggedIn, 'cookie'>,
  kind: 'image' | 'document',
  bytes: Uint8Array | string,
  name = 'picture.jpg',
): Promise<Answer> {
  const form = new FormData();
  form.set('file', new Blob([bytes as Uint8Array<ArrayBuffer>]), name);
  return sendForm(trace, user, kind, form);
}

export async function sendForm(
  { url }: Pick<RunningTrace, 'url'>,
  { cookie }: Pick<LoggedIn, 'cookie'>,
  kind: 'image' | 'document',
  form: FormData,
): Promise<Answer> {
  const response = await fetch(`${url}/api/common/${kind}`, {
    method: 'POST',
    body: form,
    headers: { cookie },
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
}

/** Downloads bytes, and what came with them. */
export async function downloadFile(
  { url }: Pick<RunningTrace, 'url'>,
  { cookie }: Pick<LoggedIn, 'cookie'>,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<{ status: number; headers: Headers; bytes: Buffer }> {
  const response = await fetch(`${url}/api/common/${path}`, { method, headers: { cookie, ...headers } });
  return {
    status: response.status,
    headers: response.headers,
    bytes: Buffer.from(await response.arrayBuffer()),
  };
}
