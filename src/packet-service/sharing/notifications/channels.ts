import type { JobRules } from '../../../platform/jobs/jobs.ts';
import { type Settings, SettingsError } from '../../../platform/settings.ts';

/** Ways that a notification takes. Each is a queue of its own, so that neither waits for the other's receiver. */
export type Channel = 'mail' | 'webhook';

/** The queue of what could not be delivered. */
export const DEAD_QUEUE = 'dead';
export const QUEUES = [DEAD_QUEUE, 'mail', 'webhook'] as const;

/** What a job asks for: a notification to be delivered, or a mail that confirms a contact. Ids in the uuid form. */
export type DeliveryJob =
  | { kind: 'notification'; notificationId: string; channel: Channel }
  | { kind: 'confirmation'; userId: string; contact: string };

/** Longest wait between two tries, in seconds. */
const MAX_RETRY_SECONDS = 2 * 3600;
/** Longest attempt, in seconds: longer than receivers are waited for, so that it tells of processes that died. */
const ATTEMPT_SECONDS = 20;

type DeliverySettings = Pick<
  Settings,
  'NOTIFICATION_TRIES' | 'NOTIFICATION_RETRY_SECONDS' | 'WEBHOOK_URL' | 'WEBHOOK_SECRET'
>;

/** How deliveries are tried. */
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
 * Where notifications are posted to, if anywhere.
 *
 * @throws SettingsError for a URL without a secret: a receiver could not tell our notifications from anyone's
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
