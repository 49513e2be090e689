import { connect, fillChat, join } from './chat-fill.ts';
import { type LanguageName, languageNames, messageWriter, seeded, vocabulary } from './chat-texts.ts';
import type { Context, Row } from './context.ts';

const THREADS = 1000;
const MESSAGES = 1_000_000;
const KEYWORDS = 400;
const PAGE = 50;
/** One client per core of the smallest machine. */
const CLIENTS = 2;

/**
 * Search among a million messages: 1,000 threads in all languages in turn, or all in the given ones. For each
 * language there are two users: one with 5 threads in it, one with every other thread of all.
 */
export async function chatSearchRows(
  context: Context,
  languages: LanguageName[] = languageNames,
): Promise<Row[]> {
  const { threads, seconds } = await fillChat(context, { languages, threads: THREADS, messages: MESSAGES });
  const rows: Row[] = [
    { name: 'filling 1,000,000 chat messages', value: MESSAGES / seconds, unit: 'messages/s' },
    ...(await sizes(context)),
  ];
  await join(
    context,
    'many',
    threads.filter((_, n) => Math.floor(n / languages.length) % 2 === 0),
  );
  const { port, stop } = await context.startService();
  for (const [index, language] of languages.entries()) {
    const own = threads.filter((_, n) => n % languages.length === index).slice(0, 5);
    await join(context, `few ${language}`, own);
    for (const [user, threadsOf] of [
      [`few ${language}`, 5],
      ['many', THREADS / 2],
    ] as const) {
      const options = { user, keywords: keywords(language), limit: PAGE };
      const load = { port, connections: CLIENTS, requests: './requests/chat-search.ts', options };
      await context.load({ ...load, seconds: 2 });
      const { p50, p95, p99, answers } = await context.load(load);
      rows.push({
        name: `search, ${language}, user in ${threadsOf} threads: p95`,
        value: p95,
        unit: 'ms',
        note: `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, ${answers} searches`,
      });
    }
  }
  await stop();
  return rows;
}

/**
 * Keywords as people type them: words of every frequency, parts of words, consecutive words, single characters, and
 * text that occurs nowhere.
 */
export function keywords(language: LanguageName): string[] {
  const known = vocabulary(language);
  const write = messageWriter(language, 99);
  const random = seeded(11);
  const pick = (count: number) => Math.floor(random() * count);
  const word = () => known[Math.floor(known.length ** random()) - 1] as string;
  const piece = (text: string, least: number, most: number) => {
    const points = [...text];
    const length = least + pick(most - least + 1);
    const start = pick(Math.max(1, points.length - length + 1));
    return points.slice(start, start + length).join('');
  };
  const kinds: (() => string)[] = [
    word,
    word,
    word,
    word,
    () => piece(word(), 2, 4),
    () => piece(word(), 2, 4),
    () => piece(write(), 1, 1),
    () => piece(write(), 6, 14),
    () => piece(write(), 6, 14),
    () => [...word(), ...word()].reverse().join(''),
  ];
  return Array.from({ length: KEYWORDS }, (_, n) => (kinds[n % kinds.length] as () => string)());
}

const SIZE_ON_CLUSTER = `CASE relname WHEN 'chat_messages' THEN citus_total_relation_size(oid) ELSE pg_total_relation_size(oid) END`;

async function sizes({ connection }: Context): Promise<Row[]> {
  const client = await connect(connection);
  const { rows } = await client.query<{ name: string; size: string }>(
    `SELECT relname AS name, ${process.env.CITUS_BIN ? SIZE_ON_CLUSTER : 'pg_total_relation_size(oid)'} AS size
     FROM pg_class WHERE oid IN ('chat_messages'::regclass, 'chat_words'::regclass) ORDER BY relname`,
  );
  await client.end();
  return rows.map(({ name, size }) => ({
    name: `${name} with its indexes`,
    value: Number(size) / MESSAGES,
    unit: 'bytes/message',
  }));
}
