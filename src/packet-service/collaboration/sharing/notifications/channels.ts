import type { JobRules } from '../../../../platform/jobs/jobs.ts';
import { type Settings, SettingsError } from '../../../../platform/settings/settings.ts';

/** The channels of notifications. Each has its own queue, so that neither waits for the other's receiver. */
export const CHANNELS = ['mail', 'webhook'] as const;
export type Channel = (typeof CHANNELS)[number];

/** The dead letter queue. */
export const DEAD_QUEUE = 'dead';
export const QUEUES = [DEAD_QUEUE, 'mail', 'webhook'] as const;

/**
 * A job: the delivery of a notification (id in the uuid form), what waits for the digest of an address, or a
 * confirmation mail.
 */
export type DeliveryJob =
  | { kind: 'notification'; notificationId: string; channel: Channel }
  | { kind: 'digest'; address: string }
  | { kind: 'confirmation'; userId: string; contact: string };

/** Longest wait between two tries, in seconds. */
const MAX_RETRY_SECONDS = 2 * 3600;
/**
 * Longest attempt, in seconds: longer than the timeouts for receivers, so that only jobs of killed processes exceed
 * it.
 */
const ATTEMPT_SECONDS = 20;

type DeliverySettings = Pick<
  Settings,
  'NOTIFICATION_TRIES' | 'NOTIFICATION_RETRY_SECONDS' | 'WEBHOOK_URL' | 'WEBHOOK_SECRET'
>;

/** The retry rules of deliveries. */
export function deliveryRules(settings: DeliverySettings): JobRules {
  return {
    tries: settings.NOTIFICATION_TRIES,
    retrySeconds: settings.NOTIFICATION_RETRY_SECONDS,
    maxRetrySeconds: MAX_RETRY_SECONDS,
    attemptSeconds: ATTEMPT_SECONDS,
    deadLetter: DEAD_QUEUE,
  };
}

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
}: DeliverySettings): WebhookTarget | undefined {
  if (url === undefined) return undefined;
  if (secret === undefined) {
    throw new SettingsError('WEBHOOK_URL is set, so WEBHOOK_SECRET must be set: notifications are signed');
  }
  return { url, secret };
}
