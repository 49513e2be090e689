import { Agent, request } from 'node:http';
import { createConnection, type Socket } from 'node:net';

const agent = new Agent({ keepAlive: true });

/** POSTs a body; returns the body of the answer. */
export function post(port: number, path: string, body: object): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { agent, port, path, method: 'POST', headers: { 'content-type': 'application/json' } },
      response => {
        let text = '';
        response.setEncoding('utf8').on('data', chunk => {
          text += chunk;
        });
        response.on('end', () => {
          if ((response.statusCode ?? 500) < 300) resolve(JSON.parse(text));
          else reject(new Error(`${path} was answered ${response.statusCode}: ${text}`));
        });
      },
    );
    sent.on('error', reject).end(JSON.stringify(body));
  });
}

/**
 * Opens a user's feed over a plain socket and resolves when it is live.
 *
 * @param onPacket gets the packet's id of each event, when it comes
 */
export function openFeed(port: number, userId: string, onPacket: (id: string) => void): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createConnection({ port, noDelay: true });
    let rest = '';
    socket.on('error', reject);
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      rest += chunk;
      const end = rest.lastIndexOf('\n\n');
      if (end < 0) return;
      const whole = rest.slice(0, end);
      rest = rest.slice(end);
      if (whole.includes('\nid: ')) resolve(socket);
      for (const [, id] of whole.matchAll(/"packet_id":"(\w{26})"/g)) onPacket(id as string);
    });
    socket.write(`GET /events?user_id=${userId} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
  });
}

/** Latencies in milliseconds: what they are like. */
export function quantiles(values: number[]): { p50: number; p95: number; p99: number; note: string } {
  values.sort((a, b) => a - b);
  const at = (q: number) => values[Math.min(values.length - 1, Math.floor(values.length * q))] ?? 0;
  return {
    p50: at(0.5),
    p95: at(0.95),
    p99: at(0.99),
    note: `${values.length} measured, max ${at(1).toFixed(0)} ms`,
  };
}
