import sql from 'sql-template-tag';
import { type Database, execute } from '../../../platform/database/database.ts';
import { HASHED_LOCKS } from '../../../platform/database/locks/advisory-locks.ts';

/** One attempt to log in to an account from an address. */
export interface LoginAttempt {
  /** SHA-256 of the account's name */
  account: Buffer;
  address: string;
  at: Date;
}

/** Locks the attempts of an account until the end of the transaction. */
export async function lockAttempts(database: Database, account: Buffer): Promise<void> {
  const name = HASHED_LOCKS.attempts + account.toString('hex');
  await database.query(sql`SELECT pg_advisory_xact_lock(hashtextextended(${name}, 0))`);
}

/** Records an attempt before its result is known, so that concurrent attempts count each other. */
export async function insertLoginAttempt(
  database: Database,
  { account, address, at }: LoginAttempt,
  forgetBefore: Date,
): Promise<void> {
  await execute(database, sql`DELETE FROM login_failures WHERE at < ${forgetBefore}`);
  await execute(
    database,
    sql`
    INSERT INTO login_failures (account, address, at, decided) VALUES (${account}, ${address}, ${at}, false)`,
  );
}

/** Records that an attempt failed. */
export async function decideLoginFailure(
  database: Database,
  { account, address, at }: LoginAttempt,
): Promise<void> {
  await execute(
    database,
    sql`
    UPDATE login_failures SET decided = true WHERE account = ${account} AND address = ${address} AND at = ${at}`,
  );
}

/**
 * The times of the last failures of an account, newest first: from one address, or from all.
 *
 * @param undecidedSince attempts without a result count from this time on
 */
export async function findLoginFailures(
  database: Database,
  { account, address }: { account: Buffer; address?: string },
  { since, undecidedSince, limit }: { since: Date; undecidedSince: Date; limit: number },
): Promise<Date[]> {
  const { rows } = await database.query<{ at: Date }>(sql`
    SELECT at FROM login_failures
    WHERE account = ${account} AND (${address}::text IS NULL OR address = ${address})
      AND at >= ${since} AND (decided OR at >= ${undecidedSince})
    ORDER BY at DESC LIMIT ${limit}`);
  return rows.map(({ at }) => at);
}

/** Deletes one attempt, or all of an account from an address. */
export async function deleteLoginFailures(
  database: Database,
  { account, address, at }: Omit<LoginAttempt, 'at'> & { at?: Date },
): Promise<void> {
  await execute(
    database,
    sql`
    DELETE FROM login_failures
    WHERE account = ${account} AND address = ${address} AND at = coalesce(${at}, at)`,
  );
}

/** Deletes the failures of accounts from all addresses; returns their number. */
export async function forgetLoginFailures(database: Database, accounts: readonly Buffer[]): Promise<number> {
  const { rowCount } = await database.query(
    sql`DELETE FROM login_failures WHERE account = ANY (${accounts})`,
  );
  return rowCount ?? 0;
}

/** Whether a user has logged in from an address since a time. */
export async function hasLoggedInFrom(
  database: Database,
  userId: number,
  address: string,
  since: Date,
): Promise<boolean> {
  const { rowCount } = await database.query(sql`
    SELECT 1 FROM login_addresses WHERE user_id = ${userId} AND address = ${address} AND at >= ${since}`);
  return rowCount === 1;
}

/** Records a login of a user from an address; deletes the user's addresses from before `forgetBefore`. */
export async function noteLoginAddress(
  database: Database,
  { userId, address, at }: { userId: number; address: string; at: Date },
  forgetBefore: Date,
): Promise<void> {
  await execute(
    database,
    sql`DELETE FROM login_addresses WHERE user_id = ${userId} AND at < ${forgetBefore}`,
  );
  await execute(
    database,
    sql`
    INSERT INTO login_addresses (user_id, address, at) VALUES (${userId}, ${address}, ${at})
    ON CONFLICT (user_id, address) DO UPDATE SET at = greatest(login_addresses.at, excluded.at)`,
  );
}
