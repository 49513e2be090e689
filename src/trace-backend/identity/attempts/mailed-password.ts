import type pg from 'pg';
import { findTokenUser, type Purpose } from '../mails/store.ts';
import type { Passwords } from '../users/passwords.ts';
import type { Account } from '../users/store.ts';
import { checkCurrentPassword, wrongPassword } from './current-password.ts';

/**
 * Checks the password that was sent with a mailed token: together they prove that the same person reads the mails and
 * chose the password. The token stays valid.
 *
 * @returns the account; undefined without a password, or if the token is not valid
 * @throws Problem invalid, too_many_requests
 */
export async function checkMailedPassword(
  context: { pool: pg.Pool; passwords: Passwords },
  { hash, purposes }: { hash: Buffer; purposes: readonly Purpose[] },
  password: string | undefined,
): Promise<Account | undefined> {
  if (password === undefined) return undefined;
  const userId = await findTokenUser(context.pool, hash, purposes, new Date());
  return userId === undefined ? undefined : checkCurrentPassword(context, userId, password, 'password');
}

/**
 * Whether the password of an account was checked, for a caller who has locked its row since.
 *
 * @throws Problem invalid if it was changed meanwhile
 */
export function wasChecked(checked: Account | undefined, locked: Account): boolean {
  if (checked === undefined) return false;
  if (checked.id !== locked.id || checked.password !== locked.password) throw wrongPassword('password');
  return true;
}
