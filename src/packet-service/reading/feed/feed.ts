import type { ServerResponse } from 'node:http';
import type { JWTPayload } from 'jose';
import { endsWithin } from '../../../platform/concurrency/ends-within.ts';
import type { LogCursor } from '../../core/log/log-cursor.ts';
import type { Entry } from '../../core/log/read-store.ts';
import { cursorEvent, eventText, KEEP_ALIVE } from './event-stream.ts';

/** Bytes that may wait for one client. A client that reads too slowly is disconnected and can resume. */
const MAX_WAITING_BYTES = 256 * 1024;
/** How long a resuming client may take to read what waits for it, in milliseconds. */
const PATIENCE_MS = 10_000;

/** The user of a feed. */
export interface Subscriber {
  readonly userId: string;
  /** whether the user has no token, and gets no events of what was created with one */
  readonly anonymous: boolean;
  /** the claims of the token that it was opened with */
  readonly claims?: JWTPayload | undefined;
}

/** A feed of one user over one response. */
export interface Feed extends Subscriber {
  /** the cursor of the last entry sent */
  cursor: LogCursor;
  /** Unix milliseconds */
  readonly endsAt: number;
  /** Sends the entries after `cursor`, in order. */
  send(entries: readonly Entry[]): void;
  /** Advances the client's cursor without an event. */
  move(cursor: LogCursor): void;
  /** Keeps the connection open. */
  beat(): void;
  /** Resolves when the client has read what was sent; a client that takes too long is disconnected. */
  taken(): Promise<void>;
  /** Ends it at once, without waiting for a slow client. */
  end(): void;
}

export function makeFeed(
  response: ServerResponse,
  subscriber: Subscriber,
  cursor: LogCursor,
  endsAt: number,
): Feed {
  const feed: Feed = {
    ...subscriber,
    cursor,
    endsAt,
    send(entries) {
      const unknown = entries.filter(entry => entry.position > feed.cursor.position);
      const last = unknown.at(-1);
      if (!last) return;
      feed.cursor = { position: last.position, tag: last.tag };
      const own = subscriber.anonymous ? unknown.filter(({ closed }) => !closed) : unknown;
      if (own.length > 0) send(response, own.map(entry => eventText(entry, subscriber.userId)).join(''));
    },
    move(to) {
      if (to.position > feed.cursor.position) feed.cursor = to;
      send(response, `${KEEP_ALIVE}${cursorEvent(feed.cursor)}`);
    },
    beat: () => send(response, KEEP_ALIVE),
    taken: () => taken(response),
    end() {
      if (response.writableLength > 0) response.destroy();
      else response.end();
    },
  };
  return feed;
}

function send(response: ServerResponse, text: string): void {
  if (response.destroyed || response.writableEnded) return;
  if (response.writableLength > MAX_WAITING_BYTES) response.destroy();
  else response.write(text);
}

async function taken(response: ServerResponse): Promise<void> {
  if (response.destroyed || !response.writableNeedDrain) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  response.once('drain', resolve).once('close', resolve);
  if (!(await endsWithin(promise, PATIENCE_MS))) response.destroy();
  response.off('drain', resolve).off('close', resolve);
}
