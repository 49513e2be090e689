import sql, { empty, join, type Sql } from 'sql-template-tag';
import { type Database, prepared } from '../../../../platform/database/database.ts';
import { MESSAGE, type MessagePosition, type MessageRow } from '../messages/store.ts';
import { braces, type Conditions, inRange, matches, NEWEST } from './search-store.ts';

/** Where messages of all threads are how dense, and how many of them are in the searched threads. */
export interface MessageSample {
  /** times of the sampled messages, newest first, in milliseconds since 1970 */
  times: number[];
  /** how many of them are in the searched threads */
  own: number;
}

/**
 * The newest messages of all threads, of which each server sends as many.
 *
 * @param before where to begin: older than this
 */
export async function sampleNewest(
  database: Database,
  conditions: Conditions,
  before: MessagePosition | undefined,
  count: number,
): Promise<MessageSample> {
  const { rows } = await database.query<{ ms: number; own: boolean }>(
    prepared(sql`
      SELECT extract(epoch FROM ts)::float8 * 1000 AS ms, ${amongThem(conditions)} AS own
      FROM chat_messages WHERE ${inRange(conditions, before)} ${NEWEST} LIMIT ${count}`),
  );
  return { times: rows.map(({ ms }) => ms), own: rows.filter(({ own }) => own).length };
}

/**
 * Finds the newest matches down to a time by the time index. Each server stops at the last requested match.
 *
 * @param before where to begin: older than this
 * @param since where to end, inclusive; undefined for the oldest message
 * @param limit matches to return
 */
export async function readSince(
  database: Database,
  conditions: Conditions,
  before: MessagePosition | undefined,
  { since, limit }: { since: string | undefined; limit: number },
): Promise<MessageRow[]> {
  const { rows } = await database.query<MessageRow>(
    prepared(sql`
      SELECT message.* FROM (
        SELECT thread_id, ts, packet_id FROM chat_messages
        WHERE ${amongThem(conditions)} AND ${inRange(conditions, before)}
          ${since === undefined ? empty : sql`AND ts >= ${since}::timestamptz`} AND ${matches(conditions)}) AS hit
      CROSS JOIN LATERAL (${wholeRow(sql`hit`, sql`hit`)}) AS message ${NEWEST} LIMIT ${limit}`),
  );
  return rows;
}

/**
 * Reads the newest messages of each of the threads by the primary key's index. Besides the matches, the last message
 * that was read of a thread is returned, where the thread has as many: the scan ends at the newest of these.
 *
 * @param before where to begin: older than this
 * @param count messages to read of each thread, at most
 * @param limit matches to return
 */
export async function readThreads(
  database: Database,
  conditions: Conditions,
  before: MessagePosition | undefined,
  { count, limit }: { count: number; limit: number },
): Promise<{ rows: MessageRow[]; end: MessagePosition | undefined }> {
  const compared = conditions.geoid === undefined ? sql`folded` : sql`folded, geoid, geoids`;
  const { rows } = await database.query<MessageRow & { isMatch: boolean; isLast: boolean }>(
    prepared(sql`
      SELECT hit."isMatch", hit."isLast", message.*
      FROM chat_threads AS thread CROSS JOIN LATERAL (
        SELECT ts, packet_id, ${matches(conditions)} AS "isMatch", n = ${count} AS "isLast" FROM (
          SELECT *, row_number() OVER (${NEWEST}) AS n FROM (
            SELECT ts, packet_id, ${compared} FROM chat_messages
            WHERE thread_id = thread.thread_id AND ${inRange(conditions, before)}
            ${NEWEST} LIMIT ${count}) AS newest) AS numbered
        WHERE ${matches(conditions)} OR n = ${count} ${NEWEST} LIMIT ${limit}) AS hit
      CROSS JOIN LATERAL (${wholeRow(sql`thread`, sql`hit`)}) AS message
      WHERE thread.${amongThem(conditions)} ORDER BY hit.ts DESC, hit.packet_id DESC LIMIT ${limit}`),
  );
  const last = rows.findIndex(({ isLast }) => isLast);
  const read = last === -1 ? rows : rows.slice(0, last + 1);
  const end = last === -1 ? undefined : (rows[last] as MessageRow);
  return {
    rows: read.filter(({ isMatch }) => isMatch),
    end: end && { ts: end.utc, id: end.packetId },
  };
}

/**
 * Finds matches by their n-grams, newest first. Sorted by an expression that no index has: with an order of the time
 * index and a limit, a server might read its messages in that order instead of asking the index of n-grams.
 *
 * @param sets numbers of n-grams: a match has all of one set
 */
export async function lookUpDistributed(
  database: Database,
  conditions: Conditions,
  sets: readonly (readonly number[])[],
  { before, limit }: { before: MessagePosition | undefined; limit: number },
): Promise<MessageRow[]> {
  const has = join(
    sets.map(set => sql`pieces @> ${braces(set)}::int[]`),
    ' OR ',
  );
  const { rows } = await database.query<MessageRow>(sql`
    SELECT ${MESSAGE} FROM chat_messages
    WHERE (${has}) AND ${amongThem(conditions)} AND ${matches(conditions)} AND ${inRange(conditions, before)}
    ORDER BY ts + interval '0' DESC, packet_id DESC LIMIT ${limit}`);
  return rows;
}

/** Messages of the searched threads. */
const amongThem = ({ threads }: Conditions): Sql => sql`thread_id = ANY (${threads}::uuid[])`;

/** The message of a key, whose thread is named apart: servers know by it that no other shard has the message. */
function wholeRow(thread: Sql, key: Sql): Sql {
  return sql`
    SELECT ${MESSAGE} FROM chat_messages
    WHERE thread_id = ${thread}.thread_id AND ts = ${key}.ts AND packet_id = ${key}.packet_id OFFSET 0`;
}
