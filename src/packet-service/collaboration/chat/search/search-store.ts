import sql, { empty, type Sql } from 'sql-template-tag';
import { type Database, prepared } from '../../../../platform/database/database.ts';
import { isTokenUserSql } from '../../../core/access/store.ts';
import { MESSAGE, type MessagePosition, type MessageRow } from '../messages/store.ts';
import { type Part, partQuery, wordNgrams, writeVector } from '../ngrams/word-parts.ts';

/** The conditions of a search; absent ones do not filter. */
export interface Conditions {
  /** the threads to look in, as PostgreSQL sends and receives an array of uuids */
  threads: Buffer;
  /** folded */
  keyword?: string | undefined;
  /** the message's GeoID or one of its additional GeoIDs */
  geoid?: string | undefined;
  /** UTC, inclusive */
  from?: string | undefined;
  /** UTC, inclusive */
  to?: string | undefined;
}

/** Consecutive messages, read from new to old. */
export interface MessageScan {
  /** the matches, newest first; if as many as requested, the scan ended at the last of them */
  rows: MessageRow[];
  /** where the scan ended; undefined if there are no older messages, or as many matches as requested */
  end: MessagePosition | undefined;
  /** how many of the sampled newest messages are in the searched threads */
  own: number;
}

/** The threads of a user, and their number. */
export interface Scope {
  /** as PostgreSQL sends it: with hundreds of threads, writing and reading their names would cost more than a search */
  threads: Buffer;
  count: number;
  /** whether the user has ever sent a valid token; not queried for requests with one */
  isTokenUser?: boolean;
}

/** The order of the index by time, and within a thread of the primary key's, read backwards. */
export const NEWEST = sql`ORDER BY ts DESC, packet_id DESC`;

/** A subquery, because a join costs twice as much to plan, and reads all threads for a user of many. */
const IS_OPEN = '(SELECT author IS NULL FROM chat_threads AS thread WHERE thread.thread_id = part.thread_id)';

/**
 * @param openOnly for a request without a token: only threads that were created without one count
 * @param isDistributed whether threads are in shards: a subquery around them takes a cluster a millisecond more
 */
export async function findScope(
  database: Database,
  { userId, openOnly, isDistributed = false }: { userId: string; openOnly: boolean; isDistributed?: boolean },
): Promise<Scope> {
  const isTokenUser = `${isTokenUserSql('$1')} AS "isTokenUser"`;
  const threads = `SELECT array_send(coalesce(array_agg(thread_id), '{}')) AS threads, count(*)::int AS count
    FROM chat_participants AS part WHERE user_id = $1 ${openOnly ? `AND ${IS_OPEN}` : ''}`;
  const query = async (name: string, text: string) =>
    (await database.query<Scope>({ name, text, values: [userId] })).rows[0] as Scope;
  if (!openOnly) return query('find_scope', threads);
  if (!isDistributed)
    return query('find_open_scope', `SELECT scope.*, ${isTokenUser} FROM (${threads}) AS scope`);
  const [scope, user] = await Promise.all([
    query('find_open_threads', threads),
    query('find_token_user', `SELECT ${isTokenUser}`),
  ]);
  return { ...scope, ...user };
}

/** The approximate number of messages in all threads; undefined before PostgreSQL has analysed the table. */
export async function estimateMessages(database: Database): Promise<number | undefined> {
  const { rows } = await database.query<{ estimate: number }>({
    name: 'estimate_messages',
    text: "SELECT reltuples AS estimate FROM pg_class WHERE oid = 'chat_messages'::regclass",
  });
  const estimate = rows[0]?.estimate ?? 0;
  return estimate > 0 ? estimate : undefined;
}

/** Like `estimateMessages`, for a distributed table, whose size only its workers know: counts entries of the log. */
export async function estimateDistributed(database: Database): Promise<number | undefined> {
  const { rows } = await database.query<{ estimate: number }>({
    name: 'estimate_entries',
    text: "SELECT reltuples AS estimate FROM pg_class WHERE oid = 'packet_log'::regclass",
  });
  const estimate = rows[0]?.estimate ?? 0;
  return estimate > 0 ? estimate : undefined;
}

/**
 * Reads the newest messages of all threads by the time index.
 *
 * The index includes the folded text, so that texts are compared within the scan and only matches are fetched from
 * the table: 0.2 µs per message, a third of the cost of the table. The scan stops at the last requested match; only
 * if there are fewer is its end looked up.
 *
 * @param before where to begin: older than this
 * @param count messages to read
 * @param limit matches to return
 * @param sample messages among which those of the user's threads are counted
 */
