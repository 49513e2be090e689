import type { ServerResponse } from 'node:http';
import type { FastifyBaseLogger } from 'fastify';
import type { JWTPayload } from 'jose';
import pLimit, { type LimitFunction } from 'p-limit';
import type pg from 'pg';
import { batchLoader } from '../../../platform/concurrency/batch-loader.ts';
import { endsWithin } from '../../../platform/concurrency/ends-within.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Refusal, UserRegistry } from '../../../platform/tokens/user-registry.ts';
import { findThreadIds } from '../../collaboration/chat/threads/store.ts';
import type { Broadcast } from '../../core/log/broadcast.ts';
import { checkLogCursor, type LogCursor } from '../../core/log/log-cursor.ts';
import { readCursors, readEntriesOfUser } from '../../core/log/read-store.ts';
import { RETRY, STREAM_HEADERS } from './event-stream.ts';
import { type Feed, makeFeed, type Subscriber } from './feed.ts';

/** Entries that a resuming feed reads per query. */
const PAGE = 200;
/** Resuming feeds that read at the same time: after a restart all feeds resume, and intake needs connections too. */
const READERS = 2;
/** How long a feed waits for the log at the start of the process, in milliseconds. */
const START_PATIENCE_MS = 5000;

/** Limits; tests use smaller ones. */
const LIMITS = {
  /** feeds that one process keeps open, at most */
  feeds: 5000,
  /** proxies close connections that are idle for half a minute */
  heartbeatMs: 20_000,
  /** lifetime of a feed; then its client reconnects, with a token that is valid then */
  lifeMs: 3600 * 1000,
};

export interface Feeds {
  /**
   * Sends a user's events over a response, which it takes over, from after a cursor; without one from now on.
   *
   * @throws Problem unavailable when there are too many feeds, or the log cannot be read yet; conflict if the cursor
   *   is of another log
   */
  open(
    subscriber: Subscriber,
    after: LogCursor | undefined,
    response: ServerResponse,
    headers: object,
  ): Promise<void>;
  /** How many are open. */
  count(): number;
  /** Ends all feeds at once. */
  stop(): void;
}

interface Services {
  pool: pg.Pool;
  news: Broadcast;
  logger: FastifyBaseLogger;
  /** the user registry, if it is in this process */
  registry?: UserRegistry | undefined;
  /** why the token or key with some claims no longer counts; absent if they count until they expire */
  refusalOf?: (claims: JWTPayload) => Promise<Refusal | undefined>;
  /** whether a user has ever sent a token; then they have no feed without one */
  isTokenUser: (userId: string) => Promise<boolean>;
}

/** Feeds, each with the function that ends its subscription; undefined while it resumes. */
type OpenFeeds = Map<Feed, (() => void) | undefined>;

/** The open feeds of this process. */
export function openFeeds(
  { pool, news, logger, registry, refusalOf, isTokenUser }: Services,
  limits: typeof LIMITS = LIMITS,
): Feeds {
  const feeds: OpenFeeds = new Map();
  const limitReaders = pLimit(READERS);
  // After a restart all clients reconnect at once.
  const cursorAt = batchLoader(async (positions: number[]) => (await readCursors(pool, positions)).cursors, {
    max: 500,
  });
  news.onReplaced(() => {
    for (const feed of feeds.keys()) feed.end();
  });

  const heart = setInterval(
    () => beat(feeds, { pool, news, logger, isTokenUser, ...(refusalOf && { refusalOf }) }),
    limits.heartbeatMs,
  );
  heart.unref();

  registry?.onEnded(userId => {
    for (const feed of feeds.keys()) if (feed.userId === userId) endWithSession(feed, refusalOf, logger);
  });

  /** Where a feed begins: after the last entry that its client has had, else at the end of the log. */
  async function startOf(after: LogCursor | undefined): Promise<LogCursor | undefined> {
    if (news.position === undefined) await endsWithin(news.ready, START_PATIENCE_MS);
    const wanted = after?.position ?? news.position;
    const cursor = wanted === undefined ? undefined : await cursorAt(wanted);
    if (after && wanted !== undefined) checkLogCursor('Last-Event-ID', after, cursor);
    return cursor;
  }

  return {
    async open(subscriber, after, response, headers) {
      const cursor = await startOf(after);
      // No await from here on, so that no other feed is counted in between.
      if (feeds.size >= limits.feeds || !cursor || news.position === undefined) {
        const why = feeds.size >= limits.feeds ? 'feed.too_many' : 'feed.log_not_readable';
        throw new Problem(why, {}, { retryAfter: 5 });
      }
      if (response.destroyed) return;
      const { exp = Number.POSITIVE_INFINITY } = subscriber.claims ?? {};
      const endsAt = Math.min(Date.now() + limits.lifeMs, exp * 1000);
      const feed = makeFeed(response, subscriber, cursor, endsAt);
      feeds.set(feed, undefined);
      response
        .on('error', () => {})
        .on('close', () => {
          feeds.get(feed)?.();
          feeds.delete(feed);
        });
      response.writeHead(200, { ...headers, ...STREAM_HEADERS }).write(RETRY);
      resume(feeds, feed, { pool, news, limitReaders, cursorAt }).catch(error => {
        logger.warn({ err: error }, 'a feed could not resume; ending it, its client will reconnect');
        response.destroy();
      });
    },
    count: () => feeds.size,
    stop() {
      clearInterval(heart);
      for (const feed of feeds.keys()) feed.end();
    },
  };
}

