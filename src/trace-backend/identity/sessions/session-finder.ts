import type pg from 'pg';
import { batchLoader } from '../../../platform/concurrency/batch-loader.ts';
import type { FindSession } from '../../base/access/authentication.ts';
import { findSessionStates, type SessionState } from './store.ts';

/** Maximum sessions per statement. */
const MAX_PER_QUERY = 200;

/** Looks up sessions in the database each time, so that ended ones are refused at once, in every process. */
export function sessionFinder(pool: pg.Pool): FindSession {
  const find = batchLoader<string, SessionState | undefined>(
    ids => findSessionStates(pool, ids, new Date()),
    {
      max: MAX_PER_QUERY,
    },
  );
  return async ({ sub, sid, ver }) => {
    if (typeof sid !== 'string') return undefined;
    const session = await find(sid);
    const isCurrent = session?.status === 'ACTIVE' && session.version === ver;
    return isCurrent && String(session.userId) === sub ? session : undefined;
  };
}
