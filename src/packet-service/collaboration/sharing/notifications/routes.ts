import type pg from 'pg';
import type { Server } from '../../../../platform/http/server.ts';
import { namedUser } from '../../../core/access/caller.ts';
import { readCursor } from '../../../core/contract/cursor.ts';
import { uuidToUlid } from '../../../core/packet-format/ulid.ts';
import { type Item, inBatches, sendList } from '../../chat/listing.ts';
import { asNotification } from './notification.ts';
import { listNotificationsSchema } from './schemas.ts';
import { type LogEntry, listNotifications } from './store.ts';

const DEFAULT_LIMIT = 100;

/** The delivery log. */
export function registerNotifications(app: Server, { pool }: { pool: pg.Pool }): void {
  app.get('/notifications', { schema: listNotificationsSchema }, async (request, reply) => {
    const { user_id, limit = DEFAULT_LIMIT, cursor } = request.query;
    const userId = await namedUser(request, 'user_id', user_id);
    const start = cursor === undefined ? undefined : readCursor(cursor);
    const entries = (wanted: number) =>
      inBatches(
        wanted,
        start,
        ({ notificationId }: LogEntry) => notificationId,
        (after, count) =>
          listNotifications(pool, { userId, openOnly: request.anonymous }, { after, limit: count }),
      );
    return sendList(reply, 'notifications', limit, entries, asItem);
  });
}

function asItem(entry: LogEntry): Item {
  const deliveries = entry.deliveries.map(delivery => ({
    channel: delivery.channel,
    status: delivery.status,
    attempts: delivery.attempts,
    last_error: delivery.status === 'obsolete' ? undefined : (delivery.last_error ?? undefined),
    last_attempt_at: delivery.last_attempt_at?.toISOString(),
    delivered_at: delivery.delivered_at?.toISOString(),
  }));
  return {
    json: JSON.stringify({ ...asNotification(entry), deliveries }),
    cursor: uuidToUlid(entry.notificationId),
  };
}
