import type pg from 'pg';
import { Problem } from '../../../platform/http/problems.ts';
import { type Database, transaction } from '../../../platform/postgres/database.ts';
import { errorCode } from '../../../platform/postgres/troubles.ts';
import { secretHash } from '../../../platform/tokens/secret.ts';
import type { Requester, Visitor } from '../../access/requester.ts';
import { audit } from '../../audit/audit.ts';
import { checkCurrentPassword } from '../attempts/current-password.ts';
import type { Mails, Side } from '../mails/mails.ts';
import { deleteMailTokens, deleteResets, noteMailRequest, takeMailToken } from '../mails/store.ts';
import { checkEmail } from '../users/email.ts';
import { type Account, lockAccount, updateEmail } from '../users/store.ts';
import { confirmSide, deleteEmailChange, type EmailChange, putEmailChange } from './store.ts';

export interface EmailChangeContext {
  pool: pg.Pool;
  mails: Mails;
}

/** A change must be confirmed within this time, in milliseconds. */
const CHANGE_MS = 72 * 3600_000;
/** A user may ask for one once in this time, in milliseconds: each sends a mail to an address of anybody's. */
const PAUSE_MS = 5 * 60_000;
/** PostgreSQL's appendix A. */
const UNIQUE_VIOLATION = '23505';
const PURPOSES = { old: 'CHANGE_EMAIL_OLD', new: 'CHANGE_EMAIL_NEW' } as const;

/**
 * Asks both the present and the new address of the caller whether the change is wanted. A new address that belongs to
 * another user gets no mail, which the caller does not learn.
 *
 * @throws Problem invalid, too_many_requests
 */
export async function requestEmailChange(
  { pool, mails }: EmailChangeContext,
  requester: Requester,
  { email, currentPassword }: { email: string; currentPassword: string },
): Promise<void> {
  const { id } = requester.caller;
  const address = checkEmail(email, 'email');
  await checkCurrentPassword(pool, id, currentPassword);
  await transaction(pool, async database => {
    const user = await lockAccount(database, id);
    if (user?.email === address.email) throw refused('email', 'email is the address already');
    const now = new Date();
    const asked = { userId: id, purpose: 'CHANGE_EMAIL' } as const;
    if (!(await noteMailRequest(database, asked, now, new Date(now.getTime() - PAUSE_MS)))) {
      throw new Problem('too_many_requests', 'a change was asked for just now; try again later', {
        retryAfter: PAUSE_MS / 1000,
      });
    }
    const changeId = crypto.randomUUID();
    await forgetChange(database, id);
    await putEmailChange(database, {
      ...{ changeId, userId: id, ...address },
      expiresAt: new Date(now.getTime() + CHANGE_MS),
    });
    await mails.send(
      database,
      (['old', 'new'] as const).map(side => ({ kind: 'change-email', to: id, changeId, side })),
    );
    await audit(database, requester, { action: 'REQUEST_EMAIL_CHANGE', entity: 'user', entityId: id });
  });
  mails.wake();
}

/** Forgets a change that waits, and the tokens that were mailed for it; false when there is none. */
export async function forgetChange(database: Database, userId: number): Promise<boolean> {
  const found = await deleteEmailChange(database, userId);
  await deleteMailTokens(database, userId, Object.values(PURPOSES));
  return found;
}

/**
 * Confirms one of the two addresses by the token that was mailed to it. The second one makes the change.
 *
 * @returns whether the change is made now
 * @throws Problem invalid
 */
export async function confirmEmailChange(
  { pool }: EmailChangeContext,
  visitor: Visitor,
  token: string,
): Promise<boolean> {
  const change = transaction(pool, async database => {
    const now = new Date();
    const taken = await takeEither(database, secretHash(token), now);
    const user = taken && (await lockAccount(database, taken.userId));
    const change = taken && (await confirmSide(database, taken.userId, taken.side, now));
    if (!user || !change || user.status !== 'ACTIVE') {
      throw refused('token', 'token is unknown, used or older than 72 hours; ask for the change again');
    }
    if (!change.oldConfirmedAt || !change.newConfirmedAt) return false;
    await complete(database, visitor, user, change);
    return true;
  });
  return change.catch(error => {
    throw errorCode(error) === UNIQUE_VIOLATION ? takenMeanwhile() : error;
  });
}

function takenMeanwhile(): Problem {
  return new Problem('invalid', 'this address is registered already');
}

async function takeEither(
  database: Database,
  hash: Buffer,
  now: Date,
): Promise<{ userId: number; side: Side } | undefined> {
  for (const side of ['old', 'new'] as const) {
    const userId = await takeMailToken(database, hash, PURPOSES[side], now);
    if (userId !== undefined) return { userId, side };
  }
  return undefined;
}

/** What was mailed to the old address to set a password by counts no more. */
async function complete(
  database: Database,
  visitor: Visitor,
  { id }: Account,
  { email, emailKey }: EmailChange,
): Promise<void> {
  if (!(await updateEmail(database, id, { email, emailKey }))) {
    throw takenMeanwhile();
  }
  await forgetChange(database, id);
  await deleteResets(database, id);
  await audit(database, visitor, { action: 'CHANGE_EMAIL', entity: 'user', entityId: id, userId: id });
}

function refused(field: string, sentence: string): Problem {
  return new Problem('invalid', sentence, { fields: { [field]: sentence } });
}
