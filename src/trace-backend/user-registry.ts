import type pg from 'pg';
import type { KeyHolder, UserRegistry } from '../platform/tokens/user-registry.ts';
import { type FindKey, type FindSession, roleOfKey } from './base/access/authentication.ts';
import { audit } from './base/audit/audit.ts';
import type { Keys } from './base/signing-keys/keys.ts';
import { findColleagueIds } from './catalogue/companies/members/members-store.ts';
import { findHolder, findNames, findReader } from './identity/discoverability/find-users.ts';
import type { Requirement } from './identity/second-factor/requirement.ts';
import type { Endings } from './identity/sessions/endings.ts';

/** The users of keys for programs. */
export function keyHolders(findKey: FindKey, requirement: Requirement): UserRegistry['findKeyHolder'] {
  return async (hash): Promise<KeyHolder | undefined> => {
    const key = await findKey(hash);
    if (!key) return undefined;
    const { userId, scopes, expiresAt } = key;
    const lacksFactor = requirement.isUnmet(key);
    return { userId: String(userId), role: roleOfKey(key), scopes, expiresAt, lacksFactor };
  };
}

/** The trace backend as user registry of a packet service in the same process. */
export function ownRegistry({
  pool,
  keys,
  findSession,
  requirement,
  endings,
  findKeyHolder,
}: {
  pool: pg.Pool;
  keys: Keys;
  findSession: FindSession;
  requirement: Requirement;
  endings: Endings;
  findKeyHolder: UserRegistry['findKeyHolder'];
}): UserRegistry {
  return {
    publicKeys: keys.publicKeys,
    findHolder: contact => findHolder(pool, contact),
    findNames: ids => findNames(pool, ids),
    findReader: address => findReader(pool, address),
    findColleagues: async userId => (await findColleagueIds(pool, Number(userId))).map(String),
    async refusalOf(claims) {
      const session = await findSession(claims);
      if (!session) return 'ended';
      return requirement.isUnmet(session) ? 'second-factor' : undefined;
    },
    findKeyHolder,
    onEnded: listener => endings.listen(userId => listener(String(userId))),
    async noteDecision({ userId, ip, action, count, notificationId, recipient }) {
      const isUser = recipient !== undefined && /^\d{1,9}$/.test(recipient);
      await audit(
        pool,
        { caller: { id: Number(userId) }, ip },
        {
          action,
          entity: 'notification',
          entityId: notificationId ?? 'all',
          details: { count, ...(isUser && { userId: Number(recipient) }) },
        },
      );
    },
  };
}
