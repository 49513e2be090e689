import type { FastifyBaseLogger } from 'fastify';
import type { Attempt } from '../../../platform/jobs/job-worker.ts';
import type { Jobs } from '../../../platform/jobs/jobs.ts';
import { type Mailer, MailRefused } from '../../../platform/mail/mail.ts';
import type { MailText } from '../../../platform/mail/mail-text.ts';
import type { Database } from '../../../platform/postgres/database.ts';
import { newSecret } from '../../../platform/tokens/secret.ts';
import { newUlid, uuidToUlid } from '../../packet/ulid.ts';
import { contactKind } from '../directory/contact.ts';
import { secretEnd } from '../directory/secret.ts';
import { insertConfirmation } from '../directory/store.ts';
import { DEAD_QUEUE, type DeliveryJob, type WebhookTarget } from './channels.ts';
import { invitationUrl, mailTexts } from './mails.ts';
import { asNotification } from './notification.ts';
import { findOpenDelivery, markDead, type Notification, noteDelivered, noteFailure } from './store.ts';
import { postNotification } from './webhook.ts';

/** Deliveries under way at once in this process, for each channel. */
const CONCURRENCY = 10;

/** Stores what proves that somebody was invited by a contact: the hash of the secret in the mail, until it expires. */
export type KeepInvitationToken = (
  database: Database,
  token: { hash: Buffer; contact: string; expiresAt: Date },
  now: Date,
) => Promise<void>;

/** What delivering needs. */
export interface Delivering {
  pool: Database;
  mailer: Mailer;
  webhook: WebhookTarget | undefined;
  /** what links begin with, without a slash at its end */
  publicUrl: () => string;
  /** keeps the hash of a new invitation's secret, for those who accept the invitation by it */
  keepInvitationToken: KeepInvitationToken;
  logger: FastifyBaseLogger;
}

type NotificationJob = Extract<DeliveryJob, { kind: 'notification' }>;

/**
 * Works on the deliveries, at least once each: a notification may come twice when the process dies between a
 * receiver's answer and the note of it. What was delivered by then is not sent again.
 */
export function workOnDeliveries(jobs: Jobs, delivering: Delivering): void {
  jobs.work<DeliveryJob>('mail', CONCURRENCY, ({ data, signal }) =>
    data.kind === 'notification'
      ? mailNotification(delivering, data, signal)
      : mailQuestion(delivering, data, signal),
  );
  jobs.work<NotificationJob>('webhook', CONCURRENCY, attempt => post(delivering, attempt));
  jobs.work<DeliveryJob>(DEAD_QUEUE, CONCURRENCY, ({ data }) => markDeadLetter(delivering, data));
}

async function mailNotification(
  delivering: Delivering,
  job: NotificationJob,
  signal: AbortSignal,
): Promise<void> {
  const { pool, mailer, publicUrl } = delivering;
  const delivery = await findOpenDelivery(pool, job.notificationId, 'mail');
  if (!delivery?.address) return;
  const text = await writeMail(delivering, mailTexts(publicUrl()), delivery);
  const mail = { id: uuidToUlid(job.notificationId), to: delivery.address, ...text };
  await sendOrMarkDead(delivering, job, () => recordOutcome(pool, job, () => mailer.send(mail, signal)));
}

async function writeMail(
  delivering: Delivering,
  texts: ReturnType<typeof mailTexts>,
  notification: Notification,
): Promise<MailText> {
  return notification.type === 'share.created'
    ? texts.shareCreated(notification)
    : texts.invitationSent(notification, await newInvitationSecret(delivering, notification.contact));
}

/**
 * A secret for one sending of an invitation. It is made only now, so that it stands nowhere but in what is sent: not
 * in the database, not in a job, not in a backup. Each sending has its own, because an earlier one may have arrived.
 */
async function newInvitationSecret(
  { pool, keepInvitationToken }: Delivering,
  contact: string,
): Promise<string> {
  const now = new Date();
  const { secret, hash } = newSecret();
  await keepInvitationToken(pool, { hash, contact, expiresAt: secretEnd(now) }, now);
  return secret;
}

/** Asks the reader of an address whether it is a user's. */
async function mailQuestion(
  delivering: Delivering,
  job: Extract<DeliveryJob, { kind: 'confirmation' }>,
  signal: AbortSignal,
): Promise<void> {
  const { pool, mailer, publicUrl } = delivering;
  const { userId, contact } = job;
  const now = new Date();
  const { secret, hash } = newSecret();
  await insertConfirmation(pool, { hash, userId, contact, expiresAt: secretEnd(now) }, now);
  const text = mailTexts(publicUrl()).confirmContact(userId, secret);
  const mail = { id: newUlid(), to: contact, ...text };
  await sendOrMarkDead(delivering, job, () => mailer.send(mail, signal));
}

async function post(delivering: Delivering, { data: job, signal }: Attempt<NotificationJob>): Promise<void> {
  const { pool, webhook } = delivering;
  const delivery = await findOpenDelivery(pool, job.notificationId, 'webhook');
  if (!delivery) return;
  const notification = { ...asNotification(delivery), ...(await wayToInvite(delivering, delivery)) };
  await recordOutcome(pool, job, async () => {
    if (!webhook) throw new Error('no webhook is set up any more');
    await postNotification(webhook, notification, signal);
  });
}

/** What it takes to bring an invitation to a phone number, which the webhook's owner may do and we cannot. */
async function wayToInvite(
  delivering: Delivering,
  { type, contact }: Notification,
): Promise<{ contact_value: string; invitation_url: string } | undefined> {
  if (type !== 'invitation.sent' || contactKind(contact) !== 'phone') return undefined;
  const secret = await newInvitationSecret(delivering, contact);
  return { contact_value: contact, invitation_url: invitationUrl(delivering.publicUrl(), secret) };
}

/**
 * Makes one attempt and writes down what came of it, for the delivery log. What the attempt throws stands there for
 * users to read: only mailer and webhook are tried inside, whose errors are worded for that.
 */
async function recordOutcome(
  pool: Database,
  job: NotificationJob,
  attempt: () => Promise<void>,
): Promise<void> {
  try {
    await attempt();
  } catch (error) {
    await noteFailure(pool, job, (error as Error).message, new Date());
    throw error;
  }
  await noteDelivered(pool, job, new Date());
}

/** Sends a mail; one that the server refuses for good is put aside at once. */
async function sendOrMarkDead(
  delivering: Delivering,
  job: DeliveryJob,
  send: () => Promise<void>,
): Promise<void> {
  try {
    await send();
  } catch (error) {
    if (!(error instanceof MailRefused)) throw error;
    await markDeadLetter(delivering, job);
  }
}

/**
 * Puts aside what used up its attempts or was refused for good: in the delivery log it is dead, and a command takes it
 * up again.
 */
async function markDeadLetter({ pool, logger }: Delivering, job: DeliveryJob): Promise<void> {
  if (job.kind === 'confirmation') {
    logger.error('a mail that asks to confirm a contact could not be delivered; the user may ask again');
    return;
  }
  if (!(await markDead(pool, job))) return;
  logger.error(
    { notification_id: uuidToUlid(job.notificationId), channel: job.channel },
    'a notification could not be delivered; `fieldtrace notifications replay` tries again',
  );
}
