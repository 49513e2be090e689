import { hash } from 'node:crypto';
import type pg from 'pg';
import { type Database, transaction } from '../../../platform/database/database.ts';
import { addressBlock } from '../../../platform/http/address.ts';
import { Problem } from '../../../platform/http/problems.ts';
import {
  deleteLoginFailures,
  findLoginFailures,
  forgetLoginFailures,
  insertLoginAttempt,
  knowsLoginAddress,
  type LoginAttempt,
  lockAttempts,
  noteLoginAddress,
} from './store.ts';

/** How long failures count, in milliseconds. */
const FAILURES_MS = 15 * 60_000;
/** How long an attempt without a result counts: longer than one can take. Its process may have been killed. */
const UNDECIDED_MS = 60_000;
/** Failures for one account from one address, and from all addresses, after which attempts are refused. */
const FROM_ONE_ADDRESS = 10;
const FROM_ANYWHERE = 100;
/** How long an address from which a user logged in is known, in milliseconds. */
const KNOWN_MS = 30 * 24 * 3600_000;
/** Failures to prove a second factor, or to repeat the password, for one account. */
const WRONG_SECRETS = 10;
/** What else of an account can be guessed, each with its own failures. */
const SECRETS = ['code', 'password'] as const;

const accountOf = (name: string) => hash('sha256', name, 'buffer');

/**
 * Records a login attempt, and refuses it after too many failures: from its address, or from all addresses unless the
 * user logged in from this address recently. `decideLoginFailure` makes it a failure. The name entered is stored as its SHA-256, because people type passwords
 * into the wrong field.
 *
 * @param userId of the account; undefined if there is none, which takes the same time
 * @throws Problem too_many_requests
 */
export async function limitLoginAttempts(
  pool: pg.Pool,
  emailKey: string,
  userId: number | undefined,
  ip: string,
): Promise<LoginAttempt> {
  const attempt = { account: accountOf(emailKey), address: addressBlock(ip), at: new Date() };
  const known = await knowsLoginAddress(
    pool,
    userId ?? 0,
    attempt.address,
    new Date(attempt.at.getTime() - KNOWN_MS),
  );
  await recordAttempt(pool, attempt, FROM_ONE_ADDRESS, known ? undefined : FROM_ANYWHERE);
  return attempt;
}

/**
 * Records an attempt to prove another secret of an account, after the password or the login, and refuses it after too
 * many failures from any addresses.
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
  const over = await transaction(pool, async database => {
    await lockAttempts(database, account);
    const here = await findLoginFailures(database, { account, address }, { ...times, limit: fromAddress });
    const all =
      fromAnywhere === undefined
        ? []
        : await findLoginFailures(database, { account }, { ...times, limit: fromAnywhere });
    const over = [here[fromAddress - 1], all[(fromAnywhere ?? 0) - 1]].filter(first => first !== undefined);
    if (over.length === 0) await insertLoginAttempt(database, attempt, since);
    return over;
  });
  if (over.length === 0) return;
  const free = Math.max(...over.map(first => first.getTime())) + FAILURES_MS;
  const retryAfter = Math.max(1, Math.ceil((free - at.getTime()) / 1000));
  throw new Problem('login.too_many_failures', {}, { retryAfter });
}

/** Forgets all failures of a user, so that nothing is refused for them; returns how many there were. */
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
  await noteLoginAddress(database, { userId, address, at }, new Date(at.getTime() - KNOWN_MS));
  await deleteLoginFailures(database, { account, address });
}
