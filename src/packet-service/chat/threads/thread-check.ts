import { LRUCache } from 'lru-cache';
import { batchLoader } from '../../../platform/concurrency/batch-loader.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Database } from '../../../platform/postgres/database.ts';
import { tokenNeeded } from '../../access/caller.ts';
import { parseUlid } from '../../packet/ulid.ts';
import { findClosed, findParticipation, type Participation } from './store.ts';

/** Threads remembered, at most. */
const MAX_KNOWN = 100_000;

/** A thread that exists. */
export interface KnownThread {
  /** uuid form */
  threadId: string;
  /** whether it was made with a token */
  closed: boolean;
}

/** Who wants to do something with a thread. */
export interface Visitor {
  anonymous: boolean;
  /** who must take part in it; undefined when that is not asked */
  userId?: string | undefined;
  /** name of the request field that names the user, for the error */
  field?: string;
}

/**
 * Makes sure that a thread exists, that it is open to a request without a token, and that a user takes part in it.
 *
 * @param threadId as the client wrote it
 * @throws Problem not_found, also for what is no ULID; unauthenticated; forbidden
 */
export type ThreadCheck = (threadId: string, visitor: Visitor) => Promise<KnownThread>;

/**
 * Checks that arrive together are one query. That a thread exists, and what made it, is remembered, since neither
 * changes; who takes part is asked each time, since people leave.
 */
export function threadCheck(database: Database): ThreadCheck {
  /** by ULID */
  const known = new LRUCache<string, KnownThread>({ max: MAX_KNOWN });
  const find = batchLoader((ids: string[]) => findClosed(database, ids), { max: 500 });
  const takesPart = batchLoader((wanted: Participation[]) => findParticipation(database, wanted), {
    max: 500,
    same: ({ threadId, userId }) => `${threadId} ${userId}`,
  });

  async function findThread(asWritten: string): Promise<KnownThread> {
    const threadId = parseUlid(asWritten);
    const closed = threadId && (await find(threadId));
    if (threadId === undefined || typeof closed !== 'boolean') {
      throw new Problem('not_found', `there is no thread ${asWritten}`);
    }
    const thread = { threadId, closed };
    known.set(asWritten.toUpperCase(), thread);
    return thread;
  }

  return async (asWritten, { anonymous, userId, field = 'the user of the token' }) => {
    const thread = known.get(asWritten.toUpperCase()) ?? (await findThread(asWritten));
    if (anonymous && thread.closed) throw tokenNeeded(`thread ${asWritten}`);
    if (userId !== undefined && !(await takesPart({ threadId: thread.threadId, userId }))) {
      throw new Problem('forbidden', `${field} takes no part in thread ${asWritten}`);
    }
    return thread;
  };
}