export function readByTime(
  database: Database,
  conditions: Conditions,
  before: MessagePosition | undefined,
  { count, limit, sample }: { count: number; limit: number; sample: number },
): Promise<MessageScan> {
  const range = inRange(conditions, before);
  const hits = sql`
    SELECT thread_id, ts, packet_id FROM (
      SELECT thread_id, ts, packet_id, ${conditions.geoid === undefined ? sql`folded` : sql`folded, geoid, geoids`}
      FROM chat_messages WHERE ${range} ${NEWEST} LIMIT ${count}) AS stretch
    WHERE ${matches(conditions)} AND ${AMONG_THEM} ${NEWEST} LIMIT ${limit}`;
  const ending = sql`
    SELECT ts, packet_id FROM chat_messages WHERE ${range} AND (SELECT count(*) FROM hits) < ${limit}
    ${NEWEST} OFFSET ${count - 1} LIMIT 1`;
  const own = sql`
    SELECT count(*)::int AS own FROM (
      SELECT thread_id FROM chat_messages WHERE ${range} ${NEWEST} LIMIT ${sample}) AS newest
    WHERE ${AMONG_THEM}`;
  const steps = sql`hits AS MATERIALIZED (${hits}), ending AS MATERIALIZED (${ending})`;
  return readStretch(database, sql`${theThreads(conditions)}, ${steps}`, own);
}

/**
 * Reads the newest messages of each of the threads by the primary key's index. The scan ends where the first thread
 * reached its limit: beyond that it might have newer messages than the others returned.
 *
 * @param count messages to read of each thread, at most
 */
export function readByThread(
  database: Database,
  conditions: Conditions,
  before: MessagePosition | undefined,
  { count, limit }: { count: number; limit: number },
): Promise<MessageScan> {
  const ofThread = sql`thread_id = theirs.id AND ${inRange(conditions, before)}`;
  const ending = sql`
    SELECT ts, packet_id FROM theirs CROSS JOIN LATERAL (
      SELECT ts, packet_id FROM chat_messages WHERE ${ofThread} ${NEWEST} OFFSET ${count - 1} LIMIT 1) AS last
    ${NEWEST} LIMIT 1`;
  const hits = sql`
    SELECT thread_id, ts, packet_id FROM theirs CROSS JOIN LATERAL (
      SELECT thread_id, ts, packet_id FROM chat_messages
      WHERE ${ofThread} AND ${NOT_BEYOND} AND ${matches(conditions)} ${NEWEST} LIMIT ${limit}) AS hit
    ${NEWEST} LIMIT ${limit}`;
  const steps = sql`ending AS MATERIALIZED (${ending}), hits AS MATERIALIZED (${hits})`;
  return readStretch(database, sql`${theThreads(conditions)}, ${steps}`, sql`SELECT 0 AS own`);
}

/** Within the scan, whose end is undefined if there are no older messages. */
const NOT_BEYOND = sql`(ts, packet_id) >= (
  coalesce((SELECT ts FROM ending), '-infinity'),
  coalesce((SELECT packet_id FROM ending), '00000000-0000-0000-0000-000000000000'))`;

/** Materialised step by step, so that the planner cannot change the order of the work. */
async function readStretch(database: Database, steps: Sql, own: Sql): Promise<MessageScan> {
  const { rows } = await database.query<MessageRow & { endTs: string | null; endId: string; own: number }>(
    prepared(sql`
      WITH ${steps}, counted AS MATERIALIZED (${own})
      SELECT ending.ts::text AS "endTs", ending.packet_id AS "endId", counted.own, found.*
      FROM counted LEFT JOIN ending ON true LEFT JOIN (${wholeRows(sql`hits`)}) AS found ON true
      ORDER BY found.ts DESC, found."packetId" DESC`),
  );
  const [first] = rows;
  return {
    rows: rows.filter(({ packetId }) => packetId !== null),
    end: first?.endTs ? { ts: first.endTs, id: first.endId } : undefined,
    own: first?.own ?? 0,
  };
}

/**
 * Finds matches by their n-grams, newest first. The index returns the candidates of all threads, with one scan per
 * set of n-grams: a single scan for any of many n-grams would compare every candidate with all of them. Keyword,
 * GeoID and thread are then compared. Only the keys of candidates are passed on; the few requested rows are read
 * again.
 *
 * @param sets numbers of n-grams: a match has all of one set
 */
