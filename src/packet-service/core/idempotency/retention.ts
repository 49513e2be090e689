import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '../../../platform/database/database.ts';
import { hourly } from '../../../platform/jobs/hourly.ts';
import { forgetOldKeys } from './store.ts';

/**
 * Deletes expired idempotency keys every hour, in small statements that hold no lock for long.
 *
 * @returns a function that stops it
 */
export function forgetKeysHourly(database: Database, logger: FastifyBaseLogger): () => void {
  return hourly('old idempotency keys could not be removed', logger, async () => {
    while ((await forgetOldKeys(database, new Date())) > 0);
  });
}
