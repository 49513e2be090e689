import sql from 'sql-template-tag';
import type { Database } from '../../../../platform/database/database.ts';
import { allSendersOf, countedAs } from './rate-limit.ts';
import { deleteEntry } from './store.ts';

/** The contacts that a user looked up recently, or somebody without a token in the user's name. */
export async function findLookups(
  database: Database,
  userId: string,
): Promise<{ contact: string; at: Date }[]> {
  const { rows } = await database.query<{ contact: string; at: Date }>(sql`
    SELECT contact, at FROM directory_lookups
    WHERE sender IN (${countedAs.user(userId)}, ${countedAs.name(userId)}) ORDER BY at`);
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
  await database.query(sql`
    DELETE FROM directory_lookups
    WHERE sender = ANY (${allSendersOf(userId)}::text[]) OR contact = ANY (${contacts}::text[])`);
  await deleteEntry(database, userId);
}
