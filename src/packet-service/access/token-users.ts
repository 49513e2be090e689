import { coalesce } from '../../platform/concurrency/coalesce.ts';
import { lru } from '../../platform/concurrency/lru.ts';
import type { Database } from '../../platform/postgres/database.ts';
import { insertTokenUsers } from './store.ts';

/** Users remembered in memory, at most. */
const MAX_KNOWN = 100_000;

/**
 * Remembers for good that a valid token named a user: from then on nobody without that token may claim to be this
 * user. Resolves when that is durable; a user whom this process has seen before costs nothing.
 */
export function tokenUserKeeper(database: Database): (userId: string) => Promise<void> {
  const known = lru<true>(MAX_KNOWN);
  const insert = coalesce(
    async (userIds: string[]) => {
      await insertTokenUsers(database, userIds, new Date());
      return userIds;
    },
    { max: 500 },
  );
  return async userId => {
    if (known.get(userId)) return;
    await insert(userId);
    known.set(userId, true);
  };
}
