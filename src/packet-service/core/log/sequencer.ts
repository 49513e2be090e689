import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import { type WakeableWait, wakeableWait } from '../../../platform/concurrency/wakeable-wait.ts';
import type { Broadcast } from './broadcast.ts';
import type { ClockWatch } from './clock-watch.ts';
import { appendFor, type FindVisible } from './distributed.ts';
import { listen, NO_HORIZON, type Round, readNotice } from './store.ts';

/**
 * Minimum pause after a round that appended something, in milliseconds: entries committed meanwhile share the next
 * one. After a longer round, as when a transaction of hours keeps dead rows in the outbox, the pause is as long as
 * the round, so that the log takes at most half of the connection's time.
 */
const REST_MS = 25;
/** Maximum time between two rounds: entries of a process that was killed after its commit wait no longer. */
const IDLE_MS = 1000;
/** Pause after a failed round. */
const TROUBLE_MS = 500;

/** The listeners of the log. */
interface LogListeners {
  news: Pick<Broadcast, 'position' | 'advance' | 'settle'>;
  clock: Pick<ClockWatch, 'seen'>;
  onErased: () => void;
  findVisible: FindVisible;
}

/** How it waits. Tests pass waits that do not end by time. */
interface Waits {
  rest: WakeableWait;
  pause(ms: number): Promise<void>;
}

export interface Sequencer {
  /** Starts to work in the background. Waits for a database that is not available yet. */
  start(): void;
  /** Call this after every commit that wrote to the outbox. Returns at once. */
  wake(): void;
  /** How old an event in the outbox can be, in seconds: the time since it was last found empty. */
  outboxAge(): number;
  /** Appends what is in the outbox, then ends. */
  stop(): Promise<void>;
}

/**
 * Moves committed events from the outbox to the log. Every process appends, one at a time under an advisory lock: at
 * once after its own commits, so that a lone packet does not wait, and otherwise once a second, for processes that
 * were killed. It makes no difference which one appends, so there is no leader.
 *
 * @param pool of one connection in pipeline mode, which also listens
 * @param listeners news: gets the position of the last entry, after each append of any process and at least once a second;
 *   clock: gets the time of that entry; onErased: a packet was erased, or may have been while this process did not
 *   listen; findVisible: which packets can be read
 * @param waits replaces the timers
 */
export function sequencer(
  pool: pg.Pool,
  { news, clock, onErased, findVisible }: LogListeners,
  logger: FastifyBaseLogger,
  { rest, pause }: Waits = { rest: wakeableWait(), pause: wait },
): Sequencer {
  let stopping = false;
  // When the last round began that left nothing in the outbox.
  let emptied = performance.now();
  let running: Promise<void> | undefined;

  const onNotice = noticeListener({ news, onErased }, rest);

  /** Runs rounds on one connection until it breaks or the sequencer stops. */
  async function work(connection: pg.PoolClient): Promise<void> {
    connection.on('notification', onNotice);
    await listen(connection);
    onErased();
    const append = await appendFor(connection, findVisible);
    for (let horizon = NO_HORIZON; ; ) {
      // A wake during a round may be for a commit after the round's snapshot.
      rest.reset();
      const last = stopping;
      const began = performance.now();
      const before = news.position;
      const round: Round = await append(connection, horizon);
      horizon = round.horizon;
      news.settle(round.head, before);
      clock.seen(round.clock);
      if (round.more) continue;
      if (!round.waits) emptied = began;
      if (last) return;
      if (round.appended && !stopping) await pause(Math.max(REST_MS, performance.now() - began));
      await rest.wait(IDLE_MS);
    }
  }

  async function run(): Promise<void> {
    for (;;) {
      let connection: pg.PoolClient | undefined;
      try {
        connection = await pool.connect();
        return await work(connection);
      } catch (error) {
        if (stopping) return;
        logger.warn({ err: error }, 'could not append to the log; will retry');
        await pause(TROUBLE_MS);
      } finally {
        // Closed, not released: it listens, and after an error a transaction may be open.
        connection?.removeListener('notification', onNotice);
        connection?.release(true);
      }
    }
  }

  return {
    start() {
      running ??= run();
    },
    wake: rest.wake,
    outboxAge: () => (performance.now() - emptied) / 1000,
    async stop() {
      stopping = true;
      rest.wake();
      await running;
    },
  };
}

/** Makes the listener for database notifications. */
function noticeListener(
  { news, onErased }: Pick<LogListeners, 'news' | 'onErased'>,
  rest: WakeableWait,
): (notice: pg.Notification) => void {
  return notice => {
    const read = readNotice(notice);
    if (read === 'queued') rest.wake();
    else if (read === 'erased') onErased();
    else if (read !== undefined) news.advance(read);
  };
}
