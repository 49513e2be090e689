import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { Context, Measured, Row } from './context.ts';
import { denseItem, largePackets } from './heaviest-requests.ts';

const BATCHES = 16;
const BATCH_BYTES = 8.6e6;
const READERS = 24;
const MIB = 1024 * 1024;

/** Memory of the process while many large batches arrive at once, and while clients stall in large pages. */
export async function memoryRows(context: Context): Promise<Row[]> {
  const service = await context.startService();
  const rows: Row[] = [];
  const plain = JSON.stringify({
    intake: 'scouting',
    body: {
      observed_at: '2026-03-01T08:15:00Z',
      capture_point: { lat: 1, lon: 2 },
      message: 'x'.repeat(8500),
    },
  });
  for (const [name, item] of [
    ['of observations', plain],
    ['of small values', denseItem()],
  ] as const) {
    rows.push(await batches(service, name, item));
  }
  await largePackets(service.port);
  await service.stop();
  rows.push(await stalledPages(await context.startService()));
  return rows;
}

async function batches({ port, pid }: Measured, name: string, item: string): Promise<Row> {
  const body = `[${Array(Math.floor(BATCH_BYTES / (item.length + 1)))
    .fill(item)
    .join(',')}]`;
  const idle = memoryOf(pid);
  resetPeak(pid);
  const statuses = await Promise.all(
    Array.from({ length: BATCHES }, async () => {
      for (let tries = 1; ; tries++) {
        const { status, headers } = await post(port, body);
        if (status !== 503) return [status, tries] as const;
        await wait(Number(headers.get('retry-after')) * 1000);
      }
    }),
  );
  const wrong = statuses.find(([status]) => status !== 200);
  if (wrong) throw new Error(`a batch was answered ${wrong[0]}`);
  return {
    name: `${BATCHES} batches of 8.6 MB ${name} at once: peak memory`,
    value: peakOf(pid) / MIB,
    unit: 'MiB',
    note: `${Math.round(idle / MIB)} MiB before; ${statuses.reduce((sum, [, tries]) => sum + tries - 1, 0)} × 503 until all were stored`,
  };
}

async function post(port: number, body: string): Promise<Response> {
  const response = await fetch(`http://127.0.0.1:${port}/intake/batch`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  await response.text();
  return response;
}

/** Clients that request a page of 100 MB and stop reading after its first bytes. */
async function stalledPages({ port, pid, stop }: Measured): Promise<Row> {
  const sockets: Socket[] = [];
  await stall(port, sockets);
  await wait(3000);
  const before = memoryOf(pid);
  while (sockets.length <= READERS) await stall(port, sockets);
  await wait(3000);
  const perReader = (memoryOf(pid) - before) / READERS;
  for (const socket of sockets) socket.destroy();
  await stop();
  return {
    name: 'memory for each of 24 pages of 100 MB whose clients stall',
    value: perReader / MIB,
    unit: 'MiB',
    note: `${Math.round(before / MIB)} MiB with one`,
  };
}

async function stall(port: number, sockets: Socket[]): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1' });
  sockets.push(socket);
  socket.write('GET /packets?limit=1000 HTTP/1.1\r\nhost: localhost\r\n\r\n');
  await once(socket, 'readable');
  const head = (socket.read(12) as Buffer).toString();
  if (head !== 'HTTP/1.1 200') throw new Error(head);
}

/** Resident memory of a process in bytes. */
export function memoryOf(pid: number): number {
  return statusOf(pid, 'VmRSS');
}

function peakOf(pid: number): number {
  return statusOf(pid, 'VmHWM');
}

function statusOf(pid: number, field: string): number {
  const match = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(match?.[1]) * 1024;
}

/** Linux resets the peak: https://docs.kernel.org/filesystems/proc.html, clear_refs. */
function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
