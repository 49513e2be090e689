import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Context, Measured, Row } from './context.ts';
import { openFeed, post, quantiles } from './feed-clients.ts';
import { observationBody } from './requests/scouting.ts';

const KILLS = 15;
const WRITERS = 12;
/** From one kill to the next, in milliseconds: the one killed is back, and feeds and sync have long gone on. */
const ROUND_MS = 3000;
const PROBE_EVERY_MS = 20;

/**
 * Three processes on one database under load, one after the other killed (kill -9): how long a feed and a sync of
 * another process are silent around it, and whether everything acknowledged is there.
 */
export async function killRows(context: Context): Promise<Row[]> {
  const processes: Measured[] = [];
  for (let n = 0; n < 3; n++) processes.push(await context.startService());
  const portOf = (n: number) => (processes[n % processes.length] as Measured).port;
  const { thread_id } = await post(portOf(0), '/chat/threads', { name: 'Kills', created_by: 'ana' });
  let isOver = false;
  const acknowledged: string[] = [];
  const writers = Array.from({ length: WRITERS }, async (_, n) => {
    while (!isOver) acknowledged.push(await writeOnce(n, portOf));
  });

  const feedGaps: number[] = [];
  const syncGaps: number[] = [];
  let since = '';
  for (let round = 0; round < KILLS; round++) {
    const [victim, feedProcess, syncProcess] = [round, round + 1, round + 2];
    const deliveredAt: number[] = [];
    const socket = await openFeed(portOf(feedProcess), 'ana', () => deliveredAt.push(performance.now()));
    const synced = followSync(portOf(syncProcess), since, () => socket.destroyed);
    const began = performance.now();
    const probing = probe(
      portOf(syncProcess),
      thread_id as string,
      () => performance.now() - began > ROUND_MS,
    );
    await wait(ROUND_MS / 3);
    const killed = processes[victim % processes.length] as Measured;
    process.kill(killed.pid, 'SIGKILL');
    const at = performance.now();
    await killed.stop();
    processes[victim % processes.length] = await context.startService();
    await probing;
    socket.destroy();
    feedGaps.push(longestGap(deliveredAt, at));
    const { came, end } = await synced;
    syncGaps.push(longestGap(came, at));
    since = end;
  }
  isOver = true;
  await Promise.all(writers);
  const missing = await countMissing(portOf(0), acknowledged);
  for (const { stop } of processes) await stop();
  const row = (name: string, gaps: number[]): Row => {
    const { p50, note } = quantiles(gaps);
    return { name, value: Math.max(...gaps), unit: 'ms', note: `p50 ${p50.toFixed(0)} ms, ${note}` };
  };
  return [
    row('kill -9 of one of three processes: longest silence of a feed of another', feedGaps),
    row('the same, of a sync that asks again and again', syncGaps),
    {
      name: 'the same, packets acknowledged and missing',
      value: missing,
      unit: 'packets',
      note: `of ${acknowledged.length.toLocaleString('en')} acknowledged`,
    },
  ];
}

/** Sends one observation until it is acknowledged, by whichever process is there; gives its id. */
async function writeOnce(writer: number, portOf: (n: number) => number): Promise<string> {
  const key = randomUUID();
  for (let attempt = 0; ; attempt++) {
    const answer = await fetch(`http://127.0.0.1:${portOf(writer + attempt)}/intake/scouting`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
      body: observationBody(writer),
      signal: AbortSignal.timeout(10_000),
    }).catch(() => undefined);
    if (answer?.status === 201) return ((await answer.json()) as { packet_uuid: string }).packet_uuid;
    await answer?.arrayBuffer();
    if (answer && answer.status < 500) throw new Error(`intake was answered ${answer.status}`);
  }
}

/** Sends messages to a thread, one after the other, until it is over. */
async function probe(port: number, thread_id: string, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await post(port, '/intake/chat-message', { thread_id, text: 'here' });
    await wait(PROBE_EVERY_MS);
  }
}

/** Follows the log by sync; gives when packets came, and where the next one begins. */
async function followSync(
  port: number,
  since: string,
  isOver: () => boolean,
): Promise<{ came: number[]; end: string }> {
  const came: number[] = [];
  let end = since;
  while (!isOver()) {
    const query = new URLSearchParams({ limit: '1000', ...(end && { since: end }) });
    const answer = await fetch(`http://127.0.0.1:${port}/sync/packets?${query}`);
    const page = (await answer.json()) as { packets: unknown[]; since: string };
    end = page.since;
    if (page.packets.length > 0) came.push(performance.now());
    else await wait(PROBE_EVERY_MS);
  }
  return { came, end };
}

/** The longest time without an event that ends after a moment, in milliseconds. */
function longestGap(times: number[], after: number): number {
  const gaps = times.slice(1).map((time, n) => (time > after ? time - (times[n] as number) : 0));
  if (gaps.every(gap => gap === 0)) throw new Error('nothing came after the kill');
  return Math.max(...gaps);
}

async function countMissing(port: number, ids: readonly string[]): Promise<number> {
  let missing = 0;
  for (const id of ids) {
    const answer = await fetch(`http://127.0.0.1:${port}/packets/${id}`);
    await answer.arrayBuffer();
    if (answer.status !== 200) missing++;
  }
  return missing;
}
