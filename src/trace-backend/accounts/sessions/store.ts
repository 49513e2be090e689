import sql from 'sql-template-tag';
import type { Database } from '../../../platform/postgres/database.ts';

export interface RefreshToken {
  hash: Buffer;
  userId: number;
  sessionVersion: number;
  expiresAt: Date;
}

/** Keeps a token; those of the same user that have ended are forgotten. */
export async function insertRefreshToken(
  database: Database,
  { hash, userId, sessionVersion, expiresAt }: RefreshToken,
  now: Date,
): Promise<void> {
  await database.query(sql`
    DELETE FROM refresh_tokens
    WHERE user_id = ${userId} AND (expires_at < ${now} OR session_version < ${sessionVersion})`);
  await database.query(sql`
    INSERT INTO refresh_tokens (hash, user_id, session_version, expires_at)
    VALUES (${hash}, ${userId}, ${sessionVersion}, ${expiresAt})`);
}

/** Marks a token used; gives what it was before, or undefined when there is none. */
export async function useRefreshToken(
  database: Database,
  hash: Buffer,
  now: Date,
): Promise<(RefreshToken & { usedAt: Date | null }) | undefined> {
  const { rows } = await database.query<RefreshToken & { usedAt: Date | null }>(sql`
    SELECT hash, user_id AS "userId", session_version AS "sessionVersion", expires_at AS "expiresAt",
      used_at AS "usedAt"
    FROM refresh_tokens WHERE hash = ${hash} FOR UPDATE`);
  if (rows[0] && !rows[0].usedAt) {
    await database.query(sql`UPDATE refresh_tokens SET used_at = ${now} WHERE hash = ${hash}`);
  }
  return rows[0];
}

/** One attempt to log in to an account from an address. */
export interface LoginAttempt {
  account: Buffer;
  address: string;
  at: Date;
}

/** Notes an attempt as failed, before it is known to be: those that come at once count each other. */
export async function insertLoginFailure(
  database: Database,
  { account, address, at }: LoginAttempt,
  forgetBefore: Date,
): Promise<void> {
  await database.query(sql`DELETE FROM login_failures WHERE at < ${forgetBefore}`);
  await database.query(sql`
    INSERT INTO login_failures (account, address, at) VALUES (${account}, ${address}, ${at})`);
}

/** When the failures of an account from an address were, oldest first. */
export async function findLoginFailures(
  database: Database,
  { account, address }: Omit<LoginAttempt, 'at'>,
  since: Date,
): Promise<Date[]> {
  const { rows } = await database.query<{ at: Date }>(sql`
    SELECT at FROM login_failures WHERE account = ${account} AND address = ${address} AND at >= ${since}
    ORDER BY at`);
  return rows.map(({ at }) => at);
}

/** Forgets one attempt, or every one of an account from an address. */
export async function deleteLoginFailures(
  database: Database,
  { account, address, at }: Omit<LoginAttempt, 'at'> & { at?: Date },
): Promise<void> {
  await database.query(sql`
    DELETE FROM login_failures
    WHERE account = ${account} AND address = ${address} AND at = coalesce(${at}, at)`);
}
