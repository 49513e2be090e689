import sql, { empty } from 'sql-template-tag';
import type { Database } from '../../../platform/database/database.ts';
import type { EventKind } from './store.ts';

/** A packet as a log entry describes it. */
export interface PacketEntry {
  position: number;
  kind: EventKind;
  /** uuid form */
  packetId: string;
  /** uuid form */
  threadId: string | null;
  userId: string | null;
  /** {@link geoidKey} of the packet's own GeoID */
  geoidKey: string | null;
  /** whether a version appended it that writes all rows that now belong to a packet */
  tagged: boolean;
}

type Row = Omit<PacketEntry, 'position'> & { position: string };

/** All entries about the packets of a range of ids (uuid form), in no order; without `to`, to the last one. */
export async function findEntriesBetween(
  database: Database,
  { from, to }: { from: string; to: string | undefined },
): Promise<PacketEntry[]> {
  const { rows } = await database.query<Row>(sql`
    SELECT position, kind, packet_id AS "packetId", thread_id AS "threadId", user_id AS "userId",
      geoid_key AS "geoidKey", tag IS NOT NULL AS tagged
    FROM packet_log WHERE packet_id >= ${from}${to === undefined ? empty : sql` AND packet_id < ${to}`}`);
  return rows.map(row => ({ ...row, position: Number(row.position) }));
}

/** The events of these packets (uuid form) that are committed and wait for their position. */
export async function findQueued(
  database: Database,
  packetIds: readonly string[],
): Promise<{ packetId: string; kind: EventKind; userId: string | null }[]> {
  const { rows } = await database.query<{ packetId: string; kind: EventKind; userId: string | null }>(sql`
    SELECT event.packet_id AS "packetId", event.kind, event.user_id AS "userId"
    FROM packet_log_queue, unnest(kinds, packet_ids, user_ids) AS event (kind, packet_id, user_id)
    WHERE event.packet_id = ANY (${packetIds}::uuid[])`);
  return rows;
}

/** Position of the last entry; 0 in an empty log. */
export async function findHead(database: Database): Promise<number> {
  const { rows } = await database.query<{ head: string }>(
    sql`SELECT coalesce(max(position), 0) AS head FROM packet_log`,
  );
  return Number(rows[0]?.head);
}

/** Some positions of a stretch, up to `upTo`, that have no entry: each as a stretch of its own. */
export async function findGaps(
  database: Database,
  { after, upTo }: { after: number; upTo: number },
  limit: number,
): Promise<{ first: number; last: number }[]> {
  const { rows } = await database.query<{ first: string; last: string }>(sql`
    SELECT before + 1 AS first, position - 1 AS last FROM (
      SELECT position, lag(position, 1, ${after}::bigint) OVER (ORDER BY position) AS before
      FROM (
        SELECT position FROM packet_log WHERE position > ${after} AND position <= ${upTo}
        UNION ALL SELECT ${upTo}::bigint + 1
      ) AS stretch
    ) AS pairs WHERE position > before + 1 ORDER BY position LIMIT ${limit}`);
  return rows.map(({ first, last }) => ({ first: Number(first), last: Number(last) }));
}

/** Positions of some entries of a stretch, up to `upTo`, that are a packet's and name none. */
export async function findNameless(
  database: Database,
  { after, upTo }: { after: number; upTo: number },
  limit: number,
): Promise<number[]> {
  const { rows } = await database.query<{ position: string }>(sql`
    SELECT position FROM packet_log
    WHERE position > ${after} AND position <= ${upTo} AND packet_id IS NULL
      AND kind IN ('packet', 'chat.message', 'erased')
    ORDER BY position LIMIT ${limit}`);
  return rows.map(({ position }) => Number(position));
}
