import type pg from 'pg';
import { batchLoader } from '../../../platform/concurrency/batch-loader.ts';
import type { FindSession } from '../../base/access/authentication.ts';
import { findSessionStates, type SessionState } from './store.ts';

/** Sessions per statement, at most. */
const SESSIONS_AT_ONCE = 200;

/** Looks up sessions in the database each time, so that ended ones are refused at once, in every process. */
export function sessionFinder(pool: pg.Pool): FindSession {
  const find = batchLoader<string, SessionState | undefined>(
    ids => findSessionStates(pool, ids, new Date()),
    {
      max: SESSIONS_AT_ONCE,
    },
  );
  return async ({ sub, sid, ver }) => {
    if (typeof sid !== 'string') return undefined;
    const session = await find(sid);
    const isOurs = session?.status === 'ACTIVE' && session.version === ver;
    return isOurs && String(session.userId) === sub ? session : undefined;
  };
}
