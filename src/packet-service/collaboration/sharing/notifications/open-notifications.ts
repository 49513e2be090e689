import type pg from 'pg';
import type { Connection, PoolWatch } from '../../../../platform/database/database.ts';
import { listeningUrl, type Server } from '../../../../platform/http/server.ts';
import { openOutbox } from '../../../../platform/mail/outbox.ts';
import type { Settings } from '../../../../platform/settings/settings.ts';
import { type DeliveryJob, JOBS_SCHEMA, queueOf, webhookTarget } from './channels.ts';
import { type DeliverySources, workOnDeliveries } from './deliver.ts';
import { makeNotifier, type Notifier } from './notifier.ts';
import { replayDead } from './replay.ts';

/** Maximum deliveries that one request revives. */
const REVIVED = 10_000;

/** The dependencies of notifications and invitations. */
export interface NotificationSources extends DeliverySources {
  connection: Connection;
  pool: pg.Pool;
  /** the base URL of the console, if links in mails lead to it */
  consoleUrl: () => string | undefined;
}

/**
 * Notifications, and the workers that deliver them while the server listens.
 *
 * @throws SettingsError
 */
export function openNotifications(
  app: Server,
  settings: Settings,
  { connection, consoleUrl, ...sources }: NotificationSources,
  watch?: PoolWatch,
): {
  notifier: Notifier;
  /** Delivers dead letters again: all, or those of a notification (uuid form); returns how many. */
  replay: (notificationId: string | undefined) => Promise<number>;
  stop: () => Promise<void>;
} {
  const webhook = webhookTarget(settings);
  const { pool } = sources;
  const context = { connection, pool, schema: JOBS_SCHEMA, logger: app.log, watch, queueOf };
  const outbox = openOutbox<DeliveryJob>(settings, context);
  const publicUrl = () => (settings.PUBLIC_URL ?? listeningUrl(app)).replace(/\/+$/, '');
  const addresses = () => ({ publicUrl: publicUrl(), consoleUrl: consoleUrl() });
  workOnDeliveries({ ...sources, outbox, webhook, addresses, logger: app.log });
  app.addHook('onListen', async () => outbox.start());
  return {
    notifier: makeNotifier(outbox, { hasWebhook: webhook !== undefined }),
    replay: notificationId => replayDead(outbox, notificationId, REVIVED),
    stop: outbox.stop,
  };
}
