import type { ServerResponse } from 'node:http';
import type { JWTPayload } from 'jose';
import { endsWithin } from '../../platform/concurrency/ends-within.ts';
import type { LogCursor } from '../log/log-cursor.ts';
import type { Entry } from '../log/read-store.ts';
import { cursorEvent, eventText, KEEP_ALIVE } from './event-stream.ts';

/** Bytes that may wait for one client. Whoever takes less than comes is cut off, and resumes where he was. */
const MAX_WAITING_BYTES = 256 * 1024;
/** How long a client may take over what waits for it while it resumes, in milliseconds. */
const PATIENCE_MS = 10_000;

/** Whose feed it is. */
export interface Subscriber {
  readonly userId: string;
  /** whether the user has no token, and is not told of what was made with one */
  readonly anonymous: boolean;
  /** what the token says that it was opened with */
  readonly claims?: JWTPayload | undefined;
}

/** One user's news on their way over one response. */
export interface Feed extends Subscriber {
  /** what the client has been told up to */
  place: LogCursor;
  /** Unix milliseconds */
  readonly endsAt: number;
  /** Sends the entries after `place`; they come in order. */
  tell(entries: readonly Entry[]): void;
  /** Moves the client's place on without an event. */
  move(place: LogCursor): void;
  /** Keeps the connection open. */
  beat(): void;
  /** Resolves when the client has taken what was sent; one who takes too long is cut off. */
  taken(): Promise<void>;
  /** Ends it at once; what a slow client has not taken yet is not waited for. */
  end(): void;
}

export function makeFeed(
  response: ServerResponse,
  subscriber: Subscriber,
  place: LogCursor,
  endsAt: number,
): Feed {
  const feed: Feed = {
    ...subscriber,
    place,
    endsAt,
    tell(entries) {
      const unknown = entries.filter(entry => entry.position > feed.place.position);
      const last = unknown.at(-1);
      if (!last) return;
      feed.place = { position: last.position, tag: last.tag };
      const own = subscriber.anonymous ? unknown.filter(({ closed }) => !closed) : unknown;
      if (own.length > 0) send(response, own.map(entry => eventText(entry, subscriber.userId)).join(''));
    },
    move(to) {
      if (to.position > feed.place.position) feed.place = to;
      send(response, `${KEEP_ALIVE}${cursorEvent(feed.place)}`);
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
