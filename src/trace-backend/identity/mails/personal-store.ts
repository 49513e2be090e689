import type pg from 'pg';
import sql from 'sql-template-tag';
import { type Database, execute } from '../../../platform/database/database.ts';

/** The mails with tokens that a user was sent or asked for lately. */
export function mailsOf(userId: number): pg.QueryConfig {
  return sql`
    SELECT purpose, NULL::timestamptz AS requested_at, expires_at FROM mail_tokens WHERE user_id = ${userId}
    UNION ALL SELECT purpose, at, NULL FROM mail_requests WHERE user_id = ${userId}`;
}

/** The mails to a user that could not be delivered, and those of invitations of their address. */
export function failedMailsOf(userId: number, invitationIds: readonly number[]): pg.QueryConfig {
  return sql`
    SELECT job ->> 'kind' AS kind, CASE status WHEN 'dead' THEN 'FAILED' ELSE upper(status) END AS status, attempts,
      last_error, last_attempt_at AS failed_at FROM failed_mails
    WHERE user_id = ${userId} OR invitation_id = ANY (${invitationIds}::integer[]) ORDER BY id`;
}

/** Deletes a user's mailed tokens, mail requests and mails that could not be delivered. */
export async function eraseMails(database: Database, userId: number): Promise<void> {
  await execute(database, sql`DELETE FROM mail_requests WHERE user_id = ${userId}`);
  await execute(database, sql`DELETE FROM mail_tokens WHERE user_id = ${userId}`);
  await execute(database, sql`DELETE FROM failed_mails WHERE user_id = ${userId}`);
}
