import type pg from 'pg';
import sql from 'sql-template-tag';
import { type Database, execute } from '../../../platform/database/database.ts';

/** The addresses from which a user recently logged in. */
export function loginAddressesOf(userId: number): pg.QueryConfig {
  return sql`SELECT address, at FROM login_addresses WHERE user_id = ${userId} ORDER BY at`;
}

/**
 * The times of failed logins, without the addresses, which may be other people's.
 *
 * @param account SHA-256 of the account's name
 */
export function loginFailuresOf(account: Buffer): pg.QueryConfig {
  return sql`SELECT at FROM login_failures WHERE account = ${account} ORDER BY at`;
}

/** Deletes a user's login addresses and failures. */
export async function eraseLogins(database: Database, userId: number, account: Buffer): Promise<void> {
  await execute(database, sql`DELETE FROM login_addresses WHERE user_id = ${userId}`);
  await execute(database, sql`DELETE FROM login_failures WHERE account = ${account}`);
}
