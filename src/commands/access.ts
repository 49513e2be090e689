import type pg from 'pg';
import { transaction } from '../platform/database/database.ts';
import { Problem } from '../platform/http/problems.ts';
import type { Settings } from '../platform/settings/settings.ts';
import { apiKeyHash, looksLikeApiKey } from '../platform/tokens/api-key.ts';
import { type AuditEvent, audit, PROGRAM } from '../trace-backend/base/audit/audit.ts';
import { deleteApiKeyOfHash } from '../trace-backend/identity/api-keys/store.ts';
import { forgetFailures } from '../trace-backend/identity/attempts/limits.ts';
import { findSecondFactor } from '../trace-backend/identity/second-factor/store.ts';
import { endSessions } from '../trace-backend/identity/sessions/endings.ts';
import { checkEmail } from '../trace-backend/identity/users/email.ts';
import { checkPasswordRules, openPasswords } from '../trace-backend/identity/users/passwords.ts';
import { findAccount, updateUser } from '../trace-backend/identity/users/store.ts';

/**
 * Lets a user try to log in again after too many wrong passwords or codes.
 *
 * @returns what else can keep the user out
 * @throws Problem invalid, not_found
 */
export async function unlockUser(pool: pg.Pool, email: string): Promise<string> {
  const user = await accountOf(pool, email);
  const factor = await findSecondFactor(pool, user.id);
  const forgotten = await transaction(pool, async database => {
    const failures = await forgetFailures(database, user.emailKey, user.id);
    const event: AuditEvent = {
      action: 'UNLOCK_USER',
      entity: 'user',
      entityId: user.id,
      details: { failures },
    };
    await audit(database, PROGRAM, event);
    return failures;
  });
  const withFactor = factor?.confirmed ? 'with' : 'without';
  return `cleared ${forgotten} failed attempts of user ${user.id}, who is ${user.status} and logs in ${withFactor} a second factor`;
}

/**
 * Sets a user's password. As after a reset, all sessions and keys of the user end.
 *
 * @throws Problem invalid, not_found
 */
export async function setPassword(
  pool: pg.Pool,
  settings: Pick<Settings, 'PASSWORD_POLICY'>,
  email: string,
  password: string,
): Promise<string> {
  const { id, emailKey } = await accountOf(pool, email);
  await checkPasswordRules(password, 'password', settings);
  const hash = await openPasswords().hash(password);
  await transaction(pool, async database => {
    await updateUser(database, id, { password: hash });
    await endSessions(database, id, { resets: true });
    await forgetFailures(database, emailKey, id);
    await audit(database, PROGRAM, { action: 'SET_PASSWORD', entity: 'user', entityId: id });
  });
  return `user ${id} has a new password; all previous sessions and keys have ended`;
}

/**
 * Revokes a key for programs that was found somewhere.
 *
 * @throws Problem invalid for what is no key, not_found for one that does not count
 */
export async function revokeLeakedKey(pool: pg.Pool, key: string): Promise<string> {
  const hash = looksLikeApiKey(key) ? apiKeyHash(key) : undefined;
  if (hash === undefined) throw new Problem('command.not_a_key');
  const { userId, name } = await transaction(pool, async database => {
    const deletedKey = await deleteApiKeyOfHash(database, hash);
    if (!deletedKey) throw new Problem('command.unknown_key');
    const event: AuditEvent = {
      action: 'REVOKE_API_KEY',
      entity: 'user',
      entityId: deletedKey.userId,
      details: { name: deletedKey.name },
    };
    await audit(database, PROGRAM, event);
    return deletedKey;
  });
  return `revoked the key ${JSON.stringify(name)} of user ${userId}`;
}

async function accountOf(pool: pg.Pool, email: string) {
  const { emailKey } = checkEmail(email, 'EMAIL');
  const account = await findAccount(pool, emailKey);
  if (!account) throw new Problem('command.unknown_address');
  return { ...account, emailKey };
}
