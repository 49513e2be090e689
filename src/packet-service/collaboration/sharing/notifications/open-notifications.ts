import type pg from 'pg';
import type { Connection, PoolWatch } from '../../../../platform/database/database.ts';
import { listeningUrl, type Server } from '../../../../platform/http/server.ts';
import { openJobs } from '../../../../platform/jobs/jobs.ts';
import { makeMailer } from '../../../../platform/mail/mail.ts';
import { watchedMailer } from '../../../../platform/mail/watched-mailer.ts';
import type { Settings } from '../../../../platform/settings/settings.ts';
import { deliveryRules, webhookTarget } from './channels.ts';
import { type Delivering, workOnDeliveries } from './deliver.ts';
import { makeNotifier, type Notifier } from './notifier.ts';
import { replayDead } from './replay-dead.ts';

/** PostgreSQL's schema of the job queue. */
export const JOBS_SCHEMA = 'packet_service_jobs';

/** Deliveries that one request revives, at most. */
const REVIVED = 10_000;

/** What notifications and invitations need. */
export interface NotificationSources
  extends Pick<
    Delivering,
    'keepInvitationToken' | 'findUnanswered' | 'findSenderNames' | 'findReader' | 'instanceName'
  > {
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
  { connection, pool, consoleUrl, ...sources }: NotificationSources,
  watch?: PoolWatch,
): {
  notifier: Notifier;
  /** Delivers dead letters again: all, or those of a notification (uuid form); returns how many. */
  replay: (notificationId: string | undefined) => Promise<number>;
  stop: () => Promise<void>;
} {
  const webhook = webhookTarget(settings);
  const jobs = openJobs(connection, JOBS_SCHEMA, app.log, watch);
  const mailer = watchedMailer(makeMailer(settings), pool, app.log);
  const publicUrl = () => (settings.PUBLIC_URL ?? listeningUrl(app)).replace(/\/+$/, '');
  const addresses = () => ({ publicUrl: publicUrl(), consoleUrl: consoleUrl() });
  const notifier = makeNotifier(jobs, settings);
  const { queueDigest } = notifier;
  workOnDeliveries(jobs, { pool, mailer, webhook, addresses, queueDigest, ...sources, logger: app.log });

  app.addHook('onListen', async () => jobs.start());
  return {
    notifier,
    async replay(notificationId) {
      const count = await replayDead(pool, jobs, deliveryRules(settings), { notificationId, most: REVIVED });
      jobs.wake();
      return count;
    },
    async stop() {
      await jobs.stop();
      mailer.close();
    },
  };
}
