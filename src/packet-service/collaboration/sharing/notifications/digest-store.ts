import sql, { type Sql } from 'sql-template-tag';
import type { Database } from '../../../../platform/database/database.ts';
import { HASHED_LOCKS } from '../../../../platform/database/locks/advisory-locks.ts';

/** A notification that waits for the digest of its address. Ids in the uuid form. */
export interface Digested {
  notificationId: string;
  shareId: string;
  /** null if nobody with the contact is known */
  userId: string | null;
}

/** Maximum notifications per digest; the others wait for the next. */
const MAX_DIGESTED = 10_000;

/** Notifications whose digest has not been sent. */
const WAITING = sql`channel = 'mail' AND in_digest AND status = 'queued'`;

/** Locks the digest of an address until the end of the transaction: what waits for it, and whether it is on its way. */
export async function lockDigest(database: Database, address: string): Promise<void> {
  const name = HASHED_LOCKS.digest + address;
  await database.query(sql`SELECT pg_advisory_xact_lock(hashtextextended(${name}, 0))`);
}

/**
 * How many mails of their own an address gets about notifications from a time on; counts no further than `limit`.
 *
 * @param of isOpen: those caused without a token, otherwise those caused with one
 * @param since the first id that counts (uuid form)
 */
export async function countMails(
  database: Database,
  { address, isOpen }: { address: string; isOpen: boolean },
  since: string,
  limit: number,
): Promise<number> {
  const { rows } = await database.query<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM (
      SELECT FROM notification_deliveries AS made JOIN notifications USING (notification_id)
      WHERE address = ${address} AND made.notification_id >= ${since} AND NOT in_digest AND (author IS NULL) = ${isOpen}
      LIMIT ${limit}) AS mails`);
  return rows[0]?.count ?? 0;
}

/** Whether notifications wait for the digest of an address: then its job is on its way. */
export async function hasDigest(database: Database, address: string): Promise<boolean> {
  const { rows } = await database.query(
    sql`SELECT 1 FROM notification_deliveries WHERE address = ${address} AND ${WAITING} LIMIT 1`,
  );
  return rows.length > 0;
}

/** Selects the notifications that wait for the digest of an address, oldest first. */
export async function listDigest(database: Database, address: string): Promise<Digested[]> {
  const { rows } = await database.query<Digested>(sql`
    SELECT notification_id AS "notificationId", share_id AS "shareId", user_id AS "userId"
    FROM notification_deliveries JOIN notifications USING (notification_id)
    WHERE address = ${address} AND ${WAITING}
    ORDER BY notification_id LIMIT ${MAX_DIGESTED}`);
  return rows;
}

/** These, as long as their digest has not been sent. */
export function inDigest(some: readonly Digested[]): Sql {
  return sql`notification_id = ANY (${some.map(({ notificationId }) => notificationId)}::uuid[]) AND ${WAITING}`;
}
