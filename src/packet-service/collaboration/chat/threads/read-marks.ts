import type { Database } from '../../../../platform/database/database.ts';
import { Problem } from '../../../../platform/http/problems.ts';
import { findFirstPosition, findLastMessage, findUnread } from '../../../core/log/thread-store.ts';
import { parseUlid } from '../../../core/packet-format/ulid.ts';
import { findPagePosition } from '../../../core/packets/read-store.ts';
import { listIdsFrom, listReadMarks, moveReadMark } from './read-mark-store.ts';
import type { Participation } from './store.ts';

/** Maximum later messages that are looked at when one is marked as read. */
const LATER = 1000;

/**
 * Marks a thread as read up to a message in the order of its list. The mark is a position of the log, so that a
 * message which arrives late, with an earlier time than the mark's, is unread (docs/decisions/read-marks.md).
 *
 * @param messageId ULID, as the client wrote it
 * @returns whether messages by others are unread now
 * @throws Problem invalid if it is no message of the thread; not_found if the user has left meanwhile
 */
export async function markRead(
  database: Database,
  reader: Participation,
  messageId: string,
): Promise<boolean> {
  const { threadId, userId } = reader;
  // Read before the messages: what is in the log by now is among them.
  const last = await findLastMessage(database, threadId);
  const later = await findLater(database, threadId, messageId);
  const first = later.length > 0 ? await findFirstPosition(database, later) : undefined;
  const position = first === undefined ? last : Math.min(last, first - 1);
  const mark = await moveReadMark(database, reader, position);
  if (!mark) throw new Problem('thread.left', { user: userId });
  return (await findUnread(database, userId, [mark])).length > 0;
}

/** The messages (uuid form) after one in the order of the list. */
async function findLater(database: Database, threadId: string, messageId: string): Promise<string[]> {
  const id = parseUlid(messageId);
  const from = id && (await findPagePosition(database, id));
  const [first, ...later] = from ? await listIdsFrom(database, threadId, from, LATER + 1) : [];
  if (first === undefined || first !== id) {
    throw new Problem('thread.unknown_message', { field: 'message_id' });
  }
  return later;
}

/** The threads (uuid form) with unread messages among the next threads of a user. */
export interface UnreadThreads {
  threadIds: string[];
  /** the last thread that was looked at (uuid form), if there are others after it */
  next: string | undefined;
}

/**
 * Which threads of a user have messages by others after the user's mark, newest thread first.
 *
 * @param limit how many threads are looked at
 */
export async function listUnread(
  database: Database,
  user: { userId: string; openOnly: boolean },
  { after, limit }: { after: string | undefined; limit: number },
): Promise<UnreadThreads> {
  const marks = await listReadMarks(database, user, { after, limit: limit + 1 });
  const page = marks.slice(0, limit);
  const threadIds = page.length > 0 ? await findUnread(database, user.userId, page) : [];
  return { threadIds, next: marks.length > limit ? page.at(-1)?.threadId : undefined };
}
