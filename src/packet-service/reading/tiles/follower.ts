import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import { type WakeableWait, wakeableWait } from '../../../platform/concurrency/wakeable-wait.ts';
import type { Broadcast } from '../../core/log/broadcast.ts';
import { countObservations, countOlderFields } from './counts.ts';

/** Time between two looks whether the log has grown, in milliseconds. A look needs no statement. */
const LOOK_MS = 250;
/** Least pause after a round, in milliseconds: observations that arrive meanwhile share the next one. */
const REST_MS = 1000;
/** Entries a second beyond which the service is busy with intake. */
const BUSY_RATE = 100;
/** Length of the pause after a round while it is busy, in multiples of the round. */
const BUSY_SHARE = 9;
/** Longest pause after a round, in milliseconds. */
const LONG_REST_MS = 10_000;
/** Pause after a failed round. */
const TROUBLE_MS = 2000;

export interface TileFollower {
  /** Starts to work in the background. */
  start(): void;
  /** How many entries of the log are not counted yet; undefined while that is not known. */
  behind(): number | undefined;
  /** Finishes the current round, then ends. */
  stop(): Promise<void>;
}

/**
 * Keeps the counts of maps up to date: follows the log and counts its observations, in rounds, one process at a time.
 * Intake does not wait for it, and while much arrives it rests nine times as long as it works.
 *
 * @param news knows the end of the log
 */
export function tileFollower(
  pool: pg.Pool,
  news: Pick<Broadcast, 'position'>,
  logger: FastifyBaseLogger,
  rest: WakeableWait = wakeableWait(),
): TileFollower {
  let stopping = false;
  let counted: number | undefined;
  let running: Promise<void> | undefined;

  async function countOlder(): Promise<void> {
    let after: string | undefined;
    do after = await countOlderFields(pool, after);
    while (after !== undefined && !stopping);
  }

  /** Counts until the end of the log is reached. */
  async function catchUp(): Promise<void> {
    let seen = { head: news.position ?? 0, at: performance.now() };
    while (!stopping && news.position !== undefined && news.position !== counted) {
      const began = performance.now();
      const before = counted;
      const { position, busy } = await countObservations(pool);
      counted = position;
      const now = performance.now();
      const rate = ((news.position - seen.head) / Math.max(1, now - seen.at)) * 1000;
      seen = { head: news.position, at: now };
      const isBacklog = !busy && position !== before && position < news.position;
      const share = rate > BUSY_RATE ? BUSY_SHARE : 0;
      const pause = Math.max(isBacklog ? 0 : REST_MS, share * (now - began));
      if (pause > 0) await rest.wait(Math.min(LONG_REST_MS, pause));
    }
  }

  async function run(): Promise<void> {
    let isOlderCounted = false;
    while (!stopping) {
      try {
        if (!isOlderCounted) await countOlder();
        isOlderCounted = true;
        await catchUp();
        await rest.wait(LOOK_MS);
      } catch (error) {
        if (stopping) return;
        logger.warn({ err: error }, 'could not update the counts of maps; will retry');
        await rest.wait(TROUBLE_MS);
      }
    }
  }

  return {
    start() {
      running ??= run();
    },
    behind: () =>
      news.position === undefined || counted === undefined ? undefined : Math.max(0, news.position - counted),
    async stop() {
      stopping = true;
      rest.wake();
      await running;
    },
  };
}
