import type pg from 'pg';
import { type Database, transaction } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { SecretBox } from '../../../platform/tokens/secret-box.ts';
import { sessionIdOf } from '../../base/access/authentication.ts';
import type { Requester } from '../../base/access/requester.ts';
import type { AuditAction } from '../../base/audit/actions.ts';
import { audit } from '../../base/audit/audit.ts';
import { deleteApiKeys, forgetFactorOfKeys } from '../api-keys/store.ts';
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
import type { Endings } from '../sessions/endings.ts';
import { deleteOtherSessions, setSecondFactor } from '../sessions/store.ts';
import type { Passwords } from '../users/passwords.ts';
import { lockAccount } from '../users/store.ts';

export interface FactorContext {
  pool: pg.Pool;
  passwords: Passwords;
  box: SecretBox;
  mails: Mails;
  requirement: Requirement;
  endings: Endings;
}

const ISSUER = 'fieldtrace';

/**
 * Creates the secret of a second factor, which is effective once confirmed by a code.
 *
 * @throws Problem invalid, too_many_requests
 */
export async function beginFactor(
  { pool, passwords, box }: FactorContext,
  requester: Requester,
  currentPassword: string,
): Promise<{ secret: string; uri: string }> {
  const { id } = requester.caller;
  const { email } = await checkCurrentPassword({ pool, passwords }, id, currentPassword);
  const secret = newFactorSecret();
  if (!(await putUnconfirmed(pool, id, sealFactor(box, id, secret)))) {
    throw new Problem('second_factor.exists');
  }
  return { secret: base32(secret), uri: keyUri(secret, ISSUER, email) };
}

/**
 * Confirms the second factor by a code of the device. This session then counts as proven. The user's other sessions and
 * keys for programs end: a thief of the password may have created them.
 *
 * @returns the recovery codes, which are shown only once
 * @throws Problem invalid, too_many_requests
 */
export async function confirmNewFactor(
  context: FactorContext,
  requester: Requester,
  code: string,
): Promise<string[]> {
  const { pool, mails, endings } = context;
  const { id } = requester.caller;
  const sessionId = sessionIdOf(requester.caller);
  const factor = await findSecondFactor(pool, id);
  if (!factor || factor.confirmed) throw new Problem('second_factor.none_to_confirm');
  if (!(await proveFactor(context, factor, code))) throw wrongCode();
  const { codes, hashes } = newRecoveryCodes();
  await transaction(pool, async database => {
    // With this lock, no session or key can be created meanwhile.
    await lockAccount(database, id);
    await confirmFactor(database, id, new Date());
    await putRecoveryCodes(database, id, hashes);
    await setSecondFactor(database, id, { sessionId, proven: true });
    await deleteOtherSessions(database, id, sessionId);
    await deleteApiKeys(database, id);
    await auditOwn(database, requester, 'SET_SECOND_FACTOR');
    await mails.send(database, [{ kind: 'second-factor-on', to: id }]);
  });
  endings.notify(id);
  mails.wake();
  return codes;
}

/**
 * Creates new recovery codes; earlier ones become invalid.
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
    await auditOwn(database, requester, 'RENEW_RECOVERY_CODES');
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
  if (requirement.needs(role)) throw new Problem('second_factor.required_by_role', { role });
  await checkProof(context, id, proof);
  await transaction(pool, async database => {
    await lockAccount(database, id);
    await forgetFactor(database, mails, id);
    await auditOwn(database, requester, 'REMOVE_SECOND_FACTOR');
  });
  mails.wake();
}

/** Deletes a user's second factor and mails a notice; does nothing if there is none. */
export async function forgetFactor(database: Database, mails: Mails, userId: number): Promise<boolean> {
  if (!(await deleteSecondFactor(database, userId))) return false;
  await setSecondFactor(database, userId, { proven: false });
  await forgetFactorOfKeys(database, userId);
  await mails.send(database, [{ kind: 'second-factor-off', to: userId }]);
  return true;
}

export interface Proof {
  currentPassword: string;
  code: string;
}

async function checkProof(context: FactorContext, userId: number, proof: Proof): Promise<void> {
  await checkCurrentPassword(context, userId, proof.currentPassword);
  const factor = await requiredFactor(context.pool, userId);
  if (!factor) throw new Problem('second_factor.none');
  if (!(await proveFactor(context, factor, proof.code))) throw wrongCode();
}

function wrongCode(): Problem {
  return new Problem('second_factor.code_wrong', { field: 'code' });
}

async function auditOwn(database: Database, requester: Requester, action: AuditAction): Promise<void> {
  await audit(database, requester, { action, entity: 'user', entityId: requester.caller.id });
}
