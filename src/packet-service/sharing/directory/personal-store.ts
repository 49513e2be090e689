import sql from 'sql-template-tag';
import type { Database } from '../../../platform/postgres/database.ts';

/** The contacts that a user asked about lately. */
export async function findLookups(
  database: Database,
  userId: string,
): Promise<{ contact: string; at: Date }[]> {
  const { rows } = await database.query<{ contact: string; at: Date }>(sql`
    SELECT contact, at FROM directory_lookups WHERE sender = ${`user ${userId}`} ORDER BY at`);
  return rows;
}

/** Forgets a user's entry, what waits to confirm it, and who asked about whom. */
export async function eraseEntry(
  database: Database,
  userId: string,
  contacts: readonly string[],
): Promise<void> {
  await database.query(sql`
    DELETE FROM directory_confirmations WHERE user_id = ${userId} OR contact = ANY (${contacts}::text[])`);
  await database.query(sql`
    DELETE FROM directory_lookups WHERE sender = ${`user ${userId}`} OR contact = ANY (${contacts}::text[])`);
  await database.query(sql`DELETE FROM directory_users WHERE user_id = ${userId}`);
}
