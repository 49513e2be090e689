import type { QueryResult } from 'pg';
import type { Database } from '../../../platform/database/database.ts';
import { LOG_START, type LogCursor } from './log-cursor.ts';
import type { EventKind } from './store.ts';

/** An entry of the log. */
export interface Entry {
  position: number;
  /** of the round that appended it */
  tag: number | null;
  kind: EventKind;
  /** uuid form */
  packetId: string | null;
  /** of a chat message, uuid form */
  threadId: string | null;
  /** recipient of a share or invitation */
  userId: string | null;
  details: Record<string, unknown> | null;
  /**
   * Whether it is hidden without a token: for a share or invitation, whether it was created with one. For a message,
   * the thread decides.
   */
  closed: boolean;
}

/** Positions after `after`, up to and including `upTo`. */
export interface LogRange {
  after: number;
  upTo: number;
}

/** The member in the details of entries that were created with a token. */
export const CLOSED = 'closed';

const ENTRY =
  'position, tag, kind, packet_id AS "packetId", thread_id AS "threadId", user_id AS "userId", details';
const WITHIN = 'position > $1 AND position <= $2';
/** Packets, messages and erasures; an erasure also has an entry for each recipient of a share. */
const IS_PACKET = "(kind IN ('packet', 'chat.message') OR (kind = 'erased' AND user_id IS NULL))";
/** Whether an entry has the GeoID with the key $4, its own or an additional one. */
const HAS_KEY = '(geoid_key = $4 OR $4 = ANY (further_keys))';

/** The cursors at some positions, in their order, and at the end of the log; undefined beyond the end. */
export async function readCursors(
  database: Database,
  positions: readonly number[],
): Promise<{ cursors: (LogCursor | undefined)[]; head: LogCursor }> {
  const { rows } = await database.query<{ position: string; tag: number | null }>({
    name: 'log_places',
    text: `(SELECT position, tag FROM packet_log ORDER BY position DESC LIMIT 1)
      UNION ALL SELECT position, tag FROM packet_log WHERE position = ANY ($1::bigint[])`,
    values: [positions],
  });
  const cursors = [LOG_START, ...rows.map(({ position, tag }) => ({ position: Number(position), tag }))];
  const byPosition = new Map(cursors.map(cursor => [cursor.position, cursor]));
  const head = cursors.reduce((last, cursor) => (cursor.position > last.position ? cursor : last));
  return { cursors: positions.map(position => byPosition.get(position)), head };
}

/** The entries of a range that are for users: all but packets, in order. */
export async function readUserEntries(database: Database, { after, upTo }: LogRange): Promise<Entry[]> {
  return entries(
    await database.query<Row>({
      name: 'log_news',
      text: `SELECT ${ENTRY} FROM packet_log WHERE ${WITHIN} AND kind <> 'packet' ORDER BY position`,
      values: [after, upTo],
    }),
  );
}

/** The messages of threads and the entries for one user, in order. Each thread is read by its index, then merged. */
export async function readEntriesOfUser(
  database: Database,
  { userId, threadIds }: { userId: string; threadIds: readonly string[] },
  { after, upTo }: LogRange,
  limit: number,
): Promise<Entry[]> {
  return entries(
    await database.query<Row>({
      name: 'log_news_of',
      text: `SELECT * FROM (
          (SELECT ${ENTRY} FROM packet_log WHERE user_id = $3 AND ${WITHIN} ORDER BY position LIMIT $5)
          UNION ALL
          SELECT messages.* FROM unnest($4::uuid[]) AS thread (id), LATERAL (
            SELECT ${ENTRY} FROM packet_log WHERE thread_id = thread.id AND ${WITHIN} ORDER BY position LIMIT $5
          ) AS messages
        ) AS news ORDER BY position LIMIT $5`,
      values: [after, upTo, userId, threadIds, limit],
    }),
  );
}

