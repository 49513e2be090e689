import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import { type WakeableWait, wakeableWait } from '../../platform/concurrency/wakeable-wait.ts';
import type { Broadcast } from './broadcast.ts';
import type { ClockWatch } from './clock-watch.ts';
import { appendQueued, listen, NO_HORIZON, type Round, readNotice } from './store.ts';

/**
 * Least rest after a round that appended something, in milliseconds: what is committed meanwhile shares the next. A
 * round that took longer, as when a transaction of hours keeps dead rows in the queue, is rested from as long: the log
 * takes half a connection's time at most.
 */
const REST_MS = 25;
/** Longest time between two rounds: what another process committed before it was killed waits no longer. */
const IDLE_MS = 1000;
/** Rest after a round that failed. */
const TROUBLE_MS = 500;

/** Who is told of the log. */
interface Told {
  news: Pick<Broadcast, 'position' | 'advance' | 'settle'>;
  clock: Pick<ClockWatch, 'seen'>;
  onErased: () => void;
}

/** How it waits: given by tests, whose waits do not end by time. */
interface Waits {
  rest: WakeableWait;
  pause(ms: number): Promise<void>;
}

export interface Sequencer {
  /** Begins to work in the background. A database that is not there yet is waited for. */
  start(): void;
  /** To be called after every commit that queued something. Returns at once. */
  wake(): void;
  /** Appends what is queued now, and ends. */
  stop(): Promise<void>;
}

/**
 * Gives what was committed its place in the log. Every process appends, one at a time under a lock of the database:
 * after its own commits at once, so that a lone packet waits for nothing, otherwise once a second for those who died
 * before they could. Which one appends makes no difference, so there is no office to take over.
 *
 * @param pool of one connection in pipeline mode, which also listens
 * @param tell news: gets the position of the last entry, after each append of any process and at least once a second;
 *   clock: gets the time of that entry; onErased: that a packet was erased, or may have been while nobody listened
 * @param waits in place of timers
 */
export function sequencer(
  pool: pg.Pool,
  { news, clock, onErased }: Told,
  logger: FastifyBaseLogger,
  { rest, pause }: Waits = { rest: wakeableWait(), pause: wait },
): Sequencer {
  let stopping = false;
  let running: Promise<void> | undefined;

  function onNotice(notice: pg.Notification): void {
    const read = readNotice(notice);
    if (read === 'queued') rest.wake();
    else if (read === 'erased') onErased();
    else if (read !== undefined) news.advance(read);
  }

  /** Rounds on one connection until it breaks or all ends. */
  async function work(connection: pg.PoolClient): Promise<void> {
    connection.on('notification', onNotice);
    await listen(connection);
    onErased();
    for (let horizon = NO_HORIZON; ; ) {
      // What wakes it during a round may have committed after the round's snapshot.
      rest.reset();
      const last = stopping;
      const began = performance.now();
      const before = news.position;
      const round: Round = await appendQueued(connection, horizon);
      horizon = round.horizon;
      news.settle(round.head, before);
      clock.seen(round.clock);
      if (round.more) continue;
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
        logger.warn({ err: error }, 'the log cannot be appended to; tried again');
        await pause(TROUBLE_MS);
      } finally {
        // Closed, not handed on: it listens, and after an error a transaction may be open.
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
    async stop() {
      stopping = true;
      rest.wake();
      await running;
    },
  };
}
