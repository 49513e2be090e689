import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import { type JobInsert, PgBoss } from 'pg-boss';
import { endsWithin } from '../concurrency/ends-within.ts';
import { type Connection, type Database, openPool, type PoolWatch } from '../database/database.ts';
import { breakOff } from '../database/deadlines.ts';
import { createSchema } from '../database/make-schema.ts';
import { passingTrouble } from '../database/troubles.ts';
import { Problem } from '../http/problems.ts';
import { type Attempt, type JobWorker, startWorker } from './job-worker.ts';
import { type Supervision, supervise } from './supervision.ts';

/** The retry rules of a kind of jobs. */
export interface JobRules {
  /** attempts in all */
  tries: number;
  /** wait before the second attempt, in seconds; it doubles from attempt to attempt, with some jitter */
  retrySeconds: number;
  /** longest wait between two attempts, in seconds */
  maxRetrySeconds: number;
  /** timeout of one attempt, in seconds; after it the job of a killed process is retried */
  attemptSeconds: number;
  /** wait before the first attempt, in seconds; none by default */
  delaySeconds?: number;
  /** the dead letter queue, for jobs that have used up their attempts */
  deadLetter: string;
}

/** Background jobs, run at least once after the transaction that sent them has committed. */
export interface Jobs {
  /**
   * Sends jobs in the caller's transaction: they exist if it commits, and not otherwise.
   *
   * @throws Problem unavailable if the queue could not be opened since the start
   */
  send(database: Database, queue: string, rules: JobRules, data: readonly object[]): Promise<void>;
  /**
   * Registers a worker of a queue; to be called before `start`.
   *
   * @param concurrency jobs at once, in this process
   * @param handle one attempt; when it throws, the job is tried again as its rules say
   */
  work<Data>(queue: string, concurrency: number, handle: (attempt: Attempt<Data>) => Promise<void>): void;
  /** Makes this process's workers fetch jobs now instead of at their next poll. */
  wake(): void;
  /** Opens the queue and starts to work, in the background; retried until the database allows it. */
  start(): void;
  /** Stops the work: attempts in progress get a moment to end, the rest is left to the next start. */
  stop(): Promise<void>;
}

/** Maximum connections that one open queue uses. */
export const JOB_CONNECTIONS = 2;
/** Timeout of a statement of the queue: its maintenance scans whole tables. */
const DEADLINE = { ms: 60_000, of: 'statement' } as const;
/** Passes of the supervision by several processes are at least so far apart, in seconds: less than its interval. */
const CLAIM_SECONDS = 10;
/** How often pg-boss looks for the rest of its own migrations, in seconds; it writes each time. */
const MIGRATIONS_SECONDS = 24 * 3600;
/** How long unprocessed jobs are kept, in seconds: the maximum of pg-boss. */
const WAITING_SECONDS = 365 * 24 * 3600;
/** How long finished jobs are kept, in seconds. */
const DONE_SECONDS = 3600;
/** How long stopping waits for attempts in progress, in milliseconds. */
const STOP_PATIENCE_MS = 5_000;
/**
 * How long stopping waits for the database, in milliseconds: attempts in progress have ended before and record it
 * there.
 */
const SILENCE_MS = 2 * STOP_PATIENCE_MS;
/** How long senders wait for the queue to open, in milliseconds. */
const OPEN_PATIENCE_MS = 5_000;

/**
 * Creates or migrates the tables of the job queue. Idempotent, also if processes start together.
 *
 * @param schema a PostgreSQL schema for the job queue alone
 * @throws MigrationError if the role may not make the schema
 */
export async function prepareJobs(
  connection: Connection,
  schema: string,
  queues: readonly string[],
): Promise<void> {
  const pool = openPool(connection, schema, 1, { deadline: DEADLINE });
  const boss = makeBoss(pool, schema);
  boss.on('error', () => {});
  try {
    await createSchema(pool, schema);
    await boss.start();
    for (const queue of queues) await boss.createQueue(queue);
  } finally {
    await boss.stop({ graceful: false });
    await pool.end();
  }
}

/**
 * The job queue in a schema that `prepareJobs` made, over two separate connections, neither of which is held while a
 * job runs.
 */
