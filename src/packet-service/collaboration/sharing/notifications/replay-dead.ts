import type pg from 'pg';
import { transaction } from '../../../../platform/database/database.ts';
import type { JobRules, Jobs } from '../../../../platform/jobs/jobs.ts';
import { jobsFor } from './notifier.ts';
import { reviveDead } from './store.ts';

/** Deliveries that one transaction requeues. */
const BATCH = 1000;

/**
 * Requeues dead letters: all, or those of one notification.
 *
 * @param options.notificationId in the uuid form
 * @param options.most after so many it ends
 * @returns how many there were
 */
export async function replayDead(
  pool: pg.Pool,
  jobs: Jobs,
  rules: JobRules,
  { notificationId, most = Number.POSITIVE_INFINITY }: { notificationId?: string | undefined; most?: number },
): Promise<number> {
  for (let count = 0; ; ) {
    const revived = await transaction(pool, async database => {
      const deliveries = await reviveDead(database, notificationId, new Date(), BATCH);
      for (const channel of ['mail', 'webhook'] as const) {
        await jobs.send(database, channel, rules, jobsFor(deliveries, channel));
      }
      return deliveries.length;
    });
    count += revived;
    if (revived < BATCH || count >= most) return count;
  }
}
