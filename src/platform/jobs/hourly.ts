import type { FastifyBaseLogger } from 'fastify';

const HOUR_MS = 3600 * 1000;

/**
 * Runs a clean-up once an hour in every process; it must tolerate concurrent runs. A failure is logged and the
 * clean-up runs again an hour later.
 *
 * @param what the clean-up, for the log: "expired images could not be removed"
 * @returns a function that stops it
 */
export function hourly(what: string, logger: FastifyBaseLogger, cleanUp: () => Promise<void>): () => void {
  const timer = setInterval(async () => {
    try {
      await cleanUp();
    } catch (error) {
      logger.warn({ err: error }, `${what}; next try in an hour`);
    }
  }, HOUR_MS);
  timer.unref();
  return () => clearInterval(timer);
}