export function openJobs(
  connection: Connection,
  schema: string,
  logger: FastifyBaseLogger,
  watch?: PoolWatch,
): Jobs {
  const pool = openPool(connection, schema, JOB_CONNECTIONS, { deadline: DEADLINE, watch });
  const report = reportTo(logger);
  const begin: ((boss: PgBoss) => JobWorker)[] = [];
  const workers: JobWorker[] = [];
  let supervision: Supervision | undefined;
  const opened = Promise.withResolvers<PgBoss>();
  opened.promise.catch(() => {});
  const stopping = new AbortController();
  let opening: Promise<PgBoss | undefined> | undefined;

  return {
    async send(database, queue, rules, data) {
      if (data.length === 0) return;
      const boss = await patiently(opened.promise);
      const jobs = data.map(item => ({ ...optionsOf(rules), data: item }));
      await boss.insert(queue, jobs, { db: forBoss(database) });
    },
    work(queue, concurrency, handle) {
      begin.push(boss => startWorker(boss, queue, concurrency, handle, report));
    },
    wake() {
      for (const worker of workers) worker.wake();
    },
    start() {
      opening ??= open(() => makeBoss(pool, schema), logger, stopping.signal).then(boss => {
        if (!boss) return undefined;
        workers.push(...begin.map(start => start(boss)));
        if (workers.length > 0) supervision = supervise(boss, pool, schema, report);
        opened.resolve(boss);
        return boss;
      });
    },
    async stop() {
      stopping.abort();
      // Statements of the queue may take a minute; an unresponsive database must not delay stopping that long.
      const breaking = setInterval(() => breakOff(pool), SILENCE_MS);
      const boss = await opening;
      opened.reject(new Problem('service.stopping', {}, { retryAfter: 5 }));
      await Promise.all([supervision?.stop(), ...workers.map(worker => worker.stop(STOP_PATIENCE_MS))]);
      await boss?.stop({ graceful: false });
      await pool.end();
      clearInterval(breaking);
    },
  };
}

function makeBoss(database: Database, schema: string): PgBoss {
  return new PgBoss({
    db: forBoss(database),
    schema,
    createSchema: false,
    supervise: false,
    monitorIntervalSeconds: CLAIM_SECONDS,
    maintenanceIntervalSeconds: CLAIM_SECONDS,
    bamIntervalSeconds: MIGRATIONS_SECONDS,
    monitorVacuum: false,
    schedule: false,
  });
}

/** Retries until the queue can be opened; undefined if cancelled. */
async function open(
  make: () => PgBoss,
  logger: FastifyBaseLogger,
  calledOff: AbortSignal,
): Promise<PgBoss | undefined> {
  for (let pause = 500; !calledOff.aborted; pause = Math.min(pause * 2, 10_000)) {
    const boss = make();
    boss.on('error', reportTo(logger));
    boss.on('warning', warning => logger.warn({ warning }, 'warning of the job queue'));
    try {
      return await boss.start();
    } catch (error) {
      logger.warn({ err: error }, 'the job queue could not be opened; will retry');
      await boss.stop({ graceful: false }).catch(() => {});
      await sleep(pause, undefined, { signal: calledOff }).catch(() => {});
    }
  }
  return undefined;
}

/** While the database is unreachable every poll fails; requests and the health check report that already. */
function reportTo(logger: FastifyBaseLogger): (error: unknown) => void {
  return error => {
    if (passingTrouble(error)) logger.debug({ err: error }, 'the job queue is waiting for the database');
    else logger.error({ err: error }, 'error of the job queue');
  };
}

function optionsOf(rules: JobRules): JobInsert {
  return {
    retryLimit: rules.tries - 1,
    retryDelay: rules.retrySeconds,
    retryBackoff: true,
    retryDelayMax: rules.maxRetrySeconds,
    expireInSeconds: rules.attemptSeconds,
    retentionSeconds: WAITING_SECONDS,
    deleteAfterSeconds: DONE_SECONDS,
    deadLetter: rules.deadLetter,
    ...(rules.delaySeconds !== undefined && { startAfter: rules.delaySeconds }),
  };
}

function forBoss(database: Database) {
  return {
    executeSql: (text: string, values?: unknown[]) =>
      database.query(values === undefined ? { text } : { text, values }),
  };
}

/** @throws Problem unavailable when the queue does not open soon */
async function patiently(opened: Promise<PgBoss>): Promise<PgBoss> {
  if (await endsWithin(opened, OPEN_PATIENCE_MS)) return opened;
  throw new Problem('service.jobs_not_open', {}, { retryAfter: 5 });
}
