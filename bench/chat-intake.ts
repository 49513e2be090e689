import { type Context, latencies, median, type Row } from './context.ts';
import type { LoadResult } from './load.ts';

const CLIENTS = 32;
const ROUNDS = 9;
const THREADS = 200;

/**
 * Chat intake and scouting intake, alternating: a message costs a look-up of its thread, a second row and entries in
 * three indexes.
 */
export async function chatIntakeRows(context: Context): Promise<Row[]> {
  const { port, stop } = await context.startService();
  const threads = await openThreads(port);
  const scouting = () =>
    context.load({ port, connections: CLIENTS, requests: './requests/scouting.ts', options: null });
  const chat = (sender?: string, seconds = context.seconds) =>
    context.load({
      port,
      connections: CLIENTS,
      requests: './requests/chat-message.ts',
      options: { threads, sender },
      seconds,
    });
  await chat(undefined, 2);
  const rounds: { scouting: LoadResult; chat: LoadResult; signed: LoadResult }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push({ scouting: await scouting(), chat: await chat(), signed: await chat('amina') });
  }
  await stop();
  const row = (name: string, kind: 'chat' | 'signed'): Row => ({
    name,
    value: median(rounds.map(round => round[kind].perSecond)),
    unit: 'messages/s',
    against: {
      name: 'scouting intake',
      ratio: median(rounds.map(round => round[kind].perSecond / round.scouting.perSecond)),
    },
    note: latencies((rounds.at(-1) as (typeof rounds)[number])[kind]),
  });
  return [
    row('chat intake, 32 clients, durable', 'chat'),
    row('the same, each message naming its sender', 'signed'),
  ];
}

async function openThreads(port: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < THREADS; n++) {
    const answer = await fetch(`http://127.0.0.1:${port}/chat/threads`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: `Thread ${n}`, created_by: 'amina' }),
    });
    ids.push(((await answer.json()) as { thread_id: string }).thread_id);
  }
  return ids;
}
