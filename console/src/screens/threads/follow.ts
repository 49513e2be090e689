import { followFeed } from '../../api/live-feed.ts';

/**
 * Calls back when a message of a thread may have come: for each event of the live feed, and whenever the feed is open
 * again after it was interrupted.
 *
 * @returns what ends it
 */
export function followThread(threadId: string, onmessage: () => void): () => void {
  return followFeed(event => {
    if (!event || (event.kind === 'chat.message' && event.thread_id === threadId)) onmessage();
  });
}
