import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import type { Database } from '../../platform/postgres/database.ts';
import { type Deliver, type Interest, makeAudience, type ThreadAudience } from './audience.ts';
import type { LogPlace } from './log-place.ts';
import { findKeys, readNews, readPlaces, type Stretch } from './read-store.ts';

/** Positions that are read at once. */
const STRETCH = 5000;
/** Rest after a read that failed, in milliseconds. */
const TROUBLE_MS = 500;

/** Who takes part in threads now, by thread (uuid form). */
export type ParticipantsOf = (
  database: Database,
  threadIds: readonly string[],
) => Promise<Map<string, ThreadAudience>>;

export interface Broadcast {
  /** Up to where everything has been delivered; undefined until the database has answered once. */
  readonly position: number | undefined;
  /** Resolves when there is a position. */
  readonly ready: Promise<void>;
  /** The place at `position`; undefined while its tag is not known, since nobody listened. */
  readonly place: LogPlace | undefined;
  /** Takes the position of the log's last entry; reads and delivers what is new. Returns at once. */
  advance(head: number): void;
  /**
   * The same, of a head that was read from the log itself.
   *
   * @param before `position` when the reading began: a head below it is the end of another log
   */
  settle(head: number, before: number | undefined): void;
  /**
   * Delivers what is for a user from `position` on, as it is in this very moment.
   *
   * @returns what ends it
   */
  subscribe(userId: string, deliver: Deliver): () => void;
  /**
   * Calls `wake` when something of interest may have come after a position, at once when it has been passed already,
   * and when the broadcast stops.
   *
   * @returns what ends it
   */
  onNext(interest: Interest, after: number, wake: () => void): () => void;
  /** Calls back when another log has taken the place of the one that was read, as after a failover. */
  onReplaced(callBack: () => void): void;
  /** Wakes all who wait; nothing is delivered any more. */
  stop(): void;
}

/**
 * Reads each stretch of the log once for all who listen in this process, and tells each what is for him. Who takes
 * part in a thread is asked at the time of delivery.
 *
 * Nobody who joins misses anything: the audience is looked at, and the position moved, in one step after the last
 * read, so that what a subscriber finds as the position when he joins is what he has not been told after.
 *
 * The database may be replaced while the process runs, by a server that lacks the last commits. Then the log ends
 * before the position, or has another tag there: whoever listens is woken or told, and the broadcast begins anew.
 */
export function broadcast(
  pool: pg.Pool,
  logger: FastifyBaseLogger,
  participantsOf: ParticipantsOf,
): Broadcast {
  const audience = makeAudience();
  const ready = Promise.withResolvers<void>();
  let position: number | undefined;
  /** of the entry at the position; undefined while it is not known */
  let tag: number | null | undefined;
  let head = 0;
  const replacedCallBacks: (() => void)[] = [];
  let reading = false;
  let stopped = false;

  async function readOn(): Promise<void> {
    while (position !== undefined && position < head && !stopped) {
      const after = position;
      try {
        await deliver({ after, upTo: Math.min(head, after + STRETCH) });
      } catch (error) {
        logger.warn({ err: error }, 'the log cannot be read; feeds wait');
        await wait(TROUBLE_MS);
      }
    }
    reading = false;
  }

  async function deliver(stretch: Stretch): Promise<void> {
    const hadUsers = audience.hasUsers();
    const asked = audience.geoidKeys();
    const listened = audience.listens();
    const [news, seen, [before, after]] = await Promise.all([
      hadUsers ? readNews(pool, stretch) : [],
      asked.length > 0 ? findKeys(pool, asked, stretch) : [],
      listened ? placesAt(stretch) : [],
    ]);
    const threadIds = [...new Set(news.flatMap(({ threadId }) => threadId ?? []))];
    const participants =
      threadIds.length > 0 ? await participantsOf(pool, threadIds) : new Map<string, ThreadAudience>();
    // Whoever came first during the reads was not read for: the stretch is read again.
    if (!hadUsers && audience.hasUsers()) return;
    // Replaced during the reads.
    if (position !== stretch.after) return;
    if (listened && (!after || (tag !== undefined && before?.tag !== tag))) return replaced();

    position = stretch.upTo;
    tag = after?.tag;
    audience.tell(news, participants);
    // A GeoID that came during the reads was not asked for; who waits for it looks for himself.
    const late = audience.geoidKeys().filter(key => !asked.includes(key));
    audience.wake([...seen, ...late]);
  }

  async function placesAt({ after, upTo }: Stretch): Promise<(LogPlace | undefined)[]> {
    return (await readPlaces(pool, [after, upTo])).places;
  }

  /** Begins anew, at the end of the log as the next round finds it. */
  function replaced(): void {
    logger.warn({ position }, 'the log is another one than before: clients start over');
    position = undefined;
    tag = undefined;
    head = 0;
    for (const callBack of replacedCallBacks) callBack();
    audience.wakeAll();
  }

  function advance(to: number): void {
    head = Math.max(head, to);
    // What was there before the process was is nobody's news.
    position ??= head;
    ready.resolve();
    if (reading || position >= head) return;
    reading = true;
    readOn();
  }

  return {
    get position() {
      return position;
    },
    ready: ready.promise,
    get place() {
      return position === undefined || tag === undefined ? undefined : { position, tag };
    },
    advance,
    settle(to, before) {
      if (before !== undefined && to < before) replaced();
      advance(to);
    },
    onReplaced: callBack => replacedCallBacks.push(callBack),
    subscribe: audience.subscribe,
    onNext(interest, after, wake) {
      const leave = audience.await(interest, wake);
      if (stopped || (position ?? 0) > after) wake();
      return leave;
    },
    stop() {
      stopped = true;
      audience.wakeAll();
    },
  };
}
