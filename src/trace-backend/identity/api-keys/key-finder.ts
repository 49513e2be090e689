import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import { batchLoader } from '../../../platform/concurrency/batch-loader.ts';
import type { FindKey } from '../../base/access/authentication.ts';
import { findKeyStates, type KeyState, touchApiKey } from './store.ts';

/** Maximum keys per statement. */
const MAX_PER_QUERY = 200;
/** Uses of a key within this time of the recorded one are not recorded, in milliseconds. */
const SAME_USE_MS = 60_000;

/** Looks up keys in the database each time, so that revoked ones are refused at once, in every process. */
export function keyFinder(pool: pg.Pool, logger: FastifyBaseLogger): FindKey {
  const find = batchLoader<string, KeyState | undefined>(hashes => findKeyStates(pool, hashes, new Date()), {
    max: MAX_PER_QUERY,
  });
  return async hash => {
    const key = await find(hash.toString('hex'));
    if (!key) return undefined;
    const now = new Date();
    if (now.getTime() - (key.lastUsedAt?.getTime() ?? 0) > SAME_USE_MS) {
      // Keys also work while the database is read-only.
      await touchApiKey(pool, key.id, now).catch(error =>
        logger.warn({ err: error }, 'could not record the use of a key'),
      );
    }
    return key;
  };
}
