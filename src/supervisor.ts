import { type ChildProcess, fork } from 'node:child_process';
import type { Logger } from 'pino';
import { greeting, type Listening } from './greeting.ts';
import { openBackups } from './platform/backup/backups.ts';
import { openDatabase } from './platform/embedded-postgres/open-database.ts';
import { type Settings, SettingsError } from './platform/settings/settings.ts';
import { collectMetrics, type MetricsExchange } from './platform/workers/collect-metrics.ts';
import type { ToSupervisor, ToWorker } from './platform/workers/messages.ts';
import { restartPause } from './platform/workers/restart-pause.ts';
import { WORKER_NUMBER } from './platform/workers/worker.ts';
import { PORTS } from './ports.ts';
import { migrateServices, stopDatabase } from './services.ts';
import { STOP_SIGNALS } from './stopping.ts';

/** A worker and its number, which a worker that replaces it gets, too. */
interface WorkerSlot {
  number: number;
  worker: ChildProcess;
  /** when it was started, by `performance.now()` */
  began: number;
  /** how often in a row it ended soon after it had started */
  failures: number;
}

/**
 * Serves with several processes on the same ports: migrates the database, starts WORKERS processes of this program, and
 * starts another one when one dies. Stops when all of them have stopped; the database last.
 *
 * @throws SettingsError, MigrationError; errors of the database
 */
export async function supervise(settings: Settings, logger: Logger): Promise<void> {
  const database = await openDatabase(settings, logger);
  const backups = openBackups(settings, database, logger);
  const end = () => stopDatabase(database, backups);
  const workers = startWorkers(settings, logger);
  const stopping = stopAllOnSignals(workers, logger, end);
  try {
    await migrateServices(settings, database, logger);
    const listening = await workers.start();
    if (listening) console.error(greeting(settings, listening));
  } catch (error) {
    if (stopping()) return;
    workers.send({ kind: 'stop', level: 1 });
    await workers.ended();
    await end();
    throw error;
  }
}

/** The settings with which the other workers listen where the first one does, which may have chosen its ports. */
function portsOf(listening: Listening): NodeJS.ProcessEnv {
  const urls = Object.entries(listening).filter(([, url]) => url !== undefined);
  return Object.fromEntries(
    urls.map(([name, url]) => [PORTS[name as keyof typeof PORTS], new URL(url).port || '80']),
  );
}

/** @param ended called once, with the exit code or signal, or with why the process could not be made */
function onEnd(worker: ChildProcess, ended: (how: string | number) => void): void {
  worker.once('exit', (code, signal) => ended(signal ?? code ?? 1));
  // A message to a process that is ending is an error, too.
  worker.on('error', (error: NodeJS.ErrnoException) => {
    if (worker.pid === undefined) ended(error.code ?? error.message);
  });
}

/** @returns where a worker listens as soon as it serves; undefined if it ends before */
function untilReady(worker: ChildProcess, exchange: MetricsExchange): Promise<Listening | undefined> {
  return new Promise(resolve => {
    onEnd(worker, () => resolve(undefined));
    worker.on('message', (message: ToSupervisor) => {
      if (message.kind !== 'ready') return exchange.take(worker, message);
      resolve({ packet: undefined, trace: undefined, console: undefined, ...message.listening });
    });
  });
}

/** The workers of a supervisor. */
interface Workers {
  /** Starts the first one, and the others when it serves; returns where they listen, unless they are stopped. */
  start(): Promise<Listening | undefined>;
  /** Sends all of them a message; after `stop` none is started again. */
  send(message: ToWorker): void;
  kill(): void;
  /** Resolves when none runs: whether all of them ended cleanly after `stop`. */
  ended(): Promise<boolean>;
}

function startWorkers({ WORKERS, SERVICES }: Settings, logger: Logger): Workers {
  const slots = new Map<number, WorkerSlot>();
  const exchange = collectMetrics(() => [...slots.values()].map(({ worker }) => worker));
  let hasStarted = false;
  let isStopping = false;
  let isClean = true;
  let onEnded = () => {};
  let ports: NodeJS.ProcessEnv = {};
  async function startWorker(number: number, failures = 0): Promise<Listening> {
    const env = { ...process.env, ...ports, [WORKER_NUMBER]: String(number) };
    const worker = fork(process.argv[1] as string, { env });
    const slot = { number, worker, began: performance.now(), failures };
    slots.set(number, slot);
    onEnd(worker, how => {
      slots.delete(number);
      ended(slot, how);
    });
    const listening = await untilReady(worker, exchange);
    if (!listening) throw new SettingsError(`worker ${number} of ${WORKERS} (${SERVICES}) did not start`);
    logger.info({ worker: number, pid: worker.pid }, 'worker started');
    ports = portsOf(listening);
    return listening;
  }

  function ended({ number, worker, began, failures }: WorkerSlot, how: string | number): void {
    const what = { worker: number, pid: worker.pid, ended: how };
    if (!isStopping) {
      // It has already printed why it does not start.
      if (!hasStarted) return;
      const { pause, failed } = restartPause(performance.now() - began, failures);
      logger.error({ ...what, pause }, 'a worker ended; starting another one');
      exchange.restarted();
      const restart = () => startWorker(number, failed).catch(() => {});
      setTimeout(() => isStopping || restart(), pause);
      return;
    }
    if (how !== 0) {
      isClean = false;
      logger.error(what, 'a worker did not stop cleanly');
    }
    if (slots.size === 0) onEnded();
  }

  return {
    async start() {
      if (isStopping) return undefined;
      const listening = await startWorker(1);
      if (isStopping) return undefined;
      await Promise.all(Array.from({ length: WORKERS - 1 }, (_, index) => startWorker(index + 2)));
      hasStarted = true;
      return listening;
    },
    send(message) {
      if (message.kind === 'stop') isStopping = true;
      for (const { worker } of slots.values()) if (worker.connected) worker.send(message);
    },
    kill() {
      for (const { worker } of slots.values()) worker.kill('SIGKILL');
    },
    async ended() {
      const { promise, resolve } = Promise.withResolvers<void>();
      onEnded = resolve;
      if (slots.size > 0) await promise;
      return isClean;
    },
  };
}

/**
 * Passes signals on: the first one stops all workers, the second one has them disconnect clients that take too long, the
 * third one kills them and leaves PostgreSQL running.
 *
 * @returns whether a stop has begun
 */
function stopAllOnSignals(workers: Workers, logger: Logger, end: () => Promise<void>): () => boolean {
  let level = 0;
  async function stop(): Promise<void> {
    const isClean = await workers.ended();
    await end();
    process.exit(isClean ? 0 : 1);
  }
  for (const signal of STOP_SIGNALS) {
    process.on(signal, () => {
      level++;
      workers.send({ kind: 'stop', level });
      if (level === 1) {
        logger.info({ signal }, 'stopping: the workers finish requests in flight first');
        stop().catch(error => {
          logger.error({ err: error }, 'stopping failed');
          process.exit(1);
        });
      } else if (level > 2) {
        workers.kill();
        process.exit(1);
      }
    });
  }
  return () => level > 0;
}
