import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Server } from './platform/http/server.ts';
import { listenToSupervisor, workerNumber } from './platform/workers/worker.ts';

/** How long stopping waits for requests in flight, in milliseconds. */
const REQUESTS_MS = 15_000;
/** How long it then waits for writes and jobs in progress, in milliseconds. */
const WRITES_MS = 30_000;

/** How long each step of a stop may take, in milliseconds. */
export interface StopLimits {
  /** how long readiness is already false while new requests are still served: DRAIN_SECONDS */
  drainMs: number;
  requestsMs: number;
  writesMs: number;
}

/** SIGHUP comes when a terminal is closed. */
export const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** Servers and database to stop; servers are added as they are created. */
export interface Running {
  servers: Server[];
  database: { stop: () => Promise<void> };
}

/**
 * Stops at the first signal: health answers 503 and requests are served until load balancers have noticed (DRAIN_SECONDS,
 * or a second signal), then requests in flight are answered, waiting packets are written, the embedded PostgreSQL
 * ends. Clients that take too long are disconnected after 15 seconds, or at a second signal; their requests were not
 * acknowledged. What is not written 30 seconds later was not acknowledged either, and is dropped. A third signal ends
 * the process at once and leaves PostgreSQL running. The exit code is 0 when PostgreSQL has ended cleanly.
 *
 * @returns a function that stops everything without a signal
 */
export function stopOnSignals(
  running: Running,
  logger: Logger,
  { drainMs, requestsMs = REQUESTS_MS, writesMs = WRITES_MS }: Partial<StopLimits> & { drainMs: number },
): () => Promise<void> {
  const limits: StopLimits = { drainMs, requestsMs, writesMs };
  const cutOff = new AbortController();
  let stopping: Promise<void> | undefined;
  const stop = (drain: boolean) => {
    stopping ??= stopAll(running, { ...limits, drainMs: drain ? drainMs : 0 }, cutOff, logger);
    return stopping;
  };
  countSignals((level, signal) => {
    if (level > 2) process.exit(1);
    if (level === 2) {
      cutOff.abort();
      return;
    }
    logger.info({ signal, drainSeconds: drainMs / 1000 }, 'stopping: finishing requests in flight first');
    stop(true).then(
      () => process.exit(0),
      error => {
        logger.error({ err: error }, 'stopping failed');
        process.exit(1);
      },
    );
  });
  return () => stop(false);
}

/**
 * Counts the signals to stop. A supervisor sends its workers the number that it has got: a terminal and some service managers
 * send a signal to the whole group, which must not count twice. A worker that gets SIGTERM alone stops as well.
 */
function countSignals(onSignal: (level: number, signal?: string) => void): void {
  let level = 0;
  const raise = (to: number, signal?: string) => {
    while (level < to) onSignal(++level, signal);
  };
  const isWorker = workerNumber() !== undefined;
  for (const signal of STOP_SIGNALS) {
    if (!isWorker) process.on(signal, () => raise(level + 1, signal));
    else process.on(signal, () => signal === 'SIGTERM' && raise(1, signal));
  }
  if (isWorker) listenToSupervisor(raise);
}

async function stopAll(
  { servers, database }: Running,
  { drainMs, requestsMs, writesMs }: StopLimits,
  cutOff: AbortController,
  logger: Logger,
): Promise<void> {
  for (const server of servers) server.isDraining = true;
  if (drainMs > 0) await within(drainMs, cutOff.signal);
  const closed = Promise.all(servers.map(server => server.close())).then(() => true);
  closed.catch(() => {});
  let clean = await Promise.race([closed, within(requestsMs, cutOff.signal)]);
  if (!clean) {
    logger.warn('closing the connections of requests that are still in flight');
    for (const { server } of servers) server.closeAllConnections();
    clean = await Promise.race([closed, within(writesMs)]);
  }
  if (!clean) logger.error('the services did not stop in time; closing their connections to the database');
  await database.stop();
}

/** False after some milliseconds, or as soon as the wait is cancelled. */
async function within(ms: number, calledOff?: AbortSignal): Promise<false> {
  await wait(ms, undefined, { ref: false, ...(calledOff && { signal: calledOff }) }).catch(() => {});
  return false;
}
