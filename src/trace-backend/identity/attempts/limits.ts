import { hash } from 'node:crypto';
import type pg from 'pg';
import { type Database, transaction } from '../../../platform/database/database.ts';
import { addressBlock } from '../../../platform/http/address.ts';
import { Problem } from '../../../platform/http/problems.ts';
import {
  deleteLoginFailures,
  findLoginFailures,
  forgetLoginFailures,
  hasLoggedInFrom,
  insertLoginAttempt,
  type LoginAttempt,
  lockAttempts,
  noteLoginAddress,
} from './store.ts';

/** How long failures count, in milliseconds. */
const FAILURES_MS = 15 * 60_000;
/** How long an attempt without a result counts, if its process was killed: longer than any attempt takes. */
const UNDECIDED_MS = 60_000;
/** Maximum failures per account from one address, and from all addresses. */
const FROM_ONE_ADDRESS = 10;
const FROM_ANYWHERE = 100;
/** How long an address is familiar after a login of the user, in milliseconds. */
const FAMILIAR_MS = 30 * 24 * 3600_000;
/** Maximum failures per account to prove a second factor, and to repeat the password. */
const WRONG_SECRETS = 10;
/** Other secrets of an account that can be guessed; failures are counted for each. */
const SECRETS = ['code', 'password'] as const;

const accountOf = (name: string) => hash('sha256', name, 'buffer');

/**
 * Records a login attempt, and refuses it after too many failures: from its address, or from all addresses unless the
 * user logged in from this address recently. `decideLoginFailure` makes it a failure. The name entered is stored as its
 * SHA-256, because people type passwords into the wrong field.
 *
 * @param userId of the account; undefined if there is none, which must take the same time
 * @throws Problem too_many_requests
 */
export async function limitLoginAttempts(
  pool: pg.Pool,
  emailKey: string,
  userId: number | undefined,
  ip: string,
): Promise<LoginAttempt> {
  const attempt = { account: accountOf(emailKey), address: addressBlock(ip), at: new Date() };
  const isFamiliar = await hasLoggedInFrom(
    pool,
    userId ?? 0,
    attempt.address,
    new Date(attempt.at.getTime() - FAMILIAR_MS),
  );
  await recordAttempt(pool, attempt, FROM_ONE_ADDRESS, isFamiliar ? undefined : FROM_ANYWHERE);
  return attempt;
}

/**
 * Records an attempt to prove another secret of an account, after the password or the login, and refuses it after too
 * many failures, whatever their addresses.
 *
 * @throws Problem too_many_requests
 */
export async function limitSecretAttempts(
  pool: pg.Pool,
  kind: (typeof SECRETS)[number],
  userId: number,
): Promise<LoginAttempt> {
  const attempt = { account: accountOf(`${kind} ${userId}`), address: '', at: new Date() };
  await recordAttempt(pool, attempt, WRONG_SECRETS, undefined);
  return attempt;
}

/** Records an attempt unless there were too many; concurrent attempts are counted one after another. */
async function recordAttempt(
  pool: pg.Pool,
  attempt: LoginAttempt,
  fromAddress: number,
  fromAnywhere: number | undefined,
): Promise<void> {
  const { account, address, at } = attempt;
  const since = new Date(at.getTime() - FAILURES_MS);
  const times = { since, undecidedSince: new Date(at.getTime() - UNDECIDED_MS) };
  const exceeded = await transaction(pool, async database => {
    await lockAttempts(database, account);
    const fromHere = await findLoginFailures(
      database,
      { account, address },
      { ...times, limit: fromAddress },
    );
    const fromAll =
      fromAnywhere === undefined
        ? []
        : await findLoginFailures(database, { account }, { ...times, limit: fromAnywhere });
    const exceeded = [fromHere[fromAddress - 1], fromAll[(fromAnywhere ?? 0) - 1]].filter(
      first => first !== undefined,
    );
    if (exceeded.length === 0) await insertLoginAttempt(database, attempt, since);
    return exceeded;
  });
  if (exceeded.length === 0) return;
  const retryAt = Math.max(...exceeded.map(first => first.getTime())) + FAILURES_MS;
  const retryAfter = Math.max(1, Math.ceil((retryAt - at.getTime()) / 1000));
  throw new Problem('login.too_many_failures', {}, { retryAfter });
}

/** Deletes all failures of a user, which unlocks the account; returns their number. */
export async function forgetFailures(database: Database, emailKey: string, userId: number): Promise<number> {
  const names = [emailKey, ...SECRETS.map(kind => `${kind} ${userId}`)];
  return forgetLoginFailures(database, names.map(accountOf));
}

/** Records a successful attempt: deletes the failures and remembers the address. */
export async function noteLogin(
  database: Database,
  { account, address, at }: LoginAttempt,
  userId: number,
): Promise<void> {
  await noteLoginAddress(database, { userId, address, at }, new Date(at.getTime() - FAMILIAR_MS));
  await deleteLoginFailures(database, { account, address });
}
