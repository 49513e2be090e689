import type pg from 'pg';
import type { Static } from 'typebox';
import { type Database, transaction } from '../../../platform/database/database.ts';
import { errorCode } from '../../../platform/database/troubles.ts';
import { Problem } from '../../../platform/http/problems.ts';
import { secretHash } from '../../../platform/tokens/secret.ts';
import type { SecretBox } from '../../../platform/tokens/secret-box.ts';
import type { Requester, Visitor } from '../../base/access/requester.ts';
import { audit } from '../../base/audit/audit.ts';
import { checkCurrentPassword } from '../attempts/current-password.ts';
import { checkMailedPassword, wasChecked } from '../attempts/mailed-password.ts';
import type { Side } from '../mails/mail-jobs.ts';
import type { Mails } from '../mails/mails.ts';
import { deleteMailTokens, deleteResets, noteMailRequest, takeMailToken } from '../mails/store.ts';
import { checkFreshCode } from '../second-factor/factor.ts';
import { checkEmail, NO_MAILBOX } from '../users/email.ts';
import type { Passwords } from '../users/passwords.ts';
import type { Confirmation } from '../users/schemas.ts';
import { type Account, lockAccount, updateEmail } from '../users/store.ts';
import { confirmSide, deleteEmailChange, type EmailChange, putEmailChange } from './store.ts';

export interface EmailChangeContext {
  pool: pg.Pool;
  passwords: Passwords;
  box: SecretBox;
  mails: Mails;
}

/** Time to confirm a change, in milliseconds. */
const CHANGE_MS = 72 * 3600_000;
/** Minimum time between two requests of a user, in milliseconds, because each sends a mail to an arbitrary address. */
const PAUSE_MS = 5 * 60_000;
/** SQLSTATE (PostgreSQL, appendix A). */
const UNIQUE_VIOLATION = '23505';
const PURPOSES = { old: 'CHANGE_EMAIL_OLD', new: 'CHANGE_EMAIL_NEW' } as const;

/**
 * Sends confirmation mails to the caller's current and new address; only to the new one if the current one has no
 * mailbox. A new address that belongs to another user gets no mail, which the caller cannot notice.
 *
 * @throws Problem invalid, too_many_requests; unauthenticated without the code of a second factor
 */
export async function requestEmailChange(
  { pool, passwords, box, mails }: EmailChangeContext,
  requester: Requester,
  { email, currentPassword, code }: { email: string; currentPassword: string; code?: string | undefined },
): Promise<void> {
  const { id } = requester.caller;
  const address = checkEmail(email, 'email');
  await checkCurrentPassword({ pool, passwords }, id, currentPassword);
  await checkFreshCode({ pool, box }, id, code);
  await transaction(pool, async database => {
    const user = await lockAccount(database, id);
    if (user?.email === address.email)
      throw new Problem('email_change.address_unchanged', { field: 'email' });
    const now = new Date();
    const mailRequest = { userId: id, purpose: 'CHANGE_EMAIL' } as const;
    if (!(await noteMailRequest(database, mailRequest, now, new Date(now.getTime() - PAUSE_MS)))) {
      throw new Problem('email_change.requested_just_now', {}, { retryAfter: PAUSE_MS / 1000 });
    }
    const changeId = crypto.randomUUID();
    await forgetChange(database, id);
    await putEmailChange(database, {
      changeId,
      userId: id,
      ...address,
      oldConfirmedAt: user?.email === NO_MAILBOX ? now : null,
      expiresAt: new Date(now.getTime() + CHANGE_MS),
    });
    const sides = user?.email === NO_MAILBOX ? (['new'] as const) : (['old', 'new'] as const);
    await mails.send(
      database,
      sides.map(side => ({ kind: 'change-email', to: id, changeId, side })),
    );
    await audit(database, requester, { action: 'REQUEST_EMAIL_CHANGE', entity: 'user', entityId: id });
  });
  mails.wake();
}

/** Deletes a pending change and its mailed tokens; returns false if there is none. */
export async function forgetChange(database: Database, userId: number): Promise<boolean> {
  const found = await deleteEmailChange(database, userId);
  await deleteMailTokens(database, userId, Object.values(PURPOSES));
  return found;
}

/**
 * Confirms one of the two addresses by the token that was mailed to it. The second confirmation makes the change. The new
 * address counts as confirmed by its owner only together with the password: the user may have entered another person's.
 *
 * @returns whether the change was made
 * @throws Problem invalid, too_many_requests
 */
export async function confirmEmailChange(
  context: EmailChangeContext,
  visitor: Visitor,
  { token, password }: Static<typeof Confirmation>,
): Promise<boolean> {
  const hash = secretHash(token);
  const checked = await checkMailedPassword(context, { hash, purposes: Object.values(PURPOSES) }, password);
  const change = transaction(context.pool, async database => {
    const now = new Date();
    const found = await takeEitherToken(database, hash, now);
    const user = found && (await lockAccount(database, found.userId));
    const isProven = user !== undefined && found?.side === 'new' && wasChecked(checked, user);
    const change = found && (await confirmSide(database, found.userId, found.side, { now, isProven }));
    if (!user || !change || user.status !== 'ACTIVE') {
      throw new Problem('email_change.token_unusable', { field: 'token' });
    }
    if (!change.oldConfirmedAt || !change.newConfirmedAt) return false;
    await complete(database, visitor, user, change);
    return true;
  });
  return change.catch(error => {
    throw errorCode(error) === UNIQUE_VIOLATION ? addressRegistered() : error;
  });
}

function addressRegistered(): Problem {
  return new Problem('user.address_registered');
}

async function takeEitherToken(
  database: Database,
  hash: Buffer,
  now: Date,
): Promise<{ userId: number; side: Side } | undefined> {
  for (const side of ['old', 'new'] as const) {
    const token = await takeMailToken(database, hash, PURPOSES[side], now);
    if (token) return { userId: token.userId, side };
  }
  return undefined;
}

/** Tokens mailed to the old address become invalid. */
async function complete(
  database: Database,
  visitor: Visitor,
  { id }: Account,
  { email, emailKey, isProven, newConfirmedAt }: EmailChange,
): Promise<void> {
  const confirmedAt = isProven ? newConfirmedAt : null;
  if (!(await updateEmail(database, id, { email, emailKey, confirmedAt }))) {
    throw addressRegistered();
  }
  await forgetChange(database, id);
  await deleteResets(database, id);
  await deleteMailTokens(database, id, ['CONFIRM_EMAIL']);
  const details = isProven ? { byOwner: true } : {};
  await audit(database, visitor, {
    action: 'CHANGE_EMAIL',
    entity: 'user',
    entityId: id,
    userId: id,
    details,
  });
}
