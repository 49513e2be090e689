import { followFeed } from './live-feed.ts';
import { answered, quietPacket } from './services.ts';
import { session } from './session.svelte.ts';

/** The user's threads in which others have written something that the user has not read. */
let threads = $state.raw<ReadonlySet<string>>(new Set());
/** For each request in flight, what has changed since it was sent. */
const underWay = new Set<Map<string, boolean>>();

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
    threads = new Set();
  };
}

/** Asks which threads are unread. */
export async function loadUnread(): Promise<void> {
  const userId = session.user?.id;
  await withChanges(async changed => {
    const found = new Set(await askAll());
    for (const [threadId, isUnread] of changed) put(found, threadId, isUnread);
    if (session.user?.id === userId) threads = found;
  });
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

/** Marks a thread as read up to a message; it stays unread if another one has come meanwhile. */
export async function markRead(threadId: string, messageId: string): Promise<void> {
  await withChanges(async changed => {
    const call = { params: { path: { thread_id: threadId } }, body: { message_id: messageId } };
    const { unread: isUnread } = await answered(quietPacket.PUT('/chat/threads/{thread_id}/read', call));
    if (isUnread || changed.has(threadId)) return;
    change(threadId, false);
    tabs.postMessage({ userId: session.user?.id, threadId });
  });
}

/** @param work gets what changes while it runs */
async function withChanges(work: (changed: ReadonlyMap<string, boolean>) => Promise<void>): Promise<void> {
  const changed = new Map<string, boolean>();
  underWay.add(changed);
  try {
    await work(changed);
  } finally {
    underWay.delete(changed);
  }
}

function change(threadId: string, isUnread: boolean): void {
  for (const changed of underWay) changed.set(threadId, isUnread);
  const changed = new Set(threads);
  put(changed, threadId, isUnread);
  threads = changed;
}

function put(ids: Set<string>, threadId: string, isIn: boolean): void {
  if (isIn) ids.add(threadId);
  else ids.delete(threadId);
}
