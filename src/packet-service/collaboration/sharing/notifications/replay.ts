import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import type { Connection } from '../../../../platform/database/database.ts';
import { Problem } from '../../../../platform/http/problems.ts';
import { openJobs } from '../../../../platform/jobs/jobs.ts';
import type { Settings } from '../../../../platform/settings/settings.ts';
import { isUlid, ulidToUuid } from '../../../core/packet-format/ulid.ts';
import { deliveryRules } from './channels.ts';
import { JOBS_SCHEMA } from './open-notifications.ts';
import { replayDead } from './replay-dead.ts';

/**
 * Requeues dead letters as new deliveries, which the running services deliver.
 *
 * @param id only this notification's, as a ULID
 * @returns a sentence that says how many there are
 * @throws Problem invalid when the id is no ULID
 */
export async function replayNotifications(
  { connection, pool }: { connection: Connection; pool: pg.Pool },
  settings: Settings,
  logger: FastifyBaseLogger,
  id?: string,
): Promise<string> {
  if (id !== undefined && !isUlid(id.toUpperCase())) {
    throw new Problem('command.not_a_notification', { id });
  }
  const notificationId = id === undefined ? undefined : ulidToUuid(id.toUpperCase());
  const jobs = openJobs(connection, JOBS_SCHEMA, logger);
  jobs.start();
  try {
    const count = await replayDead(pool, jobs, deliveryRules(settings), { notificationId });
    return count === 1 ? '1 delivery will be retried' : `${count} deliveries will be retried`;
  } finally {
    await jobs.stop();
  }
}
