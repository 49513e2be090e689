import sql, { join, type Sql } from 'sql-template-tag';
import { type Database, prepared } from '../../../platform/postgres/database.ts';
import { MESSAGE, type MessagePosition, type MessageRow } from '../messages/store.ts';
import { braces, type Conditions, inRange, type MessageScan, matches, NEWEST } from './search-store.ts';

/** Messages that one step reads, at most: each server sends the keys of as many. */
const MAX_STEP = 10_000;

/** Messages of the searched threads. */
const amongThem = ({ threads }: Conditions): Sql => sql`thread_id = ANY (${threads}::uuid[])`;

/**
 * Reads the newest messages of the searched threads, of all of them together. Two statements, because the servers
 * cannot share the result of the first: where the scan ends, and the matches up to there, which each server finds by
 * itself.
 *
 * @param before where to begin: older than this
 * @param count messages to read, at most
 * @param limit matches to return
 */
export async function readNewest(
  database: Database,
  conditions: Conditions,
  before: MessagePosition | undefined,
  { count, limit }: { count: number; limit: number },
): Promise<MessageScan & { read: number }> {
  const read = Math.min(count, MAX_STEP);
  const where = sql`${amongThem(conditions)} AND ${inRange(conditions, before)}`;
  const { rows: ends } = await database.query<MessagePosition>(
    prepared(sql`
      SELECT ts::text AS ts, packet_id AS id FROM (
        SELECT ts, packet_id FROM chat_messages WHERE ${where} ${NEWEST} OFFSET ${read - 1} LIMIT 1) AS last`),
  );
  const [end] = ends;
  const within = end ? sql`AND (ts, packet_id) >= (${end.ts}::timestamptz, ${end.id}::uuid)` : sql``;
  const { rows } = await database.query<MessageRow>(
    prepared(sql`
      SELECT ${MESSAGE} FROM chat_messages WHERE ${where} ${within} AND ${matches(conditions)}
      ${NEWEST} LIMIT ${limit}`),
  );
  return { rows, end, own: 0, read };
}

/**
 * Finds matches by their n-grams, newest first. Each server returns the keys of all its matches: with an order and a
 * limit, it might read its messages in the order of time instead of asking the index.
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
  const { rows: keys } = await database.query<{ thread: string; ts: string; id: string }>(sql`
    WITH found AS MATERIALIZED (
      SELECT thread_id, ts, packet_id FROM chat_messages
      WHERE (${has}) AND ${amongThem(conditions)} AND ${matches(conditions)} AND ${inRange(conditions, before)})
    SELECT thread_id AS thread, ts::text AS ts, packet_id AS id FROM found ${NEWEST} LIMIT ${limit}`);
  if (keys.length === 0) return [];
  const { rows } = await database.query<MessageRow>(sql`
    SELECT ${MESSAGE} FROM chat_messages
    WHERE thread_id = ANY (${[...new Set(keys.map(({ thread }) => thread))]}::uuid[])
      AND ts = ANY (${keys.map(({ ts }) => ts)}::timestamptz[])
      AND packet_id = ANY (${keys.map(({ id }) => id)}::uuid[])
    ${NEWEST} LIMIT ${limit}`);
  return rows;
}
