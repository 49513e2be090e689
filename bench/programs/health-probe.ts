import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

/** Milliseconds between two requests. */
const PACE = 10;

/**
 * Requests GET /health a hundred times a second, in a separate thread, and returns the latencies in milliseconds. The
 * next request is sent when the previous one was answered.
 */
async function probe({ port, seconds }: { port: number; seconds: number }): Promise<number[]> {
  const socket = connect({ port, noDelay: true });
  await once(socket, 'connect');
  const took: number[] = [];
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) {
    await wait(PACE);
    const sentAt = performance.now();
    socket.write('GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    if (!answer.toString().startsWith('HTTP/1.1 200')) throw new Error(answer.toString());
    took.push(performance.now() - sentAt);
  }
  socket.destroy();
  return took;
}

probe(workerData).then(took => parentPort?.postMessage(took));
