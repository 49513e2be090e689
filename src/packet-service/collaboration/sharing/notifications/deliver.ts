import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '../../../../platform/database/database.ts';
import type { Attempt } from '../../../../platform/jobs/job-worker.ts';
import type { Jobs } from '../../../../platform/jobs/jobs.ts';
import { type Mail, MailRefused } from '../../../../platform/mail/mail.ts';
import { newSecret } from '../../../../platform/tokens/secret.ts';
import { newUlid, uuidToUlid } from '../../../core/packet-format/ulid.ts';
import { contactKind } from '../directory/contact.ts';
import { secretEnd } from '../directory/secret.ts';
import { type FindSenderNames, fromName } from '../directory/sender-names.ts';
import { insertConfirmation } from '../directory/store.ts';
import { DEAD_QUEUE, type DeliveryJob, type WebhookTarget } from './channels.ts';
import { type Digesting, giveUpDigest, mailDigest } from './digest.ts';
import { invitationUrl, type MailAddresses, mailTexts, type Reader } from './mails.ts';
import { asNotification } from './notification.ts';
import {
  findOpenDelivery,
  markDead,
  type Notification,
  noteDelivered,
  noteFailure,
  noteObsolete,
} from './store.ts';
import { postNotification } from './webhook.ts';

/** Concurrent deliveries in this process, per channel. */
const CONCURRENCY = 10;

/** Stores the hash of an invitation's secret, until it expires. */
export type KeepInvitationToken = (
  database: Database,
  token: { hash: Buffer; contact: string; expiresAt: Date },
  now: Date,
) => Promise<void>;

/** What delivery needs. */
export interface Delivering extends Digesting {
  webhook: WebhookTarget | undefined;
  /** what links begin with */
  addresses: () => MailAddresses;
  /** stores the hash of an invitation's secret, by which it is accepted */
  keepInvitationToken: KeepInvitationToken;
  findSenderNames: FindSenderNames;
  /** the name of the instance, if it has one */
  instanceName: () => Promise<string | undefined>;
  logger: FastifyBaseLogger;
}

type NotificationJob = Extract<DeliveryJob, { kind: 'notification' }>;

/**
 * Delivers notifications at least once each: one may be sent twice if the process dies between a receiver's answer
 * and recording it. Recorded deliveries are not sent again.
 */
export function workOnDeliveries(jobs: Jobs, delivering: Delivering): void {
  jobs.work<DeliveryJob>('mail', CONCURRENCY, ({ data, signal }) => sendMail(delivering, data, signal));
  jobs.work<NotificationJob>('webhook', CONCURRENCY, attempt => post(delivering, attempt));
  jobs.work<DeliveryJob>(DEAD_QUEUE, CONCURRENCY, ({ data }) => markDeadLetter(delivering, data));
}

async function sendMail(delivering: Delivering, job: DeliveryJob, signal: AbortSignal): Promise<void> {
  switch (job.kind) {
    case 'notification':
      return mailNotification(delivering, job, signal);
    case 'confirmation':
      return mailQuestion(delivering, job, signal);
    case 'digest': {
      const texts = await textsOf(delivering);
      await sendOrMarkDead(delivering, job, () => mailDigest(delivering, job.address, texts, signal));
    }
  }
}

async function mailNotification(
  delivering: Delivering,
  job: NotificationJob,
  signal: AbortSignal,
): Promise<void> {
  const { pool, mailer } = delivering;
  const delivery = await findOpenDelivery(pool, job.notificationId, 'mail');
  if (!delivery?.address) return;
  const unanswered = await delivering.findUnanswered(pool, delivery.type, [delivery.shareId]);
  if (!unanswered.has(delivery.shareId)) return noteObsolete(pool, job);
  const reader = await delivering.findReader(delivery.address);
  const text = await writeMail(delivering, delivery, reader);
  const mail = { id: uuidToUlid(job.notificationId), to: delivery.address, ...text };
  await sendOrMarkDead(delivering, job, () => recordOutcome(pool, job, () => mailer.send(mail, signal)));
}

