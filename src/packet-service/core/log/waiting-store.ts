import type { Database } from '../../../platform/database/database.ts';

/** The packet of an event. */
export interface PacketEvent {
  /** uuid form */
  packetId: string;
  /** the thread of a chat message, uuid form */
  threadId: string | undefined;
}

/** The contents of the outbox at one moment. */
export interface Waiting {
  /** transactions, oldest first, each once */
  xids: string[];
  /** their events that are about packets, in that order */
  events: (PacketEvent & { xid: string; erased: boolean })[];
  /** whether there are more transactions */
  more: boolean;
  /** all transactions below it had ended: their events are among these, unless there are more */
  horizon: string;
}

/** Rows of the outbox that are looked at, approximately: all of a transaction are. */
const ROWS = 64;

/** @param horizon transactions below it are not looked at */
export async function readWaiting(database: Database, horizon: string): Promise<Waiting> {
  const { rows } = await database.query<{
    horizon: string;
    more: boolean;
    xid: string | null;
    kinds: string[];
    ids: (string | null)[] | null;
    threads: (string | null)[] | null;
  }>({
    name: 'read_waiting',
    text: `WITH oldest AS (
        SELECT max(xid) AS last, count(*) = $2 AS more
        FROM (SELECT xid FROM packet_log_queue WHERE xid >= $1::xid8 ORDER BY xid LIMIT $2) AS rows
      )
      SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS horizon, oldest.more, queue.xid::text AS xid,
        queue.kinds::text[] AS kinds, queue.packet_ids AS ids, queue.thread_ids AS threads
      FROM oldest LEFT JOIN packet_log_queue AS queue ON queue.xid >= $1::xid8 AND queue.xid <= oldest.last
      ORDER BY queue.xid`,
    values: [horizon, ROWS],
  });
  const [first] = rows;
  const events = rows.flatMap(({ xid, kinds, ids, threads }) =>
    xid === null ? [] : [{ xid, kinds, ids: ids ?? [], threads: threads ?? [] }],
  );
  return {
    xids: [...new Set(events.map(({ xid }) => xid))],
    events: events.flatMap(({ xid, kinds, ids, threads }) =>
      ids.flatMap((packetId, at) =>
        packetId === null
          ? []
          : [{ xid, packetId, threadId: threads[at] ?? undefined, erased: kinds[at] === 'erased' }],
      ),
    ),
    more: first?.more === true,
    horizon: first?.horizon as string,
  };
}
