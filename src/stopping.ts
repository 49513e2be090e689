import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Server } from './platform/http/server.ts';

/** How long stopping waits for requests in flight, in milliseconds. */
const REQUESTS_MS = 15_000;
/** How long it then waits for writes and jobs in progress, in milliseconds. */
const WRITES_MS = 30_000;
const LIMITS = { requestsMs: REQUESTS_MS, writesMs: WRITES_MS };

/** SIGHUP comes when a terminal is closed. */
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** What has to be stopped; servers are added as they are created. */
export interface Running {
  servers: Server[];
  database: { stop: () => Promise<void> };
}

/**
 * Stops at the first signal: requests in flight are answered, waiting packets are written, the embedded PostgreSQL
 * ends. Clients that take too long are disconnected after 15 seconds, or at a second signal; their requests were not
 * acknowledged. What is not written 30 seconds later was not acknowledged either, and is dropped. A third signal ends
 * the process at once and leaves PostgreSQL running. The exit code is 0 when PostgreSQL has ended cleanly.
 *
 * @returns a function that stops everything without a signal
 */
export function stopOnSignals(running: Running, logger: Logger, limits = LIMITS): () => Promise<void> {
  const cutOff = new AbortController();
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= stopAll(running, limits, cutOff, logger);
    return stopping;
  };
  let signals = 0;
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      signals++;
      if (signals > 2) process.exit(1);
      if (signals === 2) {
        cutOff.abort();
        return;
      }
      logger.info({ signal }, 'stopping: requests in flight are answered first');
      stop().then(
        () => process.exit(0),
        error => {
          logger.error({ err: error }, 'stopping failed');
          process.exit(1);
        },
      );
    });
  }
  return stop;
}

async function stopAll(
  { servers, database }: Running,
  { requestsMs, writesMs }: typeof LIMITS,
  cutOff: AbortController,
  logger: Logger,
): Promise<void> {
  const closed = Promise.all(servers.map(server => server.close())).then(() => true);
  closed.catch(() => {});
  let clean = await Promise.race([closed, within(requestsMs, cutOff.signal)]);
  if (!clean) {
    logger.warn('requests are still in flight: their connections are closed');
    for (const { server } of servers) server.closeAllConnections();
    clean = await Promise.race([closed, within(writesMs)]);
  }
  if (!clean) logger.error('the services did not end; their connections to the database are closed');
  await database.stop();
}

/** False after some milliseconds, or as soon as the wait is cancelled. */
async function within(ms: number, calledOff?: AbortSignal): Promise<false> {
  await wait(ms, undefined, { ref: false, ...(calledOff && { signal: calledOff }) }).catch(() => {});
  return false;
}
