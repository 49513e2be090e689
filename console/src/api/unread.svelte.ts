import { followFeed } from './live-feed.ts';
import { answered, packet, quietPacket } from './services.ts';
import { session } from './session.svelte.ts';

/** The user's threads in which others have written something that the user has not read. */
let threads = $state.raw<ReadonlySet<string>>(new Set());
/** Changes of `threads` since the page was opened: an answer that was under way meanwhile is out of date. */
let changes = 0;

/** Other tabs of the console. */
const tabs = new BroadcastChannel('read');
tabs.addEventListener('message', ({ data }) => {
  if (data.userId === session.user?.id) change(data.threadId, false);
});

export const unread = {
  /** how many threads */
  get count() {
    return threads.size;
  },
  has: (threadId: string) => threads.has(threadId),
};

/**
 * Keeps up with what is unread, as long as a user is logged in.
 *
 * @returns what ends it
 */
export function followUnread(): () => void {
  const own = String(session.user?.id);
  const leave = followFeed(event => {
    if (!event) void loadUnread().catch(() => {});
    else if (event.kind === 'chat.message' && event.thread_id && event.from_user !== own)
      change(event.thread_id, true);
  });
  return () => {
    leave();
    changes++;
    threads = new Set();
  };
}

/** Asks which threads are unread. */
export async function loadUnread(): Promise<void> {
  for (;;) {
    const before = changes;
    const found = await askAll();
    if (changes !== before) continue;
    threads = new Set(found);
    return;
  }
}

async function askAll(): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await answered(quietPacket.GET('/chat/unread', { params: { query: { cursor } } }));
    found.push(...page.thread_ids);
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  return found;
}

/** Marks a thread as read up to a message. */
export async function markRead(threadId: string, messageId: string): Promise<void> {
  const call = { params: { path: { thread_id: threadId } }, body: { message_id: messageId } };
  const before = changes;
  const { unread: isUnread } = await answered(packet.PUT('/chat/threads/{thread_id}/read', call));
  // A message that came meanwhile is not among those that were read.
  if (isUnread || changes !== before) return loadUnread();
  change(threadId, false);
  tabs.postMessage({ userId: session.user?.id, threadId });
}

function change(threadId: string, isUnread: boolean): void {
  changes++;
  const changed = new Set(threads);
  if (isUnread) changed.add(threadId);
  else changed.delete(threadId);
  threads = changed;
}
