import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import type { Database } from '../../../platform/database/database.ts';
import { type Audience, type Deliver, type Interest, makeAudience, type ThreadAudience } from './audience.ts';
import type { LogCursor } from './log-cursor.ts';
import { findKeys, type LogRange, readCursors, readUserEntries } from './read-store.ts';

/** Positions that are read at once. */
const STRETCH = 5000;
/** Pause after a failed read, in milliseconds. */
const TROUBLE_MS = 500;

/** The current participants of threads, by thread (uuid form). */
export type ParticipantsOf = (
  database: Database,
  threadIds: readonly string[],
) => Promise<Map<string, ThreadAudience>>;

export interface Broadcast {
  /** Up to where everything has been delivered; undefined until the database has answered once. */
  readonly position: number | undefined;
  /** Resolves when there is a position. */
  readonly ready: Promise<void>;
  /** The cursor at `position`; undefined while its tag is not known because nobody listened. */
  readonly cursor: LogCursor | undefined;
  /** Takes the position of the log's last entry; reads and delivers what is new. Returns at once. */
  advance(head: number): void;
  /**
   * The same, for a head read from the log.
   *
   * @param before `position` when the reading began: a head below it is the end of another log
   */
  settle(head: number, before: number | undefined): void;
  /**
   * Delivers a user's entries after the current `position`.
   *
   * @returns a function that ends it
   */
  subscribe(userId: string, deliver: Deliver): () => void;
  /**
   * Calls `wake` when an interesting entry may exist after a position (at once if the log is past it already), and
   * when the broadcast stops.
   *
   * @returns a function that ends it
   */
  onNext(interest: Interest, after: number, wake: () => void): () => void;
  /** Calls back when the log has been replaced by another one, as after a failover. */
  onReplaced(callBack: () => void): void;
  /** Wakes all waiting requests and stops delivering. */
  stop(): void;
}

/**
 * Reads each range of the log once for all listeners in this process, and delivers to each user their entries.
 * Participants are looked up at the time of delivery.
 *
 * New subscribers miss nothing: reading the audience and advancing the position are one step after the last query, so
 * that a subscriber gets exactly the entries after the position at which it joined.
 *
 * The database can be replaced while the process runs, by a server that lacks the last commits. Then the log ends
 * before the position, or has another tag there: all listeners are notified, and the broadcast starts over.
 */
export function broadcast(
  pool: pg.Pool,
  logger: FastifyBaseLogger,
  participantsOf: ParticipantsOf,
): Broadcast {
  const audience = makeAudience();
  const follower = followLog({ pool, logger, participantsOf, audience });
  let stopped = false;
  return Object.assign(follower, {
    subscribe: audience.subscribe,
    onNext(interest: Interest, after: number, wake: () => void) {
      const leave = audience.await(interest, wake);
      if (stopped || (follower.position ?? 0) > after) wake();
      return leave;
    },
    stop() {
      stopped = true;
      follower.end();
      audience.wakeAll();
    },
  });
}

/** Dependencies of the broadcast. */
interface Following {
  pool: pg.Pool;
  logger: FastifyBaseLogger;
  participantsOf: ParticipantsOf;
  audience: Audience;
}

/** Keeps the position up to which everything has been delivered, and reads on from there as the log grows. */
function followLog(following: Following) {
  const { logger, audience } = following;
  const ready = Promise.withResolvers<void>();
  let position: number | undefined;
  /** of the entry at the position; undefined if not known */
  let tag: number | null | undefined;
  let head = 0;
  const replacedCallBacks: (() => void)[] = [];
  let reading = false;
  let ended = false;

  /** The next range to read. The end is recorded in the same step, so that no advance is missed. */
  function nextStretch(): LogRange | undefined {
    reading = !ended && position !== undefined && position < head;
    const after = position as number;
    return reading ? { after, upTo: Math.min(head, after + STRETCH) } : undefined;
  }

  async function deliver(stretch: LogRange): Promise<void> {
    const { news, seen, participants, cursors, geoidKeys } = await readStretch(following, stretch);
    // Read again if the first user joined during the queries; stop if the log was replaced during them.
    if ((news === undefined && audience.hasUsers()) || position !== stretch.after) return;
    const [before, after] = cursors ?? [];
    if (cursors && (!after || (tag !== undefined && before?.tag !== tag))) return replaced();

    position = stretch.upTo;
    tag = after?.tag;
    audience.deliver(news ?? [], participants);
    // A GeoID that joined during the queries was not included; its listener runs its own query.
    const late = audience.geoidKeys().filter(key => !geoidKeys.includes(key));
    audience.wake([...seen, ...late]);
  }

  /** Starts over at the end of the log found by the next round. */
  function replaced(): void {
    logger.warn({ position }, 'the log was replaced by another one: clients start over');
    position = undefined;
    tag = undefined;
    head = 0;
    for (const callBack of replacedCallBacks) callBack();
    audience.wakeAll();
  }

  function advance(to: number): void {
    head = Math.max(head, to);
    // Entries older than the process are not delivered.
    position ??= head;
    ready.resolve();
    if (!reading && position < head) deliverAll(logger, nextStretch, deliver);
  }

  return {
    get position() {
      return position;
    },
    ready: ready.promise,
    get cursor() {
      return position === undefined || tag === undefined ? undefined : { position, tag };
    },
    advance,
    settle(to: number, before: number | undefined) {
      if (before !== undefined && to < before) replaced();
      advance(to);
    },
    onReplaced: (callBack: () => void) => replacedCallBacks.push(callBack),
    end() {
      ended = true;
    },
  };
}

/** Delivers range after range while there is a next one; a failed one is retried after a pause. */
async function deliverAll(
  logger: FastifyBaseLogger,
  next: () => LogRange | undefined,
  deliver: (stretch: LogRange) => Promise<void>,
): Promise<void> {
  for (let stretch = next(); stretch; stretch = next()) {
    try {
      await deliver(stretch);
    } catch (error) {
      logger.warn({ err: error }, 'the log cannot be read; feeds are waiting');
      await wait(TROUBLE_MS);
    }
  }
}

/** The contents of a range of the log for the current listeners; undefined if nobody listens. */
async function readStretch({ pool, participantsOf, audience }: Following, stretch: LogRange) {
  const geoidKeys = audience.geoidKeys();
  const [news, seen, read] = await Promise.all([
    audience.hasUsers() ? readUserEntries(pool, stretch) : undefined,
    geoidKeys.length > 0 ? findKeys(pool, geoidKeys, stretch) : [],
    audience.listens() ? readCursors(pool, [stretch.after, stretch.upTo]) : undefined,
  ]);
  const threadIds = [...new Set((news ?? []).flatMap(({ threadId }) => threadId ?? []))];
  const participants =
    threadIds.length > 0 ? await participantsOf(pool, threadIds) : new Map<string, ThreadAudience>();
  return { news, seen, participants, cursors: read?.cursors, geoidKeys };
}
