import type pg from 'pg';
import { Problem } from '../../../platform/http/problems.ts';
import type { Passwords } from '../users/passwords.ts';
import { type Account, findAccountById } from '../users/store.ts';
import { limitSecretAttempts } from './limits.ts';
import { decideLoginFailure, deleteLoginFailures } from './store.ts';

/**
 * Checks the current password of a logged-in user, for actions for which a stolen cookie must not be enough. Wrong
 * passwords are counted for the account.
 *
 * @param field name of the request field, for the error
 * @returns the account with the checked password
 * @throws Problem invalid, too_many_requests
 */
export async function checkCurrentPassword(
  { pool, passwords }: { pool: pg.Pool; passwords: Passwords },
  userId: number,
  password: string | undefined,
  field = 'currentPassword',
): Promise<Account> {
  const account = await findAccountById(pool, userId);
  if (password === undefined || !account) throw wrongPassword(field);
  const attempt = await limitSecretAttempts(pool, 'password', userId);
  if (!(await passwords.check(account.password, password))) {
    await decideLoginFailure(pool, attempt);
    throw wrongPassword(field);
  }
  await deleteLoginFailures(pool, { account: attempt.account, address: attempt.address });
  return account;
}

export function wrongPassword(field = 'currentPassword'): Problem {
  return new Problem('password.missing_or_wrong', { field });
}