/** The packets of a range, including messages, in order. */
export function readPackets(database: Database, range: LogRange, limit: number): Promise<Entry[]> {
  return readSome(database, 'log_packets', range, limit, IS_PACKET);
}

/**
 * The observations of a range, and up to which position it has entries; undefined without any entry.
 *
 * @returns ids: uuids as an array in PostgreSQL's form, for another statement; null if there are none
 */
export async function readObservationIds(
  database: Database,
  { after, upTo }: LogRange,
): Promise<{ ids: string | null; position: number } | undefined> {
  const { rows } = await database.query<{ ids: string | null; position: string | null }>({
    name: 'log_observations',
    text: `SELECT (array_agg(packet_id) FILTER (WHERE kind = 'packet'))::text AS ids, max(position) AS position
      FROM packet_log WHERE ${WITHIN}`,
    values: [after, upTo],
  });
  const [row] = rows;
  return row?.position == null ? undefined : { ids: row.ids, position: Number(row.position) };
}

/** Position of the entry that a packet (uuid form) got when it was stored; undefined if it has none yet. */
export async function findPositionOf(database: Database, packetId: string): Promise<number | undefined> {
  const { rows } = await database.query<{ position: string }>({
    text: `SELECT position FROM packet_log WHERE packet_id = $1 AND kind IN ('packet', 'chat.message')`,
    values: [packetId],
  });
  return rows[0] && Number(rows[0].position);
}

/** The packets of a range among those with these ids (uuid form), in order. */
export function readPacketsById(
  database: Database,
  ids: readonly string[],
  range: LogRange,
  limit: number,
): Promise<Entry[]> {
  const condition = `packet_id = ANY ($4::uuid[]) AND ${IS_PACKET}`;
  return readSome(database, 'log_packets_by_id', range, limit, condition, ids);
}

/** The packets of a range that have a GeoID, their own or an additional one, in order. Reads the whole range. */
export function scanPacketsOfGeoid(
  database: Database,
  key: string,
  range: LogRange,
  limit: number,
): Promise<Entry[]> {
  return readSome(database, 'log_packets_of_geoid', range, limit, `${IS_PACKET} AND ${HAS_KEY}`, key);
}

/** The erasures in a range of packets with a GeoID, their own or an additional one, in order. */
export function readErasedOfGeoid(
  database: Database,
  key: string,
  range: LogRange,
  limit: number,
): Promise<Entry[]> {
  return readSome(database, 'log_erased_of_geoid', range, limit, `kind = 'erased' AND ${HAS_KEY}`, key);
}

/**
 * The first entries of a range that meet a condition, in order.
 *
 * @param name of the prepared statement
 * @param values of the condition's parameters, from $4 on
 */
async function readSome(
  database: Database,
  name: string,
  { after, upTo }: LogRange,
  limit: number,
  condition: string,
  ...values: unknown[]
): Promise<Entry[]> {
  const text = `SELECT ${ENTRY} FROM packet_log WHERE ${WITHIN} AND ${condition} ORDER BY position LIMIT $3`;
  return entries(await database.query<Row>({ name, text, values: [after, upTo, limit, ...values] }));
}

/** Which of some GeoIDs' keys have packets in a range. */
export async function findKeys(
  database: Database,
  keys: readonly string[],
  { after, upTo }: LogRange,
): Promise<string[]> {
  const { rows } = await database.query<{ key: string }>({
    name: 'log_keys',
    text: `SELECT DISTINCT key FROM packet_log, unnest(further_keys || geoid_key) AS key
      WHERE ${WITHIN} AND (geoid_key = ANY ($3::bigint[]) OR further_keys && $3) AND key = ANY ($3)`,
    values: [after, upTo, keys],
  });
  return rows.map(({ key }) => key);
}

type Row = Omit<Entry, 'position' | 'closed'> & { position: string };

function entries({ rows }: QueryResult<Row>): Entry[] {
  return rows.map(row => ({
    ...row,
    position: Number(row.position),
    closed: row.details?.[CLOSED] === true,
  }));
}
