import type { Database } from '../../../../platform/database/database.ts';
import { findSenders } from '../../../core/log/thread-store.ts';
import { findNewestThreads } from './store.ts';

/** Maximum threads of a user that are looked at: the newest. */
const LOOKED_AT = 100;

/** Selects the users, of some, who have recently written in a thread of a user. */
export async function findWriters(
  database: Database,
  userId: string,
  ids: readonly string[],
): Promise<string[]> {
  const threads = await findNewestThreads(database, userId, LOOKED_AT);
  return threads.length === 0 ? [] : findSenders(database, threads, ids);
}
