import { LRUCache } from 'lru-cache';
import { batchLoader } from '../../../platform/concurrency/batch-loader.ts';
import type { Database } from '../../../platform/database/database.ts';
import { findTokenUsers, insertTokenUsers } from './store.ts';

/** Users remembered in memory, at most. */
const MAX_KNOWN = 100_000;

/** The users who have sent a valid token: a request without a token cannot act as one of them. */
export interface TokenUsers {
  /**
   * Records the user of a valid token. Resolves when that is durable and so visible to every process; no query for
   * users that this process knows.
   */
  keep(userId: string): Promise<void>;
  /** Whether this user has ever sent a valid token. A positive answer is cached, a negative one is not. */
  has(userId: string): Promise<boolean>;
}

export function tokenUsers(database: Database): TokenUsers {
  const known = new LRUCache<string, true>({ maxSize: MAX_KNOWN, sizeCalculation: () => 1 });
  const insert = batchLoader(
    async (userIds: string[]) => {
      await insertTokenUsers(database, userIds, new Date());
      return userIds;
    },
    { max: 500 },
  );
  const find = batchLoader(
    async (userIds: string[]) => {
      const found = new Set(await findTokenUsers(database, userIds));
      return userIds.map(userId => found.has(userId));
    },
    { max: 500 },
  );

  return {
    async keep(userId) {
      if (known.get(userId)) return;
      await insert(userId);
      known.set(userId, true);
    },
    async has(userId) {
      if (known.get(userId)) return true;
      const found = await find(userId);
      if (found) known.set(userId, true);
      return found;
    },
  };
}
