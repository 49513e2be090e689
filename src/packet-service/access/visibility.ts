import { Problem } from '../../platform/http/problems.ts';
import type { Database } from '../../platform/postgres/database.ts';
import { findStandings, findThreadIds } from '../chat/threads/store.ts';
import { isSharedWith } from '../sharing/shares/store.ts';

/**
 * Who may read which packets: messages of a thread belong to those who take part in it, and to whom one of them
 * shared it; everything else to everyone. Without a token nobody's identity is known and nothing is held back.
 *
 * @param packet its id and its thread, uuid form; no thread outside chat
 * @throws Problem forbidden
 */
export async function checkReader(
  database: Database,
  user: string | undefined,
  { id, threadId }: { id: string; threadId: string | null },
): Promise<void> {
  if (user === undefined || threadId === null) return;
  const [standing] = await findStandings(database, [{ threadId, userId: user }]);
  if (standing === 'participant' || (await isSharedWith(database, [id], user))) return;
  throw new Problem('forbidden', 'only those who take part in its thread read this packet');
}

/** The threads whose messages a user may see in lists, uuid form; undefined when nothing is held back. */
export async function readableThreads(
  database: Database,
  user: string | undefined,
): Promise<string[] | undefined> {
  return user === undefined ? undefined : findThreadIds(database, user);
}
