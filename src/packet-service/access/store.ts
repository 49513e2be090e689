import sql from 'sql-template-tag';
import type { Database } from '../../platform/postgres/database.ts';

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

/** Which of these user identifiers have ever sent a valid token. */
export async function findTokenUsers(database: Database, userIds: readonly string[]): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(sql`
    SELECT user_id AS id FROM token_users WHERE user_id = ANY (${userIds}::text[])`);
  return rows.map(({ id }) => id);
}
