import sql from 'sql-template-tag';
import type { Database } from '../../../platform/postgres/database.ts';
import { HASHED_LOCKS } from '../../../platform/postgres/locks/advisory-locks.ts';

/** One attempt to log in to an account from an address. */
export interface LoginAttempt {
  /** SHA-256 of what names the account */
  account: Buffer;
  address: string;
  at: Date;
}

/** Waits until no other transaction counts the attempts of this account. */
export async function lockAttempts(database: Database, account: Buffer): Promise<void> {
  const name = HASHED_LOCKS.attempts + account.toString('hex');
  await database.query(sql`SELECT pg_advisory_xact_lock(hashtextextended(${name}, 0))`);
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

/** When the last failures of an account were, the newest first: from one address, or from anywhere. */
export async function findLoginFailures(
  database: Database,
  { account, address }: { account: Buffer; address?: string },
  since: Date,
  limit: number,
): Promise<Date[]> {
  const { rows } = await database.query<{ at: Date }>(sql`
    SELECT at FROM login_failures
    WHERE account = ${account} AND (${address}::text IS NULL OR address = ${address}) AND at >= ${since}
    ORDER BY at DESC LIMIT ${limit}`);
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

/** Whether a user logged in from an address since then. */
export async function knowsLoginAddress(
  database: Database,
  userId: number,
  address: string,
  since: Date,
): Promise<boolean> {
  const { rowCount } = await database.query(sql`
    SELECT 1 FROM login_addresses WHERE user_id = ${userId} AND address = ${address} AND at >= ${since}`);
  return rowCount === 1;
}

/** Notes that a user logs in from an address; the user's addresses of before `forgetBefore` are forgotten. */
export async function noteLoginAddress(
  database: Database,
  { userId, address, at }: { userId: number; address: string; at: Date },
  forgetBefore: Date,
): Promise<void> {
  await database.query(sql`DELETE FROM login_addresses WHERE user_id = ${userId} AND at < ${forgetBefore}`);
  await database.query(sql`
    INSERT INTO login_addresses (user_id, address, at) VALUES (${userId}, ${address}, ${at})
    ON CONFLICT (user_id, address) DO UPDATE SET at = greatest(login_addresses.at, excluded.at)`);
}
