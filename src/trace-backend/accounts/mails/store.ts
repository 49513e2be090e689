import sql from 'sql-template-tag';
import type { Database } from '../../../platform/postgres/database.ts';

/** What the secret of a mailed link is good for. */
export type Purpose = 'CONFIRM_EMAIL' | 'RESET_PASSWORD' | 'CHANGE_EMAIL_OLD' | 'CHANGE_EMAIL_NEW';

export interface MailToken {
  hash: Buffer;
  userId: number;
  purpose: Purpose;
  expiresAt: Date;
}

/** Keeps a token; those of the same user that have ended are forgotten. */
export async function insertMailToken(
  database: Database,
  { hash, userId, purpose, expiresAt }: MailToken,
  now: Date,
): Promise<void> {
  await database.query(sql`DELETE FROM mail_tokens WHERE user_id = ${userId} AND expires_at < ${now}`);
  await database.query(sql`
    INSERT INTO mail_tokens (hash, user_id, purpose, expires_at)
    VALUES (${hash}, ${userId}, ${purpose}, ${expiresAt})`);
}

/**
 * Uses a token up, together with every other one of the same user and purpose.
 *
 * @returns whose it was; undefined when it is unknown, used or over
 */
export async function takeMailToken(
  database: Database,
  hash: Buffer,
  purpose: Purpose,
  now: Date,
): Promise<number | undefined> {
  const { rows } = await database.query<{ userId: number }>(sql`
    DELETE FROM mail_tokens
    WHERE purpose = ${purpose} AND user_id = (
      SELECT user_id FROM mail_tokens WHERE hash = ${hash} AND purpose = ${purpose} AND expires_at > ${now})
    RETURNING user_id AS "userId"`);
  return rows[0]?.userId;
}

/** Notes that a user is sent a mail of a kind now; false when that was done after `since`, which changes nothing. */
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
 * Keeps a token that sets a password, if the mail that it goes with is still wanted: whatever ends reset tokens also
 * ends the request.
 *
 * @returns whether it was kept
 */
export async function insertResetToken(
  database: Database,
  { hash, userId, expiresAt }: Omit<MailToken, 'purpose'>,
  now: Date,
): Promise<boolean> {
  await database.query(sql`DELETE FROM mail_tokens WHERE user_id = ${userId} AND expires_at < ${now}`);
  // The row is locked, so that an end which is under way comes before or after, and then sees the token.
  const { rowCount } = await database.query(sql`
    WITH asked AS (
      SELECT user_id FROM mail_requests WHERE user_id = ${userId} AND purpose = 'RESET_PASSWORD' FOR SHARE)
    INSERT INTO mail_tokens (hash, user_id, purpose, expires_at)
    SELECT ${hash}, user_id, 'RESET_PASSWORD', ${expiresAt} FROM asked`);
  return rowCount === 1;
}

/** Ends a user's tokens that set a password, those too that are still to be mailed. */
export async function deleteResets(database: Database, userId: number): Promise<void> {
  await database.query(
    sql`DELETE FROM mail_requests WHERE user_id = ${userId} AND purpose = 'RESET_PASSWORD'`,
  );
  await database.query(sql`DELETE FROM mail_tokens WHERE user_id = ${userId} AND purpose = 'RESET_PASSWORD'`);
}

/** Ends a user's tokens for some purposes. */
export async function deleteMailTokens(
  database: Database,
  userId: number,
  purposes: readonly Purpose[],
): Promise<void> {
  await database.query(sql`
    DELETE FROM mail_tokens WHERE user_id = ${userId} AND purpose = ANY (${purposes}::text[])`);
}
