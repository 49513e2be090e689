import { hash, randomBytes } from 'node:crypto';
import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import type pg from 'pg';
import { Problem } from '../../../platform/http/problems.ts';
import { hourly } from '../../../platform/jobs/hourly.ts';
import { forgetJobs } from '../../../platform/jobs/store.ts';
import type { Mailer } from '../../../platform/mail/mail.ts';
import type { PersonalData } from '../../../platform/personal-data/personal-data.ts';
import { transaction } from '../../../platform/postgres/database.ts';
import { audit } from '../../audit/audit.ts';
import { eraseMemberships } from '../../companies/personal-store.ts';
import { expireImagesBy } from '../../images/personal-store.ts';
import { JOBS_SCHEMA } from '../mails/mails.ts';
import { eraseMails } from '../mails/personal-store.ts';
import { deleteSecondFactor } from '../second-factor/store.ts';
import { endSessions } from '../sessions/endings.ts';
import { eraseLogins } from '../sessions/personal-store.ts';
import { hashPassword } from '../users/passwords.ts';
import { anonymise, beginErasure, findErasing, listErasing } from '../users/personal-store.ts';
import { type Account, lockAccount, lockSystemAdmins } from '../users/store.ts';

export interface ErasureContext {
  pool: pg.Pool;
  mailer: Pick<Mailer, 'forget'>;
  /** what the packet service keeps; undefined where its users are not ours */
  elsewhere: PersonalData | undefined;
}

/** Erasures that a process takes up again in one go. */
const BATCH = 100;
/** Before that an erasure may still be under way, in milliseconds. */
const UNDER_WAY_MS = 10 * 60_000;

/**
 * Closes an account that is to be erased: nobody logs in to it from now on, and every session has ended. The caller
 * goes on with `finishErasure`; when that fails, an hourly clean-up does.
 *
 * @param given the account as its password was checked, for a user's own erasure
 * @throws Problem not_found, invalid for the last active SYSTEM_ADMIN
 */
export async function closeAccount(
  pool: pg.Pool,
  request: Pick<FastifyRequest, 'caller' | 'ip'>,
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
    await endSessions(database, userId, { resets: true });
    await audit(database, request, { action: 'ERASE_USER', entity: 'user', entityId: userId });
  });
}

/**
 * Removes what is about the user of a closed account alone, in both services: address and name, mails, contacts,
 * sessions, keys, memberships, files that nothing carries. Packets, shares, products and the audit stay, under the
 * user's number. Safe to repeat; nothing happens when it is done.
 */
export async function finishErasure(
  { pool, mailer, elsewhere }: ErasureContext,
  userId: number,
): Promise<void> {
  const closed = await findErasing(pool, userId);
  if (!closed) return;
  if (await elsewhere?.isHere()) await elsewhere?.erase(String(userId), [closed.emailKey]);
  await mailer.forget(closed.email);
  const password = await hashPassword(randomBytes(32).toString('base64url'));
  const email = `erased-${userId}@erased.invalid`;
  await transaction(pool, async database => {
    await lockAccount(database, userId);
    await eraseMails(database, userId);
    await forgetJobs(database, JOBS_SCHEMA, 'emailKey', [closed.emailKey]);
    await deleteSecondFactor(database, userId);
    await eraseLogins(database, userId, hash('sha256', closed.emailKey, 'buffer'));
    await eraseMemberships(database, userId);
    await expireImagesBy(database, userId);
    await anonymise(database, userId, { email, password, now: new Date() });
  });
}

/** Goes on with erasures that a crash or an error has broken off. */
export async function finishErasures(context: ErasureContext, now: Date): Promise<void> {
  const before = new Date(now.getTime() - UNDER_WAY_MS);
  for (const userId of await listErasing(context.pool, before, BATCH)) await finishErasure(context, userId);
}

/** Does so every hour; returns a function that stops it. */
export function eraseHourly(context: ErasureContext, logger: FastifyBaseLogger): () => void {
  return hourly('erasures of accounts could not be completed', logger, () =>
    finishErasures(context, new Date()),
  );
}
