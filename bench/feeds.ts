import { setTimeout as wait } from 'node:timers/promises';
import type { Context, Row } from './context.ts';
import { openFeed, post, quantiles } from './feed-clients.ts';

const CLIENTS = 32;
const THREADS = 10;
/** Users of each thread, each with a feed. */
const USERS = 10;
const MESSAGE_EVERY_MS = 10;
const MANY = 2000;

/** Time from the answer of a message to its event while intake is at its limit, and the cost of an open feed. */
export async function feedRows(context: Context): Promise<Row[]> {
  return [await latencyRow(context), ...(await manyRows(context))];
}

async function latencyRow(context: Context): Promise<Row> {
  const { port, stop } = await context.startService();
  const answered = new Map<string, number>();
  const delivered: { id: string; at: number }[] = [];
  const onPacket = (id: string) => delivered.push({ id, at: performance.now() });
  const threads: string[] = [];
  for (let n = 0; n < THREADS; n++) {
    const users = Array.from({ length: USERS }, (_, user) => `user-${n}-${user}`);
    threads.push(await threadOf(port, users));
    for (const user of users) await openFeed(port, user, onPacket);
  }
  const loading = context.load({
    port,
    connections: CLIENTS,
    requests: './requests/scouting.ts',
    options: null,
  });
  const end = performance.now() + context.seconds * 1000;
  const sending: Promise<void>[] = [];
  for (let n = 0; performance.now() < end; n++) {
    const message = { thread_id: threads[n % THREADS], text: `message ${n}` };
    sending.push(
      post(port, '/intake/chat-message', message).then(({ packet_uuid }) => {
        answered.set(packet_uuid as string, performance.now());
      }),
    );
    await wait(MESSAGE_EVERY_MS);
  }
  await Promise.all(sending);
  const { perSecond } = await loading;
  for (let tries = 0; delivered.length < answered.size * USERS && tries < 500; tries++) await wait(10);
  if (delivered.length !== answered.size * USERS)
    throw new Error(`${delivered.length} events of ${answered.size} messages`);
  await stop();
  // An event may come before the answer does.
  const latencies = delivered.map(({ id, at }) => Math.max(0, at - (answered.get(id) as number)));
  const { p50, p95, p99, note } = quantiles(latencies);
  return {
    name: 'from the answer to the event in a feed, p95',
    value: p95,
    unit: 'ms',
    note: `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms; ${note}, at ${Math.round(perSecond)} packets/s beside`,
  };
}

async function manyRows(context: Context): Promise<Row[]> {
  const { port, stop } = await context.startScript('feeds-service.ts');
  const users = Array.from({ length: MANY }, (_, n) => `user-${n}`);
  const thread = await threadOf(port, users);
  const message = { thread_id: thread, text: 'hello' };
  for (let n = 0; n < 20; n++) await post(port, '/intake/chat-message', message);
  const before = await memory(port);
  let delivered = 0;
  const open = (user: string) =>
    openFeed(port, user, () => {
      delivered++;
    });
  for (let at = 0; at < MANY; at += 50) await Promise.all(users.slice(at, at + 50).map(open));
  const opened = await memory(port);
  const times: number[] = [];
  for (let n = 0; n < 20; n++) {
    delivered = 0;
    await post(port, '/intake/chat-message', message);
    const answered = performance.now();
    while (delivered < MANY) await wait(1);
    times.push(performance.now() - answered);
  }
  const used = await memory(port);
  await stop();
  const kib = (bytes: number) => `${((bytes - before.rss) / MANY / 1024).toFixed(1)} KiB`;
  return [
    {
      name: `memory for each of ${MANY} open feeds`,
      value: (used.rss - before.rss) / MANY / 1024,
      unit: 'KiB',
      note: `${kib(opened.rss)} before the first event; heap alone ${((used.heapUsed - before.heapUsed) / MANY / 1024).toFixed(1)} KiB`,
    },
    {
      name: `a message to all ${MANY} feeds: from the answer to the last one, p50`,
      value: quantiles(times).p50,
      unit: 'ms',
    },
  ];
}

async function threadOf(port: number, users: string[]): Promise<string> {
  const { thread_id } = await post(port, '/chat/threads', { name: 'Coffee', created_by: users[0] });
  for (let at = 0; at < users.length; at += 1000) {
    await post(port, `/chat/threads/${thread_id}/participants`, { user_ids: users.slice(at, at + 1000) });
  }
  return thread_id as string;
}

async function memory(port: number): Promise<NodeJS.MemoryUsage> {
  return (await (await fetch(`http://127.0.0.1:${port}/memory`)).json()) as NodeJS.MemoryUsage;
}
