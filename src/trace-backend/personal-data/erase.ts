import { hash, randomBytes } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import { Problem } from '../../platform/http/problems.ts';
import { hourly } from '../../platform/jobs/hourly.ts';
import { forgetJobs } from '../../platform/jobs/store.ts';
import type { Mailer } from '../../platform/mail/mail.ts';
import type { PersonalData } from '../../platform/personal-data/personal-data.ts';
import { transaction } from '../../platform/postgres/database.ts';
import type { Visitor } from '../access/requester.ts';
import { eraseLogins } from '../accounts/attempts/personal-store.ts';
import { deleteEmailChange, findEmailChange } from '../accounts/email-change/store.ts';
import { JOBS_SCHEMA } from '../accounts/mails/mails.ts';
import { eraseMails } from '../accounts/mails/personal-store.ts';
import { deleteSecondFactor } from '../accounts/second-factor/store.ts';
import { endSessions } from '../accounts/sessions/endings.ts';
import { hashPassword } from '../accounts/users/passwords.ts';
import { anonymise, beginErasure, findErasing, listErasing } from '../accounts/users/personal-store.ts';
import { type Account, lockAccount, lockSystemAdmins } from '../accounts/users/store.ts';
import { audit, PROGRAM } from '../audit/audit.ts';
import { eraseMemberships } from '../companies/personal-store.ts';
import { expireImagesBy } from '../images/personal-store.ts';

export interface ErasureContext {
  pool: pg.Pool;
  mailer: Pick<Mailer, 'forget'>;
  /** what the packet service keeps; undefined where its users are not ours */
  elsewhere: PersonalData | undefined;
}

/** Interrupted erasures that are read at once. */
const BATCH = 100;
/** An erasure younger than this may still be under way, in milliseconds. */
const UNDER_WAY_MS = 10 * 60_000;

/**
 * Closes an account that is to be erased: nobody logs in to it from now on, and every session has ended. The caller
 * continues with `finishErasure`; when that fails, an hourly job does.
 *
 * @param given the account as its password was checked, for a user's own erasure
 * @throws Problem not_found, invalid for the last active SYSTEM_ADMIN
 */
export async function closeAccount(
  pool: pg.Pool,
  visitor: Visitor,
  userId: number,
  given?: Account,
): Promise<void> {
  await transaction(pool, async database => {
    const admins = await lockSystemAdmins(database);
    const user = await lockAccount(database, userId);
    if (!user) throw new Problem('not_found', 'there is no such user');
    if (given && given.password !== user.password) {
      throw new Problem('invalid', 'the password was changed meanwhile; try again');
    }
    if (admins.length === 1 && admins[0]?.id === userId) {
      throw new Problem('invalid', 'this is the last active SYSTEM_ADMIN');
    }
    if (user.erased) return;
    await beginErasure(database, userId, new Date());
    await endSessions(database, userId, { resets: false });
    // A change of address waits until mails to the new address are forgotten too; nobody can confirm it any more.
    await eraseMails(database, userId);
    // The line about one's own erasure holds no address: nothing but the number is left of the user.
    const by = visitor.caller?.id === userId ? { ...PROGRAM, caller: visitor.caller } : visitor;
    await audit(database, by, { action: 'ERASE_USER', entity: 'user', entityId: userId });
  });
}

/**
 * Removes what is about the user of a closed account alone, in both services: address and name, mails, contacts,
 * sessions, keys, memberships, files that nothing carries. Packets, shares, products and the audit stay, under the
 * user's number. Safe to repeat.
 *
 * @returns whether what the packet service keeps is erased, too; false where it keeps its data elsewhere
 */
export async function finishErasure(
  { pool, mailer, elsewhere }: ErasureContext,
  userId: number,
): Promise<boolean> {
  const isHere = (await elsewhere?.isHere()) === true;
  const closed = await findErasing(pool, userId);
  if (!closed) return isHere;
  if (isHere) await elsewhere?.erase(String(userId), [closed.emailKey]);
  // Expired or not.
  const change = await findEmailChange(pool, userId, new Date(0));
  await mailer.forget([closed.email, ...(change ? [change.email] : [])]);
  const password = await hashPassword(randomBytes(32).toString('base64url'));
  // Not to be guessed: nobody can register the address beforehand.
  const email = `erased-${userId}-${randomBytes(16).toString('hex')}@erased.invalid`;
  await transaction(pool, async database => {
    await lockAccount(database, userId);
    await eraseMails(database, userId);
    await deleteEmailChange(database, userId);
    await forgetJobs(database, JOBS_SCHEMA, 'emailKey', closed.emailKey);
    await deleteSecondFactor(database, userId);
    await eraseLogins(database, userId, hash('sha256', closed.emailKey, 'buffer'));
    await eraseMemberships(database, userId);
    await expireImagesBy(database, userId);
    await anonymise(database, userId, { email, password, now: new Date() });
  });
  return isHere;
}

/**
 * Continues erasures that a crash or an error interrupted. One that fails again does not keep the others from ending.
 *
 * @throws AggregateError with what failed
 */
export async function finishErasures(context: ErasureContext, now: Date): Promise<void> {
  const before = new Date(now.getTime() - UNDER_WAY_MS);
  const failures: unknown[] = [];
  for (let after = 0; ; ) {
    const userIds = await listErasing(context.pool, { before, after, limit: BATCH });
    for (const userId of userIds) {
      await finishErasure(context, userId).catch(error => failures.push(error));
    }
    if (userIds.length < BATCH) break;
    after = userIds.at(-1) as number;
  }
  if (failures.length > 0)
    throw new AggregateError(failures, `${failures.length} accounts could not be erased`);
}

/** Calls `finishErasures` every hour; returns a function that stops it. */
export function eraseHourly(context: ErasureContext, logger: FastifyBaseLogger): () => void {
  return hourly('erasures of accounts could not be completed', logger, () =>
    finishErasures(context, new Date()),
  );
}
