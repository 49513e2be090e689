import type pg from 'pg';
import type { Static } from 'typebox';
import { transaction } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Requester } from '../../base/access/requester.ts';
import { type AuditEvent, audit } from '../../base/audit/audit.ts';
import { idOf } from '../../base/contract/schemas.ts';
import { lockAccount, type User, updateUser } from '../users/store.ts';
import { languageAfter } from '../users/user.ts';
import type { UserUpdate } from './schemas.ts';

/**
 * Changes a user's profile for an administrator; omitted fields stay unchanged.
 *
 * @throws Problem not_found, forbidden, invalid
 */
export async function updateUserProfile(
  pool: pg.Pool,
  requester: Requester,
  { id: sentId, ...change }: Static<typeof UserUpdate>,
): Promise<User> {
  const id = idOf(sentId);
  return transaction(pool, async database => {
    const before = await lockAccount(database, id);
    if (!before) throw new Problem('user.unknown');
    if (before.role === 'SYSTEM_ADMIN' && requester.caller.role !== 'SYSTEM_ADMIN') {
      throw new Problem('user.only_system_admin_changes');
    }
    if (before.erased) throw new Problem('user.erased');
    const { name, surname } = change;
    const sent = { name, surname, language: languageAfter(before.language, change) };
    const fields = (['name', 'surname', 'language'] as const).filter(
      field => sent[field] !== undefined && sent[field] !== before[field],
    );
    if (fields.length === 0) return before;
    const event: AuditEvent = {
      action: 'UPDATE_USER_PROFILE',
      entity: 'user',
      entityId: id,
      details: { fields },
    };
    await audit(database, requester, event);
    return updateUser(database, id, sent);
  });
}
