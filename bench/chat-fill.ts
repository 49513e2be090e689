import pg from 'pg';
import { fold } from '../src/packet-service/collaboration/chat/ngrams/fold.ts';
import { ngramsOf } from '../src/packet-service/collaboration/chat/ngrams/ngrams.ts';
import { insertWords } from '../src/packet-service/collaboration/chat/search/search-store.ts';
import { ulidFactory, ulidToUuid } from '../src/packet-service/core/packet-format/ulid.ts';
import { type LanguageName, messageWriter, seeded } from './chat-texts.ts';
import type { Context } from './context.ts';

/** Messages of one INSERT. */
const ROWS = 4000;
/** The messages are spread over this time. */
const START = Date.UTC(2026, 0, 1);
const SPAN_MS = 180 * 24 * 3_600_000;

/** The data that a database was filled with. */
export interface Filled {
  /** ULIDs of the threads; the nth is in the language languages[n % languages.length] */
  threads: string[];
  seconds: number;
}

/**
 * Fills a database with messages in the order of their time, each thread in one language, split into n-grams and
 * folded by the product's code. Indexes other than the primary key are built at the end, as by a restore.
 *
 * @param keep called for each message with its ULID and time
 */
export async function fillChat(
  { connection }: Pick<Context, 'connection'>,
  { languages, threads: count, messages }: { languages: LanguageName[]; threads: number; messages: number },
  keep: (ulid: string, ts: string) => void = () => {},
): Promise<Filled> {
  const started = performance.now();
  const client = await connect(connection);
  const threads = await openThreads(client, count);
  const uuids = threads.map(ulidToUuid);
  await client.query('DROP INDEX chat_messages_by_time');
  await client.query('DROP INDEX chat_messages_by_piece');

  const writers = languages.map((name, index) => messageWriter(name, index + 1));
  const random = seeded(5);
  let time = START;
  const ulid = ulidFactory(() => Math.floor(time));
  const words = new Set<string>();
  let writing: Promise<unknown> = Promise.resolve();
  for (let done = 0; done < messages; done += ROWS) {
    const columns: string[][] = [[], [], [], [], [], []];
    for (let n = 0; n < Math.min(ROWS, messages - done); n++) {
      time += SPAN_MS / messages;
      const thread = Math.floor(random() * count);
      const text = (writers[thread % languages.length] as () => string)();
      const folded = fold(text);
      const pieces = ngramsOf(folded);
      for (const word of pieces.words) words.add(word);
      const id = ulid();
      const ts = new Date(time).toISOString();
      keep(id, ts);
      const row = [
        uuids[thread] as string,
        ts,
        ulidToUuid(id),
        text,
        folded,
        `{${pieces.numbers.join(',')}}`,
      ];
      row.forEach((value, column) => {
        columns[column]?.push(value);
      });
    }
    await writing;
    writing = insertMessages(client, columns);
  }
  await writing;
  await fillWords(client, [...words]);
  await client.query("SET maintenance_work_mem = '1GB'");
  await client.query(
    'CREATE INDEX chat_messages_by_time ON chat_messages (ts, packet_id) INCLUDE (thread_id, folded)',
  );
  await client.query('CREATE INDEX chat_messages_by_piece ON chat_messages USING gin (pieces)');
  await client.query('VACUUM ANALYZE chat_messages');
  await client.end();
  return { threads, seconds: (performance.now() - started) / 1000 };
}

/** Makes a user a participant of threads. */
export async function join(
  { connection }: Pick<Context, 'connection'>,
  userId: string,
  threads: readonly string[],
): Promise<void> {
  const client = await connect(connection);
  await client.query(
    'INSERT INTO chat_participants SELECT id, $1, now() FROM unnest($2::uuid[]) AS own (id) ON CONFLICT DO NOTHING',
    [userId, threads.map(ulidToUuid)],
  );
  await client.query('VACUUM ANALYZE chat_participants');
  await client.end();
}

export async function connect(connection: Context['connection']): Promise<pg.Client> {
  const client = new pg.Client({ ...connection, options: '-c search_path=packet_service -c timezone=UTC' });
  await client.connect();
  return client;
}

async function openThreads(client: pg.Client, count: number): Promise<string[]> {
  const ulid = ulidFactory(() => START);
  const threads = Array.from({ length: count }, ulid);
  await client.query(
    "INSERT INTO chat_threads SELECT id, 'Thread', 'amina', now() FROM unnest($1::uuid[]) AS opened (id)",
    [threads.map(ulidToUuid)],
  );
  return threads;
}

function insertMessages(client: pg.Client, columns: string[][]): Promise<unknown> {
  return client.query(
    `INSERT INTO chat_messages (thread_id, ts, packet_id, text, folded, geoid, pieces)
     SELECT thread_id, ts, packet_id, text, folded, '', pieces::int[]
     FROM unnest($1::uuid[], $2::timestamptz[], $3::uuid[], $4::text[], $5::text[], $6::text[])
       AS message (thread_id, ts, packet_id, text, folded, pieces)`,
    columns,
  );
}

async function fillWords(client: pg.Client, words: string[]): Promise<void> {
  for (let at = 0; at < words.length; at += ROWS) await insertWords(client, words.slice(at, at + ROWS));
  await client.query('VACUUM ANALYZE chat_words');
}