/** Dependencies of resuming. */
interface Resuming {
  pool: pg.Pool;
  news: Broadcast;
  limitReaders: LimitFunction;
  cursorAt: (position: number) => Promise<LogCursor | undefined>;
}

/** Reads the entries since the client's cursor until it has caught up with the broadcast. */
async function resume(
  feeds: OpenFeeds,
  feed: Feed,
  { pool, news, limitReaders, cursorAt }: Resuming,
): Promise<void> {
  while (news.position !== undefined && feed.cursor.position < news.position && feeds.has(feed)) {
    const upTo = news.position;
    const missed = await limitReaders(() => readMissed(pool, feed, upTo));
    const end = missed.end ?? (await cursorAt(upTo));
    // The log has been replaced meanwhile, which ends all feeds.
    if (!end) return;
    feed.send(missed.entries);
    feed.cursor = end;
    await feed.taken();
  }
  // No await since the position was compared, so the subscription misses nothing.
  if (!feeds.has(feed)) return;
  feeds.set(feed, news.subscribe(feed.userId, feed.send));
  feed.move(feed.cursor);
}

/** Keeps feeds alive, and ends those with an expired lifetime or session. */
function beat(feeds: OpenFeeds, { news, refusalOf, isTokenUser, logger }: Services): void {
  for (const [feed, leave] of feeds) {
    if (Date.now() > feed.endsAt) feed.end();
    // A quiet feed's cursor advances too, so that resuming never has much to read.
    else if (leave && news.cursor) feed.move(news.cursor);
    else feed.beat();
    // Another process may have ended the session, or seen a token of the user.
    endWithSession(feed, refusalOf, logger);
    if (feed.anonymous) endIfClaimed(feed, isTokenUser, logger);
  }
}

/** Ends a feed without a token if its user has sent one since. */
function endIfClaimed(feed: Feed, isTokenUser: Services['isTokenUser'], logger: FastifyBaseLogger): void {
  isTokenUser(feed.userId).then(
    claimed => claimed && feed.end(),
    error => logger.warn({ err: error }, 'could not look up whether the user of a feed has a token'),
  );
}

/** Ends a feed whose session or key was ended. */
function endWithSession(feed: Feed, refusalOf: Services['refusalOf'], logger: FastifyBaseLogger): void {
  if (!refusalOf || !feed.claims) return;
  refusalOf(feed.claims).then(
    refusal => refusal && feed.end(),
    error => logger.warn({ err: error }, 'could not look up whether the session of a feed has ended'),
  );
}

/** The next entries for a feed's user, and the position up to which they are complete; undefined if that is `upTo`. */
async function readMissed(pool: pg.Pool, feed: Feed, upTo: number) {
  const { userId, anonymous } = feed;
  const after = feed.cursor.position;
  const threadIds = await findThreadIds(pool, userId, { openOnly: anonymous });
  const entries = await readEntriesOfUser(pool, { userId, threadIds }, { after, upTo }, PAGE);
  const last = entries.length === PAGE ? entries.at(-1) : undefined;
  return { entries, end: last && { position: last.position, tag: last.tag } };
}
