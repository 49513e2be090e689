import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '../../platform/postgres/database.ts';
import { forgetOldKeys } from './store.ts';

const HOUR_MS = 3600 * 1000;

/**
 * Forgets idempotency keys past their days, every hour, in small deletes that hold no lock for long. Several
 * processes may do it at once.
 *
 * @returns what ends it
 */
export function forgetKeysHourly(database: Database, logger: FastifyBaseLogger): () => void {
  const timer = setInterval(async () => {
    try {
      while ((await forgetOldKeys(database, new Date())) > 0);
    } catch (error) {
      logger.warn({ err: error }, 'old idempotency keys could not be removed; tried again in an hour');
    }
  }, HOUR_MS);
  timer.unref();
  return () => clearInterval(timer);
}
