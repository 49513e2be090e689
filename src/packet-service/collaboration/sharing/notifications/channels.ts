import { DEAD_QUEUE } from '../../../../platform/mail/outbox.ts';
import { type Settings, SettingsError } from '../../../../platform/settings/settings.ts';

/** The channels of notifications. Each has its own queue, so that neither waits for the other's receiver. */
export const CHANNELS = ['mail', 'webhook'] as const;
export type Channel = (typeof CHANNELS)[number];

/** PostgreSQL's schema of the job queue. */
export const JOBS_SCHEMA = 'packet_service_jobs';
export const QUEUES = [DEAD_QUEUE, ...CHANNELS] as const;

/**
 * A job: the delivery of a notification (id in the uuid form), what waits for the digest of an address, or a
 * confirmation mail.
 */
export type DeliveryJob =
  | { kind: 'notification'; notificationId: string; channel: Channel }
  | { kind: 'digest'; address: string }
  | { kind: 'confirmation'; userId: string; contact: string };

/** The queue of a job. */
export const queueOf = (job: DeliveryJob): Channel => (job.kind === 'notification' ? job.channel : 'mail');

export interface WebhookTarget {
  url: string;
  secret: string;
}

/**
 * The webhook, if configured.
 *
 * @throws SettingsError for a URL without a secret, because receivers could not verify notifications
 */
export function webhookTarget({
  WEBHOOK_URL: url,
  WEBHOOK_SECRET: secret,
}: Pick<Settings, 'WEBHOOK_URL' | 'WEBHOOK_SECRET'>): WebhookTarget | undefined {
  if (url === undefined) return undefined;
  if (secret === undefined) {
    throw new SettingsError('WEBHOOK_URL is set, so WEBHOOK_SECRET must be set: notifications are signed');
  }
  return { url, secret };
}
