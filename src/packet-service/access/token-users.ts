import { LRUCache } from 'lru-cache';
import { batchLoader } from '../../platform/concurrency/batch-loader.ts';
import type { Database } from '../../platform/postgres/database.ts';
import { findTokenUsers, insertTokenUsers } from './store.ts';

/** Users remembered in memory, at most. */
const MAX_KNOWN = 100_000;

/** The users whom valid tokens ever named: nobody without such a token may claim to be one of them. */
export interface TokenUsers {
  /**
   * Remembers for good that a valid token named a user. Resolves when that is durable, and so counts in every process;
   * a user whom this process knows costs nothing.
   */
  keep(userId: string): Promise<void>;
  /** Whether a token ever named this user. That one did is remembered; that none did is asked each time. */
  has(userId: string): Promise<boolean>;
}

export function tokenUsers(database: Database): TokenUsers {
  const known = new LRUCache<string, true>({ max: MAX_KNOWN });
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
