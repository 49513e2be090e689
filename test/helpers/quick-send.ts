import { Agent, request } from 'node:http';
import { parseJsonText } from '../../src/platform/json-text.ts';
import type { Send } from './service.ts';

const agent = new Agent({ keepAlive: true });

/**
 * Sends requests for tests that make thousands, in a third of the processor time that `fetch` takes: over connections
 * that stay open, without headers of its own, and without following redirects.
 *
 * @param url of the service
 */
export function quickSender(url: string): Send {
  return (method, path, body, headers = {}) =>
    new Promise((resolve, reject) => {
      const raw = typeof body === 'string' || body instanceof Uint8Array;
      const sent = request(
        url + path,
        {
          method,
          agent,
          headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
        },
        answer => {
          const chunks: Buffer[] = [];
          answer.on('data', chunk => chunks.push(chunk));
          answer.on('error', reject);
          answer.on('end', () => {
            const text = Buffer.concat(chunks).toString();
            const received = new Headers();
            for (const [name, values] of Object.entries(answer.headersDistinct))
              for (const value of values ?? []) received.append(name, value);
            const isJson = /\/([\w.]+\+)?json/.test(received.get('content-type') ?? '') && text !== '';
            resolve({
              status: answer.statusCode as number,
              headers: received,
              text,
              body: isJson ? parseJsonText(text) : undefined,
            });
          });
        },
      );
      sent.on('error', reject);
      sent.end(body === undefined || raw ? body : JSON.stringify(body));
    });
}
