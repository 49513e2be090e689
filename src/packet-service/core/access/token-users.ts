import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { batchLoader } from '../../../platform/concurrency/batch-loader.ts';
import { type Database, transaction } from '../../../platform/database/database.ts';
import { userHasTokens } from './caller.ts';
import { findTokenUsers, insertTokenUsers, lockUsers } from './store.ts';

/** Maximum users remembered in memory. */
const MAX_KNOWN = 100_000;

/**
 * Makes sure that the user as whom a request without a token acts sends no first token before the transaction ends.
 *
 * @param field name of the request field, for the error
 * @throws Problem forbidden if they have sent one
 */
export async function keepTokenless(database: Database, field: string, userId: string): Promise<void> {
  await lockUsers(database, [userId]);
  const [tokenUser] = await findTokenUsers(database, [userId]);
  if (tokenUser !== undefined) throw userHasTokens(field);
}

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

/** Applies the effects of users' first tokens in the transaction that records them; can be called twice for a user. */
export type OnFirstToken = (database: Database, userIds: readonly string[]) => Promise<void>;

export function tokenUsers(pool: pg.Pool, onFirst: OnFirstToken): TokenUsers {
  const known = new LRUCache<string, true>({ maxSize: MAX_KNOWN, sizeCalculation: () => 1 });
  const insert = batchLoader(
    async (userIds: string[]) => {
      const earlier = new Set(await findTokenUsers(pool, userIds));
      const added = userIds.filter(userId => !earlier.has(userId));
      if (added.length === 0) return userIds;
      await transaction(pool, async database => {
        await lockUsers(database, added);
        await insertTokenUsers(database, added, new Date());
        await onFirst(database, added);
      });
      return userIds;
    },
    { max: 500 },
  );
  const find = batchLoader(
    async (userIds: string[]) => {
      const tokenUsers = new Set(await findTokenUsers(pool, userIds));
      return userIds.map(userId => tokenUsers.has(userId));
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
      const isTokenUser = await find(userId);
      if (isTokenUser) known.set(userId, true);
      return isTokenUser;
    },
  };
}
