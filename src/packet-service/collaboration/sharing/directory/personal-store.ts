import sql from 'sql-template-tag';
import type { Database } from '../../../../platform/database/database.ts';
import { deleteEntry } from './store.ts';

/** The contacts that a user looked up recently. */
export async function findLookups(
  database: Database,
  userId: string,
): Promise<{ contact: string; at: Date }[]> {
  const { rows } = await database.query<{ contact: string; at: Date }>(sql`
    SELECT contact, at FROM directory_lookups WHERE sender = ${`user ${userId}`} ORDER BY at`);
  return rows;
}

/**
 * Deletes a user's entry with its pending confirmations, and look-ups by and of the user.
 *
 * @param contacts that belong to the user
 */
export async function eraseEntry(
  database: Database,
  userId: string,
  contacts: readonly string[],
): Promise<void> {
  const senders = [`user ${userId}`, `entry of ${userId}`, `confirmations of ${userId}`];
  await database.query(sql`
    DELETE FROM directory_lookups
    WHERE sender = ANY (${senders}::text[]) OR contact = ANY (${contacts}::text[])`);
  await deleteEntry(database, userId);
}
