import sql from 'sql-template-tag';
import { type Database, execute } from '../../../platform/database/database.ts';

/** The purpose of a mailed token. */
export type Purpose = 'CONFIRM_EMAIL' | 'RESET_PASSWORD' | 'CHANGE_EMAIL_OLD' | 'CHANGE_EMAIL_NEW';

export interface MailToken {
  hash: Buffer;
  userId: number;
  /** the address it is mailed to, in the form by which it is looked up; null for a change of address */
  emailKey: string | null;
  purpose: Purpose;
  expiresAt: Date;
}

/** Stores a token; deletes the user's expired ones. */
export async function insertMailToken(
  database: Database,
  { hash, userId, emailKey, purpose, expiresAt }: MailToken,
  now: Date,
): Promise<void> {
  await execute(database, sql`DELETE FROM mail_tokens WHERE user_id = ${userId} AND expires_at < ${now}`);
  await execute(
    database,
    sql`
    INSERT INTO mail_tokens (hash, user_id, email_key, purpose, expires_at)
    VALUES (${hash}, ${userId}, ${emailKey}, ${purpose}, ${expiresAt})`,
  );
}

/**
 * Uses up a token, together with all others of the same user and purpose.
 *
 * @returns the user, and the address that it was mailed to; undefined if the token is unknown, used or expired
 */
export async function takeMailToken(
  database: Database,
  hash: Buffer,
  purpose: Purpose,
  now: Date,
): Promise<Pick<MailToken, 'userId' | 'emailKey'> | undefined> {
  const { rows } = await database.query<Pick<MailToken, 'hash' | 'userId' | 'emailKey'>>(sql`
    DELETE FROM mail_tokens
    WHERE purpose = ${purpose} AND user_id = (
      SELECT user_id FROM mail_tokens WHERE hash = ${hash} AND purpose = ${purpose} AND expires_at > ${now})
    RETURNING hash, user_id AS "userId", email_key AS "emailKey"`);
  return rows.find(row => row.hash.equals(hash));
}

/** The user of a token, which stays valid; undefined if it is unknown, used or expired. */
export async function findTokenUser(
  database: Database,
  hash: Buffer,
  purposes: readonly Purpose[],
  now: Date,
): Promise<number | undefined> {
  const { rows } = await database.query<{ userId: number }>(sql`
    SELECT user_id AS "userId" FROM mail_tokens
    WHERE hash = ${hash} AND purpose = ANY (${purposes}::text[]) AND expires_at > ${now}`);
  return rows[0]?.userId;
}

/** Records that a user is sent a mail of a kind; returns false without a change if one was sent after `since`. */
export async function noteMailRequest(
  database: Database,
  { userId, purpose }: { userId: number; purpose: Purpose | 'CHANGE_EMAIL' },
  now: Date,
  since: Date,
): Promise<boolean> {
  const { rowCount } = await database.query(sql`
    INSERT INTO mail_requests AS known (user_id, purpose, at) VALUES (${userId}, ${purpose}, ${now})
    ON CONFLICT (user_id, purpose) DO UPDATE SET at = excluded.at WHERE known.at < ${since}`);
  return rowCount === 1;
}

/**
 * Stores a password reset token, if its mail is still wanted: whatever invalidates reset tokens also deletes the
 * request.
 *
 * @returns whether it was stored
 */
export async function insertResetToken(
  database: Database,
  { hash, userId, emailKey, expiresAt }: Omit<MailToken, 'purpose'>,
  now: Date,
): Promise<boolean> {
  await execute(database, sql`DELETE FROM mail_tokens WHERE user_id = ${userId} AND expires_at < ${now}`);
  // The row is locked, so that a concurrent invalidation either comes first or sees the token.
  const { rowCount } = await database.query(sql`
    WITH asked AS (
      SELECT user_id FROM mail_requests WHERE user_id = ${userId} AND purpose = 'RESET_PASSWORD' FOR SHARE)
    INSERT INTO mail_tokens (hash, user_id, email_key, purpose, expires_at)
    SELECT ${hash}, user_id, ${emailKey}, 'RESET_PASSWORD', ${expiresAt} FROM asked`);
  return rowCount === 1;
}

/** Deletes a user's password reset tokens, including those not mailed yet. */
export async function deleteResets(database: Database, userId: number): Promise<void> {
  await execute(
    database,
    sql`DELETE FROM mail_requests WHERE user_id = ${userId} AND purpose = 'RESET_PASSWORD'`,
  );
  await execute(
    database,
    sql`DELETE FROM mail_tokens WHERE user_id = ${userId} AND purpose = 'RESET_PASSWORD'`,
  );
}

/** Deletes a user's tokens of some purposes. */
export async function deleteMailTokens(
  database: Database,
  userId: number,
  purposes: readonly Purpose[],
): Promise<void> {
  await execute(
    database,
    sql`
    DELETE FROM mail_tokens WHERE user_id = ${userId} AND purpose = ANY (${purposes}::text[])`,
  );
}
