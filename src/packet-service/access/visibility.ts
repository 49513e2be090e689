import { Problem } from '../../platform/http/problems.ts';
import type { Database } from '../../platform/postgres/database.ts';
import { findThreadIds, isParticipant } from '../chat/threads/store.ts';
import { isSharedWith } from '../sharing/shares/store.ts';
import { type Caller, type ReadableThreads, tokenNeeded } from './caller.ts';

/** What decides who reads a packet: its id, its thread (uuid form), and whether that was made with a token. */
export interface Guarded {
  id: string;
  /** null outside chat */
  threadId: string | null;
  closed: boolean;
}

/**
 * Who may read which packets: messages of a thread belong to those who take part in it, and to whom one of them
 * shared it; everything else to everyone. A request without a token reads the messages of threads that were made
 * without one.
 *
 * @throws Problem forbidden, unauthenticated
 */
export async function checkReader(
  database: Database,
  { user, anonymous }: Caller,
  { id, threadId, closed }: Guarded,
): Promise<void> {
  if (anonymous && closed) throw tokenNeeded("this packet's thread");
  if (user === undefined || threadId === null) return;
  if ((await isParticipant(database, threadId, user)) || (await isSharedWith(database, [id], user))) return;
  throw new Problem('forbidden', 'only those who take part in its thread read this packet');
}

/** The threads whose messages a caller sees in lists; undefined when nothing is held back. */
export async function readableThreads(
  database: Database,
  { user, anonymous }: Caller,
): Promise<ReadableThreads | undefined> {
  if (user !== undefined) return findThreadIds(database, user, { openOnly: false });
  return anonymous ? 'open' : undefined;
}
