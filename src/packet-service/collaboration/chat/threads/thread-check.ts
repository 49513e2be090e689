import { LRUCache } from 'lru-cache';
import { batchLoader } from '../../../../platform/concurrency/batch-loader.ts';
import type { Database } from '../../../../platform/database/database.ts';
import { Problem } from '../../../../platform/http/problems.ts';
import { userHasTokens } from '../../../core/access/caller.ts';
import { parseUlid } from '../../../core/packet-format/ulid.ts';
import { findClosed, findParticipation, type Participation } from './store.ts';

/** Maximum threads in the cache. */
const MAX_KNOWN = 100_000;

/** A thread that exists. */
export interface KnownThread {
  /** uuid form */
  threadId: string;
  /** whether it was created with a token */
  closed: boolean;
}

/** The user who accesses a thread. */
export interface Visitor {
  anonymous: boolean;
  /** who must be a participant; undefined if nobody must */
  userId?: string | undefined;
  /** name of the request field that names the user, for the error; undefined if only the token does */
  field?: string;
}

/**
 * Makes sure that a thread exists, that a request without a token may access it, and that a user takes part in it and
 * is not one who has tokens, if the request has none.
 *
 * @param threadId as the client wrote it
 * @throws Problem not_found, also for a text that is no ULID; unauthenticated; forbidden
 */
export type ThreadCheck = (threadId: string, visitor: Visitor) => Promise<KnownThread>;

/**
 * Checks that arrive together are one query. The existence of a thread and whether it was created with a token never
 * change and are cached; participants are queried each time.
 */
export function threadCheck(database: Database): ThreadCheck {
  /** by ULID */
  const known = new LRUCache<string, KnownThread>({ maxSize: MAX_KNOWN, sizeCalculation: () => 1 });
  const find = batchLoader((ids: string[]) => findClosed(database, ids), { max: 500 });
  const findParticipant = batchLoader((wanted: Participation[]) => findParticipation(database, wanted), {
    max: 500,
    same: ({ threadId, userId }) => `${threadId} ${userId}`,
  });

  async function findThread(asWritten: string): Promise<KnownThread> {
    const threadId = parseUlid(asWritten);
    const closed = threadId && (await find(threadId));
    if (threadId === undefined || typeof closed !== 'boolean') {
      throw new Problem('thread.unknown', { id: asWritten });
    }
    const thread = { threadId, closed };
    known.set(asWritten.toUpperCase(), thread);
    return thread;
  }

  return async (asWritten, { anonymous, userId, field }) => {
    const thread = known.get(asWritten.toUpperCase()) ?? (await findThread(asWritten));
    if (anonymous && thread.closed) throw new Problem('thread.needs_token', { id: asWritten });
    if (userId === undefined) return thread;
    const participant = await findParticipant({ threadId: thread.threadId, userId });
    if (!participant) throw notParticipant(asWritten, field);
    if (anonymous && participant.isTokenUser) throw userHasTokens(field ?? 'user_id');
    return thread;
  };
}

function notParticipant(id: string, field: string | undefined): Problem {
  return field === undefined
    ? new Problem('thread.caller_not_participant', { id })
    : new Problem('thread.user_not_participant', { field, id });
}
