import type pg from 'pg';
import { batchLoader } from '../../../platform/concurrency/batch-loader.ts';
import type { FindStanding } from '../../access/authentication.ts';
import { findStandings, type Standing } from './store.ts';

/** Sessions that one statement looks up, at most. */
const SESSIONS_AT_ONCE = 200;

/** Looks sessions up in the database each time, so that one which ended is out at once, in every process. */
export function standingOf(pool: pg.Pool): FindStanding {
  const find = batchLoader<string, Standing | undefined>(ids => findStandings(pool, ids, new Date()), {
    max: SESSIONS_AT_ONCE,
  });
  return async ({ sub, sid, ver }) => {
    if (typeof sid !== 'string') return undefined;
    const standing = await find(sid);
    const isOurs = standing?.status === 'ACTIVE' && standing.version === ver;
    return isOurs && String(standing.userId) === sub ? standing : undefined;
  };
}
