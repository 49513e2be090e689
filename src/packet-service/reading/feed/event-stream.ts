import { type LogCursor, logCursorText } from '../../core/log/log-cursor.ts';
import { CLOSED, type Entry } from '../../core/log/read-store.ts';
import { uuidTime, uuidToUlid } from '../../core/packet-format/ulid.ts';

// The text of a feed, as the HTML standard defines event streams (§9.2.5).

export const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Keeps nginx from buffering the answer.
  'x-accel-buffering': 'no',
};

/** Tells the client after how many milliseconds to reconnect. */
export const RETRY = 'retry: 3000\n\n';

/** A comment that keeps the connection open. */
export const KEEP_ALIVE = ':\n';

/** Advances the client's Last-Event-ID without an event. */
export function cursorEvent(cursor: LogCursor): string {
  return `id: ${logCursorText(cursor)}\n\n`;
}

/**
 * An entry as the event that a user gets. A user gets one event per message, so the packet's id is the notification's
 * id; a share has its own, which its mail and webhook have too. The event contains nothing of the packet.
 */
export function eventText(entry: Entry, userId: string): string {
  const { kind, packetId, threadId } = entry;
  const { [CLOSED]: _, ...details } = entry.details ?? {};
  const data = {
    type: kind,
    user_id: userId,
    ...(packetId && { packet_id: uuidToUlid(packetId) }),
    ...(threadId && { thread_id: uuidToUlid(threadId) }),
    ...(kind === 'chat.message' && {
      notification_id: uuidToUlid(packetId as string),
      created_at: new Date(uuidTime(packetId as string)).toISOString(),
    }),
    ...details,
  };
  return `event: ${kind}\nid: ${logCursorText(entry)}\ndata: ${JSON.stringify(data)}\n\n`;
}
