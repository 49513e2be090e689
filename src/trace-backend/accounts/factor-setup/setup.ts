import type pg from 'pg';
import { Problem } from '../../../platform/http/problems.ts';
import { type Database, transaction } from '../../../platform/postgres/database.ts';
import type { SecretBox } from '../../../platform/tokens/secret-box.ts';
import type { Requester } from '../../access/requester.ts';
import { audit } from '../../audit/audit.ts';
import { checkCurrentPassword } from '../attempts/current-password.ts';
import type { Mails } from '../mails/mails.ts';
import {
  newFactorSecret,
  newRecoveryCodes,
  proveFactor,
  requiredFactor,
  sealFactor,
} from '../second-factor/factor.ts';
import type { Requirement } from '../second-factor/requirement.ts';
import {
  confirmFactor,
  deleteSecondFactor,
  findSecondFactor,
  putRecoveryCodes,
  putUnconfirmed,
} from '../second-factor/store.ts';
import { base32, keyUri } from '../second-factor/totp.ts';
import { setSecondFactor } from '../sessions/store.ts';
import { lockAccount } from '../users/store.ts';

export interface FactorContext {
  pool: pg.Pool;
  box: SecretBox;
  mails: Mails;
  requirement: Requirement;
}

const ISSUER = 'fieldtrace';

/**
 * Makes the secret of a second factor, which counts once a code of it was shown.
 *
 * @throws Problem invalid, too_many_requests
 */
export async function beginFactor(
  { pool, box }: FactorContext,
  requester: Requester,
  currentPassword: string,
): Promise<{ secret: string; uri: string }> {
  const { id } = requester.caller;
  const { email } = await checkCurrentPassword(pool, id, currentPassword);
  const secret = newFactorSecret();
  if (!(await putUnconfirmed(pool, id, sealFactor(box, id, secret)))) {
    throw new Problem('invalid', 'there is a second factor already; remove it first');
  }
  return { secret: base32(secret), uri: keyUri(secret, ISSUER, email) };
}

/**
 * Has the second factor count, once a code shows that the device has it. This session counts as proven from now on.
 *
 * @returns the recovery codes, which are shown once
 * @throws Problem invalid, too_many_requests
 */
export async function confirmNewFactor(
  context: FactorContext,
  requester: Requester,
  code: string,
): Promise<string[]> {
  const { pool, mails } = context;
  const { id, sessionId } = requester.caller;
  const factor = await findSecondFactor(pool, id);
  if (!factor || factor.confirmed) throw new Problem('invalid', 'no second factor waits to be confirmed');
  if (!(await proveFactor(context, factor, code))) throw wrongCode();
  const { codes, hashes } = newRecoveryCodes();
  await transaction(pool, async database => {
    await confirmFactor(database, id, new Date());
    await putRecoveryCodes(database, id, hashes);
    await setSecondFactor(database, id, { sessionId, proven: true });
    await note(database, requester, 'SET_SECOND_FACTOR');
    await mails.send(database, [{ kind: 'second-factor-on', to: id }]);
  });
  mails.wake();
  return codes;
}

/**
 * Makes other recovery codes; the ones before end.
 *
 * @throws Problem invalid, too_many_requests
 */
export async function renewRecoveryCodes(
  context: FactorContext,
  requester: Requester,
  proof: Proof,
): Promise<string[]> {
  const { id } = requester.caller;
  await checkProof(context, id, proof);
  const { codes, hashes } = newRecoveryCodes();
  await transaction(context.pool, async database => {
    await putRecoveryCodes(database, id, hashes);
    await note(database, requester, 'RENEW_RECOVERY_CODES');
  });
  return codes;
}

/**
 * Removes the caller's second factor.
 *
 * @throws Problem invalid, too_many_requests
 */
export async function removeFactor(
  context: FactorContext,
  requester: Requester,
  proof: Proof,
): Promise<void> {
  const { pool, mails, requirement } = context;
  const { id, role } = requester.caller;
  if (requirement.needs(role)) throw new Problem('invalid', `a ${role} needs a second factor here`);
  await checkProof(context, id, proof);
  await transaction(pool, async database => {
    await lockAccount(database, id);
    await forgetFactor(database, mails, id);
    await note(database, requester, 'REMOVE_SECOND_FACTOR');
  });
  mails.wake();
}

/** Forgets a user's second factor and tells the user by mail; nothing happens where there is none. */
export async function forgetFactor(database: Database, mails: Mails, userId: number): Promise<boolean> {
  if (!(await deleteSecondFactor(database, userId))) return false;
  await setSecondFactor(database, userId, { proven: false });
  await mails.send(database, [{ kind: 'second-factor-off', to: userId }]);
  return true;
}

export interface Proof {
  currentPassword: string;
  code: string;
}

async function checkProof(context: FactorContext, userId: number, proof: Proof): Promise<void> {
  await checkCurrentPassword(context.pool, userId, proof.currentPassword);
  const factor = await requiredFactor(context.pool, userId);
  if (!factor) throw new Problem('invalid', 'there is no second factor');
  if (!(await proveFactor(context, factor, proof.code))) throw wrongCode();
}

function wrongCode(): Problem {
  const sentence = 'code is not one of the second factor, or was used before';
  return new Problem('invalid', sentence, { fields: { code: sentence } });
}

async function note(database: Database, requester: Requester, action: string): Promise<void> {
  await audit(database, requester, { action, entity: 'user', entityId: requester.caller.id });
}
