import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import type { Sql } from 'sql-template-tag';
import { type Connection, type Database, type PoolWatch, transaction } from '../database/database.ts';
import type { Attempt } from '../jobs/job-worker.ts';
import { openJobs } from '../jobs/jobs.ts';
import type { Settings } from '../settings/settings.ts';
import type { DeliveryTable } from './deliveries-store.ts';
import { MailRefused, makeMailer } from './mail.ts';
import { watchedMailer } from './watched-mailer.ts';

/** The queue of jobs that have used up their attempts. */
export const DEAD_QUEUE = 'dead';

/** Longest wait between two attempts, in seconds. */
const MAX_RETRY_SECONDS = 2 * 3600;
/** Longest attempt, in seconds: longer than the timeouts for receivers, so that only jobs of killed processes exceed it. */
const ATTEMPT_SECONDS = 20;
/** Maximum dead letters that one transaction revives. */
const BATCH = 1000;

/** How a job ended without success: after how many attempts, and why; undefined if its process was killed. */
export type Ended = Attempt<unknown>['ended'];

export interface OutboxContext<Job> {
  connection: Connection;
  pool: pg.Pool;
  /** PostgreSQL's schema of the job queue */
  schema: string;
  logger: FastifyBaseLogger;
  watch?: PoolWatch | undefined;
  /** the queue of a job; `mail` by default */
  queueOf?: (job: Job) => string;
}

export type Outbox<Job extends object> = ReturnType<typeof openOutbox<Job>>;

/**
 * Mails, and what else is delivered, as jobs: each is sent at least once after the transaction that causes it has
 * committed, and retried until it is given up.
 */
export function openOutbox<Job extends object>(
  settings: Settings,
  { connection, pool, schema, logger, watch, queueOf = () => 'mail' }: OutboxContext<Job>,
) {
  const jobs = openJobs(connection, schema, logger, watch);
  const mailer = watchedMailer(makeMailer(settings), pool, logger);
  const rules = {
    tries: settings.NOTIFICATION_TRIES,
    retrySeconds: settings.NOTIFICATION_RETRY_SECONDS,
    maxRetrySeconds: MAX_RETRY_SECONDS,
    attemptSeconds: ATTEMPT_SECONDS,
    deadLetter: DEAD_QUEUE,
  };
  return {
    mailer,
    /** Queues jobs in the caller's transaction; the first attempt waits for `delaySeconds`. */
    async send(database: Database, data: readonly Job[], delaySeconds = 0): Promise<void> {
      for (const [queue, own] of Map.groupBy(data, queueOf)) {
        await jobs.send(database, queue, { ...rules, delaySeconds }, own);
      }
    },
    /**
     * Revives dead letters, in several transactions.
     *
     * @param revive up to so many in a transaction; returns how many there were
     * @param most after so many it ends
     * @returns how many in all
     */
    async replay(
      revive: (database: Database, limit: number) => Promise<number>,
      most = Number.POSITIVE_INFINITY,
    ): Promise<number> {
      for (let count = 0; ; ) {
        const revived = await transaction(pool, database => revive(database, BATCH));
        count += revived;
        if (revived === BATCH && count < most) continue;
        jobs.wake();
        return count;
      }
    },
    /**
     * Works on jobs; to be called before `start`. A mail that its server refuses for good is given up at once.
     *
     * @param concurrency jobs at once in this process, for each queue
     * @param queues one attempt, by the name of the queue
     */
    work(
      concurrency: number,
      queues: Readonly<Record<string, (job: Job, signal: AbortSignal) => Promise<void>>>,
      giveUp: (job: Job, ended: Ended) => Promise<void>,
    ): void {
      for (const [queue, tryOnce] of Object.entries(queues)) {
        jobs.work<Job>(queue, concurrency, async ({ data, number, signal }) => {
          try {
            await tryOnce(data, signal);
          } catch (error) {
            if (!(error instanceof MailRefused)) throw error;
            await giveUp(data, { attempts: number, error: error.message });
          }
        });
      }
      jobs.work<Job>(DEAD_QUEUE, concurrency, ({ data, ended }) => giveUp(data, ended));
    },
    /** Starts committed jobs at once. */
    wake: jobs.wake,
    start: jobs.start,
    async stop(): Promise<void> {
      await jobs.stop();
      mailer.close();
    },
  };
}

/**
 * Makes one attempt at deliveries, and records how it ended. Users read the message of its error, so `send` must contain
 * only mailer and webhook, whose messages are meant for that.
 *
 * @param which of the table they are
 * @param delivered records that they arrived
 * @throws what `send` throws
 */
export async function attempt(
  pool: pg.Pool,
  table: DeliveryTable,
  which: Sql,
  send: () => Promise<void>,
  delivered: () => Promise<unknown> = () => table.settle(pool, which, 'delivered', new Date()),
): Promise<void> {
  try {
    await send();
  } catch (error) {
    await table.noteFailure(pool, which, (error as Error).message, new Date());
    throw error;
  }
  await delivered();
}