async function writeMail(
  delivering: Delivering,
  notification: Notification,
  reader: Reader,
): Promise<Omit<Mail, 'id' | 'to'>> {
  const texts = await textsOf(delivering);
  const names = await delivering.findSenderNames([notification]);
  const sender = { id: notification.fromUser, name: fromName(names, notification).from_name };
  const { type, contact } = notification;
  const text =
    type === 'share.created'
      ? texts.shareCreated(sender, notification, reader)
      : texts.invitationSent(sender, contact, await newInvitationSecret(delivering, contact), reader);
  return sender.name === undefined ? text : { ...text, names: sender.id };
}

async function textsOf({ addresses, instanceName }: Delivering): Promise<ReturnType<typeof mailTexts>> {
  return mailTexts(addresses(), await instanceName());
}

/**
 * A secret for one attempt to send an invitation. It is created only now, so that it is nowhere but in the message:
 * not in the database, a job or a backup. Each attempt has its own, because an earlier one may have arrived.
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

/** Sends a confirmation mail. */
async function mailQuestion(
  delivering: Delivering,
  job: Extract<DeliveryJob, { kind: 'confirmation' }>,
  signal: AbortSignal,
): Promise<void> {
  const { pool, mailer } = delivering;
  const { userId, contact } = job;
  const now = new Date();
  const { secret, hash } = newSecret();
  await insertConfirmation(pool, { hash, userId, contact, expiresAt: secretEnd(now) }, now);
  const reader = await delivering.findReader(contact);
  const text = (await textsOf(delivering)).confirmContact(userId, secret, reader);
  const mail = { id: newUlid(), to: contact, ...text };
  await sendOrMarkDead(delivering, job, () => mailer.send(mail, signal));
}

async function post(delivering: Delivering, { data: job, signal }: Attempt<NotificationJob>): Promise<void> {
  const { pool, webhook } = delivering;
  const delivery = await findOpenDelivery(pool, job.notificationId, 'webhook');
  if (!delivery) return;
  const notification = { ...asNotification(delivery), ...(await wayToInvite(delivering, delivery)) };
  await recordOutcome(pool, job, async () => {
    if (!webhook) throw new Error('no webhook is configured anymore');
    await postNotification(webhook, notification, signal);
  });
}

/** The fields for an invitation to a phone number, which the webhook's owner can deliver. */
async function wayToInvite(
  delivering: Delivering,
  { type, contact }: Notification,
): Promise<{ contact_value: string; invitation_url: string } | undefined> {
  if (type !== 'invitation.sent' || contactKind(contact) !== 'phone') return undefined;
  const secret = await newInvitationSecret(delivering, contact);
  return { contact_value: contact, invitation_url: invitationUrl(delivering.addresses(), secret) };
}

/**
 * Makes one attempt and records its outcome in the delivery log. Users read the error message there, so `attempt`
 * must contain only mailer and webhook, whose messages are meant for that.
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

/** Sends a mail; a permanently refused one becomes a dead letter at once. */
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

/** Marks a delivery that has used up its attempts or was permanently refused as a dead letter; a command replays it. */
async function markDeadLetter(delivering: Delivering, job: DeliveryJob): Promise<void> {
  const { pool, logger } = delivering;
  if (job.kind === 'digest') {
    const count = await giveUpDigest(delivering, job.address);
    if (count > 0) {
      logger.error(
        { count, channel: 'mail' },
        'a digest could not be delivered; retry with `fieldtrace notifications replay`',
      );
    }
    return;
  }
  if (job.kind === 'confirmation') {
    logger.error('a confirmation email could not be delivered; the user can request another');
    return;
  }
  if (!(await markDead(pool, job))) return;
  logger.error(
    { notification_id: uuidToUlid(job.notificationId), channel: job.channel },
    'a notification could not be delivered; retry with `fieldtrace notifications replay`',
  );
}
