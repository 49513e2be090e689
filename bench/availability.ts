import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Context, Measured, Row } from './context.ts';
import {
  type Heavy,
  heaviestPacketRequests,
  heaviestTraceRequests,
  largePackets,
} from './heaviest-requests.ts';
import { login, makeAdmin } from './trace.ts';

/**
 * Latency of GET /health during each of the heaviest allowed requests, sent one after another, and the processor time
 * of the longest turn of the event loop.
 */
export async function availabilityRows(context: Context): Promise<Row[]> {
  await makeAdmin(context);
  const rows: Row[] = [];
  const folder = mkdtempSync(path.join(tmpdir(), 'fieldtrace-turns-'));
  const probe = path.resolve(import.meta.dirname, 'programs/turns.ts');
  const watched = { NODE_OPTIONS: `--import ${probe}`, TURNS_FILE: path.join(folder, 'turns') };
  try {
    const packet = await context.startService(watched);
    await largePackets(packet.port);
    for (const heavy of heaviestPacketRequests())
      rows.push(await besides(context, packet, watched.TURNS_FILE, heavy));
    await packet.stop();
    const trace = await context.startTrace(watched);
    const cookie = await login(trace.port);
    for (const heavy of heaviestTraceRequests())
      rows.push(await besides(context, trace, watched.TURNS_FILE, heavy, cookie));
    await trace.stop();
  } finally {
    rmSync(folder, { recursive: true });
  }
  return rows;
}

/** Milliseconds of processor time of the longest turn since this was last called. */
async function longestTurn(pid: number, file: string): Promise<number> {
  rmSync(file, { force: true });
  process.kill(pid, 'SIGUSR2');
  while (!existsSync(file) || readFileSync(file, 'utf8') === '') await wait(20);
  return Number(readFileSync(file, 'utf8'));
}

async function besides(
  { seconds }: Context,
  { port, pid }: Measured,
  turns: string,
  heavy: Heavy,
  cookie = '',
): Promise<Row> {
  await send(port, heavy, cookie);
  await longestTurn(pid, turns);
  const probe = new Worker(new URL('./programs/health-probe.ts', import.meta.url), {
    workerData: { port, seconds },
  });
  const answered = once(probe, 'message') as Promise<[number[]]>;
  let isOver = false;
  answered.finally(() => {
    isOver = true;
  });
  let count = 0;
  let status = 0;
  while (!isOver) {
    status = await send(port, heavy, cookie);
    count++;
  }
  const took = (await answered)[0].sort((a, b) => a - b);
  const longest = await longestTurn(pid, turns);
  const quantile = (q: number) => took[Math.min(took.length - 1, Math.floor(took.length * q))] as number;
  return {
    name: `/health beside ${heavy.name}, p99`,
    value: quantile(0.99),
    unit: 'ms',
    note: `p50 ${quantile(0.5).toFixed(1)} ms, longest ${quantile(1).toFixed(0)} ms; longest turn ${longest.toFixed(0)} ms of processor time; ${count} × ${status}`,
  };
}

async function send(
  port: number,
  { path, method = 'POST', type, body }: Heavy,
  cookie: string,
): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { ...(type && { 'content-type': type }), ...(cookie && { cookie }) },
    ...(body !== undefined && { body }),
  });
  for await (const _ of response.body ?? []);
  return response.status;
}
