import type pg from 'pg';
import sql from 'sql-template-tag';
import type { Database } from '../../../platform/database/database.ts';

/** The answers stored for a user's retries. */
export function storedAnswersOf(userId: string): pg.QueryConfig {
  return sql`
    SELECT route, key, status, answer, created_at FROM idempotency_keys WHERE caller = ${userId}
    ORDER BY created_at`;
}

export async function eraseKeys(database: Database, userId: string): Promise<void> {
  await database.query(sql`DELETE FROM idempotency_keys WHERE caller = ${userId}`);
}
