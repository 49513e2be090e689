import { createConnection, type Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

/** A load: the number of connections, the duration, and the requests. */
export interface Load {
  port: number;
  connections: number;
  seconds: number;
  /** module of bench/requests/, by its path from bench/, whose default export makes the requests */
  requests: string;
  /** handed to that module */
  options: unknown;
}

/** The result of a load. Latencies are in milliseconds. */
export interface LoadResult {
  answers: number;
  /** answers of status 400 and above */
  errors: number;
  perSecond: number;
  p50: number;
  p95: number;
  p99: number;
  /** the first wrong answer, for diagnosis */
  firstError?: string;
}

/** Makes the nth request as the bytes that go over the wire. */
export type RequestMaker = (n: number) => Buffer | string;

/**
 * Runs in a worker thread of its own: keep-alive connections over plain sockets, each sending its next request
 * when the answer to the last one is whole. Written here because a load generator shares the machine with what
 * it measures: a full HTTP client takes as much processor time as the server.
 */
async function run(load: Load): Promise<LoadResult> {
  const { default: maker } = await import(new URL(load.requests, import.meta.url).href);
  const next: RequestMaker = maker(load.options);
  const latencies: number[] = [];
  let sent = 0;
  let errors = 0;
  let firstError: string | undefined;
  const start = performance.now();
  const end = start + load.seconds * 1000;

  const talk = (socket: Socket) =>
    new Promise<void>((resolve, reject) => {
      let sentAt = 0;
      let received: Buffer = Buffer.alloc(0);
      const send = () => {
        sentAt = performance.now();
        if (sentAt >= end) {
          socket.end();
          resolve();
          return;
        }
        socket.write(next(sent++));
      };
      socket.on('error', reject);
      socket.on('close', () => resolve());
      socket.on('data', (chunk: Buffer) => {
        received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
        const total = answerLength(received);
        if (total === undefined || received.length < total) return;
        if (received.length > total) reject(new Error('more bytes than one answer'));
        latencies.push(performance.now() - sentAt);
        // "HTTP/1.1 201": the tenth byte is the first digit of the status.
        if ((received[9] as number) >= 0x34) {
          errors++;
          firstError ??= received.toString('utf8', 0, 600);
        }
        received = Buffer.alloc(0);
        send();
      });
      send();
    });

  await Promise.all(
    Array.from({ length: load.connections }, () =>
      talk(createConnection({ port: load.port, noDelay: true })),
    ),
  );
  const elapsed = (performance.now() - start) / 1000;
  latencies.sort((a, b) => a - b);
  const quantile = (q: number) =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * q))] ?? 0;
  return {
    answers: latencies.length,
    errors,
    perSecond: latencies.length / elapsed,
    p50: quantile(0.5),
    p95: quantile(0.95),
    p99: quantile(0.99),
    ...(firstError !== undefined && { firstError }),
  };
}

/** Bytes of the first answer in the buffer, or undefined while its headers are not whole. */
function answerLength(bytes: Buffer): number | undefined {
  const headersEnd = bytes.indexOf('\r\n\r\n');
  if (headersEnd < 0) return undefined;
  const length = /\r\ncontent-length: (\d+)/i.exec(bytes.toString('latin1', 0, headersEnd));
  if (!length) throw new Error('the answer has no Content-Length');
  return headersEnd + 4 + Number(length[1]);
}

run(workerData as Load).then(result => parentPort?.postMessage(result));
