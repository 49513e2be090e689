import { coalesce } from '../../../platform/concurrency/coalesce.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Database } from '../../../platform/postgres/database.ts';
import { isUlid, ulidToUuid } from '../../packet/ulid.ts';
import { findStandings } from './store.ts';

/** Threads remembered as existing, at most. */
const MAX_KNOWN = 100_000;
const UUID_LENGTH = 36;

/**
 * Makes sure that a thread exists and, with a user, that the user takes part in it.
 *
 * @param threadId as the client wrote it
 * @param field name of the request field that names the user, for the error
 * @returns the thread in the uuid form
 * @throws Problem not_found, also for what is no ULID; forbidden
 */
export type ThreadCheck = (threadId: string, userId?: string, field?: string) => Promise<string>;

/**
 * Checks that arrive together are one query. That a thread exists is remembered, since threads stay; who takes part
 * is asked each time, since people leave.
 */
export function threadCheck(database: Database): ThreadCheck {
  /** by ULID, the uuid form */
  const known = new Map<string, string>();
  const standing = coalesce(
    (keys: string[]) =>
      findStandings(
        database,
        keys.map(key => ({
          threadId: key.slice(0, UUID_LENGTH),
          userId: key.length === UUID_LENGTH ? undefined : key.slice(UUID_LENGTH + 1),
        })),
      ),
    { max: 500 },
  );

  return async (threadId, userId, field = 'the user of the token') => {
    const ulid = threadId.toUpperCase();
    const existing = known.get(ulid);
    if (userId === undefined && existing) return existing;
    const uuid = existing ?? (isUlid(ulid) ? ulidToUuid(ulid) : '');
    const found = uuid ? await standing(userId === undefined ? uuid : `${uuid} ${userId}`) : 'no-thread';
    if (found === 'no-thread') throw new Problem('not_found', `there is no thread ${threadId}`);
    if (known.size < MAX_KNOWN) known.set(ulid, uuid);
    if (userId !== undefined && found === 'outsider') {
      throw new Problem('forbidden', `${field} takes no part in thread ${threadId}`);
    }
    return uuid;
  };
}
