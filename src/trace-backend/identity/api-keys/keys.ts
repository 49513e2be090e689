import type pg from 'pg';
import type { Static } from 'typebox';
import { transaction } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import { parseTimestamp } from '../../../platform/time.ts';
import { newApiKey, SCOPES } from '../../../platform/tokens/api-key.ts';
import type { SecretBox } from '../../../platform/tokens/secret-box.ts';
import type { Requester } from '../../base/access/requester.ts';
import { audit } from '../../base/audit/audit.ts';
import { checkFreshCode, checkNoFactor } from '../second-factor/factor.ts';
import { lockAccount } from '../users/store.ts';
import { DEFAULT_DAYS, LONGEST_DAYS, type NewKey } from './schemas.ts';
import { type ApiKey, deleteApiKey, insertApiKey, MAX_API_KEYS } from './store.ts';

interface KeysContext {
  pool: pg.Pool;
  /** decrypts second factors */
  box: SecretBox;
}

const DAY_MS = 24 * 3600_000;

/**
 * Creates a key for a program.
 *
 * @returns the key itself, which is not stored, and its stored fields
 * @throws Problem invalid; unauthenticated without the code of a second factor; too_many_requests
 */
export async function createKey(
  context: KeysContext,
  requester: Requester,
  body: Static<typeof NewKey>,
): Promise<Omit<ApiKey, 'lastUsedAt'> & { key: string }> {
  const { id: userId, role, secondFactor } = requester.caller;
  const createdAt = new Date();
  const expiresAt = expiryOf(body.expiresAt, createdAt);
  const scopes = SCOPES.filter(scope => body.scopes.includes(scope));
  if (scopes.includes('admin') && role === 'USER') {
    throw new Problem('key.admin_scope_not_allowed', { field: 'scopes' });
  }
  const { wasNeeded } = await checkFreshCode(context, userId, body.code);
  const { key, hash } = newApiKey();
  const created = {
    id: crypto.randomUUID(),
    userId,
    name: body.name,
    scopes,
    secondFactor,
    createdAt,
    expiresAt,
  };
  await transaction(context.pool, async database => {
    // With this lock concurrent calls count each other's keys, and a closed account gets none.
    const user = await lockAccount(database, userId);
    if (user?.status !== 'ACTIVE') throw new Problem('session.ended');
    if (!wasNeeded) await checkNoFactor(database, userId);
    if (!(await insertApiKey(database, { ...created, hash }))) {
      throw new Problem('key.too_many', { max: MAX_API_KEYS });
    }
    const details = { key: created.id, name: created.name, scopes, expiresAt: expiresAt.toISOString() };
    await audit(database, requester, { action: 'CREATE_API_KEY', entity: 'user', entityId: userId, details });
  });
  return { ...created, key };
}

/**
 * Revokes one of the caller's keys.
 *
 * @throws Problem not_found; unauthenticated without the code of a second factor; too_many_requests
 */
export async function revokeKey(
  context: KeysContext,
  requester: Requester,
  id: string,
  code: string | undefined,
): Promise<void> {
  const { id: userId } = requester.caller;
  await checkFreshCode(context, userId, code);
  await transaction(context.pool, async database => {
    const name = await deleteApiKey(database, userId, id);
    if (name === undefined) throw new Problem('key.unknown');
    const details = { key: id.toLowerCase(), name };
    await audit(database, requester, { action: 'REVOKE_API_KEY', entity: 'user', entityId: userId, details });
  });
}

function expiryOf(requested: string | undefined, now: Date): Date {
  if (requested === undefined) return new Date(now.getTime() + DEFAULT_DAYS * DAY_MS);
  const field = 'expiresAt';
  const timestamp = parseTimestamp(requested);
  if (!timestamp) throw new Problem('validation.no_time', { field });
  const end = new Date(timestamp.utc);
  if (end <= now) throw new Problem('validation.not_in_future', { field });
  if (end.getTime() - now.getTime() > LONGEST_DAYS * DAY_MS) {
    throw new Problem('validation.too_many_days_ahead', { field, max: LONGEST_DAYS });
  }
  return end;
}
