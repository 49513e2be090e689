import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Context, Row } from './context.ts';
import {
  type Heavy,
  heaviestPacketRequests,
  heaviestTraceRequests,
  largePackets,
} from './heaviest-requests.ts';
import { login, makeAdmin } from './trace.ts';

/** Latency of GET /health during each of the heaviest allowed requests, sent one after another. */
export async function availabilityRows(context: Context): Promise<Row[]> {
  await makeAdmin(context);
  const rows: Row[] = [];
  const packet = await context.startService();
  await largePackets(packet.port);
  for (const heavy of heaviestPacketRequests()) rows.push(await besides(context, packet.port, heavy));
  await packet.stop();
  const trace = await context.startTrace();
  const cookie = await login(trace.port);
  for (const heavy of heaviestTraceRequests()) rows.push(await besides(context, trace.port, heavy, cookie));
  await trace.stop();
  return rows;
}

async function besides({ seconds }: Context, port: number, heavy: Heavy, cookie = ''): Promise<Row> {
  await send(port, heavy, cookie);
  const probe = new Worker(new URL('./health-probe.ts', import.meta.url), { workerData: { port, seconds } });
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
  const quantile = (q: number) => took[Math.min(took.length - 1, Math.floor(took.length * q))] as number;
  return {
    name: `/health beside ${heavy.name}, p99`,
    value: quantile(0.99),
    unit: 'ms',
    note: `p50 ${quantile(0.5).toFixed(1)} ms, longest ${quantile(1).toFixed(0)} ms; ${count} × ${status}`,
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
