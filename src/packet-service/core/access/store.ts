import sql from 'sql-template-tag';
import type { Database } from '../../../platform/database/database.ts';
import { HASHED_LOCKS } from '../../../platform/database/locks/advisory-locks.ts';

/**
 * Locks users until the end of the transaction: whether they have sent a token. Always in the same order, so that
 * transactions never deadlock; before the locks of contacts.
 */
export async function lockUsers(database: Database, userIds: readonly string[]): Promise<void> {
  await database.query(sql`
    SELECT pg_advisory_xact_lock(key) FROM (
      SELECT DISTINCT hashtextextended(${HASHED_LOCKS.user} || user_id, 0) AS key
      FROM unnest(${userIds}::text[]) AS user_id ORDER BY key) AS keys`);
}

/** Stores the identifiers of token users, in key order, so that processes never deadlock. */
export async function insertTokenUsers(
  database: Database,
  userIds: readonly string[],
  now: Date,
): Promise<void> {
  await database.query(sql`
    INSERT INTO token_users (user_id, first_seen)
    SELECT user_id, ${now}::timestamptz FROM unnest(${userIds.toSorted()}::text[]) AS seen (user_id)
    ON CONFLICT DO NOTHING`);
}

/** SQL for whether a user has ever sent a valid token, as a part of another query; columns need their table's name. */
export const isTokenUserSql = (user: string) =>
  `EXISTS (SELECT 1 FROM token_users AS seen WHERE seen.user_id = ${user})`;

/** Which of these user identifiers have ever sent a valid token. */
export async function findTokenUsers(database: Database, userIds: readonly string[]): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>({
    name: 'find_token_users',
    text: 'SELECT user_id AS id FROM token_users WHERE user_id = ANY ($1::text[])',
    values: [userIds],
  });
  return rows.map(({ id }) => id);
}
