import { hash, randomBytes } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import { transaction } from '../../platform/database/database.ts';
import { Problem } from '../../platform/http/problems.ts';
import { hourly } from '../../platform/jobs/hourly.ts';
import { forgetJobs } from '../../platform/jobs/store.ts';
import type { Mailer } from '../../platform/mail/mail.ts';
import type { PersonalData } from '../../platform/personal-data/personal-data.ts';
import type { Visitor } from '../base/access/requester.ts';
import { audit, PROGRAM } from '../base/audit/audit.ts';
import { eraseMemberships } from '../catalogue/companies/members/personal-store.ts';
import { expireImagesBy } from '../catalogue/images/personal-store.ts';
import { deleteApiKeys } from '../identity/api-keys/store.ts';
import { eraseLogins } from '../identity/attempts/personal-store.ts';
import { deleteEmailChange, findEmailChange } from '../identity/email-change/store.ts';
import { JOBS_SCHEMA } from '../identity/mails/mails.ts';
import { eraseMails } from '../identity/mails/personal-store.ts';
import { deleteSecondFactor } from '../identity/second-factor/store.ts';
import { endSessions } from '../identity/sessions/endings.ts';
import type { Passwords } from '../identity/users/passwords.ts';
import { anonymise, beginErasure, findErasing, listErasing } from '../identity/users/personal-store.ts';
import { type Account, lockAccount, lockSystemAdmins } from '../identity/users/store.ts';
import { eraseFeedbackFrom } from '../public/feedback/personal-store.ts';

export interface ErasureContext {
  pool: pg.Pool;
  passwords: Passwords;
  mailer: Pick<Mailer, 'forget' | 'forgetNaming'>;
  /** the packet service's personal data; undefined if it has another user registry */
  packetServiceData: PersonalData | undefined;
}

/** Interrupted erasures per query. */
const BATCH = 100;
/** Erasures younger than this may still be in progress, in milliseconds. */
const IN_PROGRESS_MS = 10 * 60_000;

/**
 * Closes an account for erasure: logins are refused, and every session has ended. The caller continues with
 * `finishErasure`; if that fails, an hourly job does.
 *
 * @param checkedAccount the account as it was when its password was checked, if users erase themselves
 * @throws Problem not_found, invalid for the last active SYSTEM_ADMIN
 */
export async function closeAccount(
  pool: pg.Pool,
  visitor: Visitor,
  userId: number,
  checkedAccount?: Account,
): Promise<void> {
  await transaction(pool, async database => {
    const admins = await lockSystemAdmins(database);
    const user = await lockAccount(database, userId);
    if (!user) throw new Problem('user.unknown');
    if (checkedAccount && checkedAccount.password !== user.password) {
      throw new Problem('password.changed_meanwhile');
    }
    if (admins.length === 1 && admins[0]?.id === userId) {
      throw new Problem('user.last_system_admin');
    }
    if (user.erased) return;
    await beginErasure(database, userId, new Date());
    await endSessions(database, userId, { resets: false });
    await deleteApiKeys(database, userId);
    // A change of address waits until mails to the new address are forgotten too; nobody can confirm it any more.
    await eraseMails(database, userId);
    // The audit entry of one's own erasure has no address: only the user's number remains.
    const actor = visitor.caller?.id === userId ? { ...PROGRAM, caller: visitor.caller } : visitor;
    await audit(database, actor, { action: 'ERASE_USER', entity: 'user', entityId: userId });
  });
}

/**
 * Removes the personal data of a closed account in both services: address and name, mails, contacts, sessions, keys,
 * memberships, orphaned files. Packets, shares, products and the audit stay, under the user's number. Invitations and
 * shares that wait for an unconfirmed address stay, too: they may be for another person. Idempotent.
 *
 * @returns whether the packet service's data was erased too; false if it uses another database
 */
export async function finishErasure(
  { pool, passwords, mailer, packetServiceData }: ErasureContext,
  userId: number,
): Promise<boolean> {
  const isHere = (await packetServiceData?.isHere()) === true;
  const closed = await findErasing(pool, userId);
  if (!closed) return isHere;
  const ownKey = closed.emailConfirmed ? closed.emailKey : undefined;
  if (isHere) await packetServiceData?.erase(String(userId), ownKey === undefined ? [] : [ownKey]);
  // Expired or not.
  const change = await findEmailChange(pool, userId, new Date(0));
  await mailer.forget([closed.email, ...(change ? [change.email] : [])]);
  await mailer.forgetNaming(String(userId));
  const password = await passwords.hash(randomBytes(32).toString('base64url'));
  // Random, so that nobody can register the address beforehand.
  const email = `erased-${userId}-${randomBytes(16).toString('hex')}@erased.invalid`;
  await transaction(pool, async database => {
    await lockAccount(database, userId);
    await eraseMails(database, userId);
    await deleteEmailChange(database, userId);
    if (ownKey !== undefined) await forgetJobs(database, JOBS_SCHEMA, 'emailKey', ownKey);
    await deleteSecondFactor(database, userId);
    await eraseLogins(database, userId, hash('sha256', closed.emailKey, 'buffer'));
    await eraseMemberships(database, userId, ownKey);
    if (closed.emailConfirmed) await eraseFeedbackFrom(database, closed.email);
    await expireImagesBy(database, userId);
    await anonymise(database, userId, { email, password, now: new Date() });
  });
  return isHere;
}

/**
 * Continues interrupted erasures. A failure of one does not stop the others.
 *
 * @throws AggregateError with the errors
 */
export async function finishErasures(context: ErasureContext, now: Date): Promise<void> {
  const before = new Date(now.getTime() - IN_PROGRESS_MS);
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
