import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import type { Connection } from '../../../../platform/database/database.ts';
import { Problem } from '../../../../platform/http/problems.ts';
import { type Outbox, openOutbox } from '../../../../platform/mail/outbox.ts';
import type { Settings } from '../../../../platform/settings/settings.ts';
import { isUlid, ulidToUuid } from '../../../core/packet-format/ulid.ts';
import { type DeliveryJob, JOBS_SCHEMA, queueOf } from './channels.ts';
import { jobsFor } from './notifier.ts';
import { reviveDead } from './store.ts';

/**
 * Delivers dead letters again: all, or those of one notification.
 *
 * @param notificationId in the uuid form
 * @param most it ends after so many
 * @returns how many there were
 */
export function replayDead(
  outbox: Outbox<DeliveryJob>,
  notificationId: string | undefined,
  most?: number,
): Promise<number> {
  return outbox.replay(async (database, limit) => {
    const deliveries = await reviveDead(database, notificationId, new Date(), limit);
    await outbox.send(database, jobsFor(deliveries));
    return deliveries.length;
  }, most);
}

/**
 * Requeues dead letters as new deliveries, which the running services deliver.
 *
 * @param id only this notification's, as a ULID
 * @returns a sentence that says how many there are
 * @throws Problem invalid when the id is no ULID
 */
export async function replayNotifications(
  database: { connection: Connection; pool: pg.Pool },
  settings: Settings,
  logger: FastifyBaseLogger,
  id?: string,
): Promise<string> {
  if (id !== undefined && !isUlid(id.toUpperCase())) {
    throw new Problem('command.not_a_notification', { id });
  }
  const notificationId = id === undefined ? undefined : ulidToUuid(id.toUpperCase());
  const outbox = openOutbox<DeliveryJob>(settings, { ...database, schema: JOBS_SCHEMA, logger, queueOf });
  outbox.start();
  try {
    const count = await replayDead(outbox, notificationId);
    return count === 1 ? '1 delivery will be retried' : `${count} deliveries will be retried`;
  } finally {
    await outbox.stop();
  }
}