export async function lookUp(
  database: Database,
  conditions: Conditions,
  sets: readonly (readonly number[])[],
  { before, limit }: { before: MessagePosition | undefined; limit: number },
): Promise<MessageRow[]> {
  const { rows } = await database.query<MessageRow>(
    prepared(sql`
      WITH ${theThreads(conditions)}, found AS MATERIALIZED (
        SELECT DISTINCT thread_id, ts, packet_id
        FROM unnest(${sets.map(braces)}::text[]) AS asked (ngrams) CROSS JOIN LATERAL (
          SELECT thread_id, ts, packet_id FROM chat_messages
          WHERE pieces @> asked.ngrams::int[] AND ${matches(conditions)} AND ${inRange(conditions, before)}) AS candidate
        WHERE ${AMONG_THEM}),
      wanted AS MATERIALIZED (SELECT * FROM found ${NEWEST} LIMIT ${limit})
      ${wholeRows(sql`wanted`)} ORDER BY ts DESC, "packetId" DESC`),
  );
  return rows;
}

/** The messages of the keys that a step has found. */
function wholeRows(keys: Sql): Sql {
  return sql`
    SELECT message.* FROM ${keys} AS key CROSS JOIN LATERAL (
      SELECT ${MESSAGE}, ts FROM chat_messages
      WHERE thread_id = key.thread_id AND ts = key.ts AND packet_id = key.packet_id OFFSET 0) AS message`;
}

/** The searched threads, as a separate step: the planner would estimate each member of an array separately. */
function theThreads({ threads }: Conditions): Sql {
  return sql`theirs AS MATERIALIZED (SELECT unnest(${threads}::uuid[]) AS id)`;
}

/** Whether a message is in one of `theThreads`. The form keeps it a hash lookup instead of a join. */
const AMONG_THEM = sql`(thread_id IN (SELECT id FROM theirs)) IS TRUE`;

/** Adds words to the dictionary; existing ones are ignored. Sorted, so that processes never deadlock. */
export async function insertWords(database: Database, words: readonly string[]): Promise<void> {
  const sorted = [...words].sort();
  const vectors = sorted.map(word => writeVector(wordNgrams(word)));
  await database.query(sql`
    INSERT INTO chat_words (word, tokens)
    SELECT word, vector::tsvector FROM unnest(${sorted}::text[], ${vectors}::text[]) AS added (word, vector)
    ON CONFLICT DO NOTHING`);
}

/** Whether any message has a word; the number is its n-gram's. */
export async function isWordUsed(database: Database, word: string, number: number): Promise<boolean> {
  const { rows } = await database.query(sql`
    SELECT 1 FROM chat_messages WHERE pieces @> ${braces([number])}::int[] AND strpos(folded, ${word}) > 0 LIMIT 1`);
  return rows.length > 0;
}

export async function deleteWord(database: Database, word: string): Promise<void> {
  await database.query(sql`DELETE FROM chat_words WHERE word = ${word}`);
}

/** Merges the pending list of the n-gram index; returns at once when it is empty. */
export async function mergePending(database: Database): Promise<void> {
  await database.query({ text: 'SELECT merge_messages()' });
}

/** Words of the dictionary that have a part at its required position; at most `limit`. */
export async function findWords(database: Database, part: Part, limit: number): Promise<string[]> {
  const { rows } = await database.query<{ word: string }>(
    prepared(sql`
      SELECT word FROM chat_words
      WHERE tokens @@ ${partQuery(part)}::tsquery AND strpos(word, ${part.text}) > 0
        ${part.at === 'start' ? sql`AND starts_with(word, ${part.text})` : empty}
        ${part.at === 'end' ? sql`AND right(word, length(${part.text})) = ${part.text}` : empty}
      LIMIT ${limit}`),
  );
  return rows.map(({ word }) => word);
}

/** Whether a message matches; strpos compares bytes, so that % and _ have no special meaning. */
export function matches({ keyword, geoid }: Conditions): Sql {
  return sql`(true
    ${keyword === undefined ? empty : sql`AND strpos(folded, ${keyword}) > 0`}
    ${geoid === undefined ? empty : sql`AND (geoid = ${geoid} OR coalesce(${geoid} = ANY (geoids), false))`})`;
}

export function inRange({ from, to }: Conditions, before: MessagePosition | undefined): Sql {
  return sql`true
    ${from === undefined ? empty : sql`AND ts >= ${from}::timestamptz`}
    ${to === undefined ? empty : sql`AND ts <= ${to}::timestamptz`}
    ${before ? sql`AND (ts, packet_id) < (${before.ts}::timestamptz, ${before.id}::uuid)` : empty}`;
}

/** An array literal. */
export function braces(items: readonly (string | number)[]): string {
  return `{${items.join(',')}}`;
}
