import type pg from 'pg';
import sql from 'sql-template-tag';
import type { Database } from '../../../platform/postgres/database.ts';

/** The mails with tokens that a user was sent or asked for lately. */
export function mailsOf(userId: number): pg.QueryConfig {
  return sql`
    SELECT purpose, NULL::timestamptz AS requested_at, expires_at FROM mail_tokens WHERE user_id = ${userId}
    UNION ALL SELECT purpose, at, NULL FROM mail_requests WHERE user_id = ${userId}`;
}

/** Deletes a user's mailed tokens and mail requests. */
export async function eraseMails(database: Database, userId: number): Promise<void> {
  await database.query(sql`DELETE FROM mail_requests WHERE user_id = ${userId}`);
  await database.query(sql`DELETE FROM mail_tokens WHERE user_id = ${userId}`);
}
