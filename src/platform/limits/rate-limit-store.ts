import sql from 'sql-template-tag';
import type { Database } from '../database/database.ts';

/** Rows that one statement removes, at most. */
const MAX_REMOVED = 10_000;
/** A count does not go beyond it. */
const MAX_COUNT = 1_000_000;

/** Requests in the current window. */
export interface Counted {
  count: number;
  /** milliseconds until the window ends */
  ttl: number;
}

/** Counts one more request of an address to a route, in a window that begins with the first. */
export async function countRequest(
  database: Database,
  route: string,
  address: string,
  windowMs: number,
): Promise<Counted> {
  const { rows } = await database.query<Counted>(sql`
    INSERT INTO address_counts AS counted (route, address, count, until)
    VALUES (${route}, ${address}, 1, clock_timestamp() + make_interval(secs => ${windowMs / 1000}))
    ON CONFLICT (route, address) DO UPDATE SET
      count = CASE WHEN counted.until <= clock_timestamp() THEN 1 ELSE least(counted.count + 1, ${MAX_COUNT}) END,
      until = CASE WHEN counted.until <= clock_timestamp() THEN excluded.until ELSE counted.until END
    RETURNING count, greatest(0, extract(epoch FROM until - clock_timestamp()) * 1000)::float8 AS ttl`);
  return rows[0] as Counted;
}

/** Removes counts whose window has ended. */
export async function removeOldCounts(database: Database): Promise<void> {
  let removed: number | null;
  do {
    const { rowCount } = await database.query(sql`
      DELETE FROM address_counts WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM address_counts WHERE until < clock_timestamp() LIMIT ${MAX_REMOVED} FOR UPDATE SKIP LOCKED))`);
    removed = rowCount;
  } while (removed === MAX_REMOVED);
}
