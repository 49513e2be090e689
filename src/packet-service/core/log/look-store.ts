import sql from 'sql-template-tag';
import type { Database } from '../../../platform/database/database.ts';

/** The log and its outbox at one moment. */
export interface LogLook {
  /** position of the last entry; 0 in an empty log */
  head: number;
  /** latest time of any process that appended; null if not known */
  clock: Date | null;
  /** events that wait in the outbox; counts no further than 100,000 rows */
  waiting: number;
  /** the transaction of the oldest row of the outbox, by which another look recognises it; null if it is empty */
  oldest: string | null;
}

/** Looks at the log without changing it. */
export async function lookAtLog(database: Database): Promise<LogLook> {
  const { rows } = await database.query<Omit<LogLook, 'head'> & { head: string }>(sql`
    SELECT coalesce((SELECT max(position) FROM packet_log), 0) AS head,
      (SELECT clock FROM packet_log ORDER BY position DESC LIMIT 1) AS clock,
      (SELECT coalesce(sum(cardinality(kinds)), 0)::int
       FROM (SELECT kinds FROM packet_log_queue ORDER BY xid LIMIT 100000) AS queue) AS waiting,
      (SELECT xid::text FROM packet_log_queue ORDER BY xid LIMIT 1) AS oldest`);
  const { head, ...look } = rows[0] as (typeof rows)[number];
  return { ...look, head: Number(head) };
}
