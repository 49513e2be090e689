import { createHmac } from 'node:crypto';
import type { WebhookTarget } from './channels.ts';

/** Longest wait for a receiver, from the connection to the status line, in milliseconds. */
const PATIENCE_MS = 10_000;

/**
 * The signature header of a notification: `t=<Unix seconds>,v1=<hex>`, where v1 is the HMAC-SHA256 with the shared
 * secret over the time, a dot and the body, byte for byte. The time is signed too, so that a receiver can refuse
 * replayed requests.
 *
 * @param seconds when it is sent, in Unix seconds
 */
export function signature(secret: string, body: string, seconds: number): string {
  const hex = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return `t=${seconds},v1=${hex}`;
}

/**
 * Posts a notification. Every 2xx answer means success; the body of the answer is not read.
 *
 * @param signal aborts the attempt
 * @throws Error with a message for the delivery log: no URL, nothing of the answer but its status
 */
export async function postNotification(
  { url, secret }: WebhookTarget,
  notification: object,
  signal: AbortSignal,
): Promise<void> {
  const body = JSON.stringify(notification);
  const response = await send(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': 'fieldtrace',
      'fieldtrace-signature': signature(secret, body, Math.floor(Date.now() / 1000)),
    },
    body,
    // A redirect could send the notification to a host that its receiver's owner did not choose.
    redirect: 'manual',
    signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]),
  });
  await response.body?.cancel().catch(() => {});
  if (!response.ok) throw new Error(`the receiver returned ${response.status}`);
}

async function send(url: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(url, request);
  } catch (error) {
    const { name, cause } = error as Error;
    if (name === 'TimeoutError') throw new Error('the receiver did not respond in time');
    if (name === 'AbortError') throw new Error('the attempt was aborted');
    const code = (cause as { code?: string } | undefined)?.code;
    throw new Error(`the receiver could not be reached (${code ?? name})`);
  }
}
