import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import { Problem } from '../../../platform/http/problems.ts';
import { type JobRules, type Jobs, openJobs } from '../../../platform/jobs/jobs.ts';
import { type Connection, transaction } from '../../../platform/postgres/database.ts';
import type { Settings } from '../../../platform/settings.ts';
import { isUlid, ulidToUuid } from '../../packet/ulid.ts';
import { deliveryRules } from './channels.ts';
import { jobsFor } from './notifier.ts';
import { JOBS_SCHEMA } from './open-notifications.ts';
import { reviveDead } from './store.ts';

/** Deliveries that one transaction requeues. */
const BATCH = 1000;

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
    throw new Problem('invalid', `--id must be a notification_id, ${id} is none`);
  }
  const notificationId = id === undefined ? undefined : ulidToUuid(id.toUpperCase());
  const jobs = openJobs(connection, JOBS_SCHEMA, logger);
  jobs.start();
  try {
    const count = await replayDead(pool, jobs, deliveryRules(settings), notificationId);
    return count === 1 ? '1 delivery will be retried' : `${count} deliveries will be retried`;
  } finally {
    await jobs.stop();
  }
}

async function replayDead(
  pool: pg.Pool,
  jobs: Jobs,
  rules: JobRules,
  notificationId: string | undefined,
): Promise<number> {
  for (let count = 0; ; ) {
    const revived = await transaction(pool, async database => {
      const deliveries = await reviveDead(database, notificationId, BATCH);
      for (const channel of ['mail', 'webhook'] as const) {
        await jobs.send(database, channel, rules, jobsFor(deliveries, channel));
      }
      return deliveries.length;
    });
    count += revived;
    if (revived < BATCH) return count;
  }
}
