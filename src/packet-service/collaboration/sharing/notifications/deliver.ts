import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '../../../../platform/database/database.ts';
import type { Mail } from '../../../../platform/mail/mail.ts';
import { attempt } from '../../../../platform/mail/outbox.ts';
import { newSecret } from '../../../../platform/tokens/secret.ts';
import { newUlid, uuidToUlid } from '../../../core/packet-format/ulid.ts';
import { contactKind } from '../directory/contact.ts';
import { secretEnd } from '../directory/secret.ts';
import { type FindSenderNames, fromName } from '../directory/sender-names.ts';
import { insertConfirmation } from '../directory/store.ts';
import type { DeliveryJob, WebhookTarget } from './channels.ts';
import { type Digesting, giveUpDigest, mailDigest } from './digest.ts';
import { invitationUrl, type MailAddresses, mailTexts, type Reader } from './mails.ts';
import { asNotification } from './notification.ts';
import { deliveries, findOpenDelivery, type Notification, theDelivery } from './store.ts';
import { postNotification } from './webhook.ts';

/** Concurrent deliveries in this process, per channel. */
const CONCURRENCY = 10;

/** Stores the hash of an invitation's secret, until it expires. */
export type KeepInvitationToken = (
  database: Database,
  token: { hash: Buffer; contact: string; expiresAt: Date },
  now: Date,
) => Promise<void>;

/** The functions of other features that delivery uses. */
export interface DeliverySources extends Omit<Digesting, 'outbox'> {
  /** stores the hash of an invitation's secret, by which it is accepted */
  keepInvitationToken: KeepInvitationToken;
  findSenderNames: FindSenderNames;
  /** the name of the instance, if it has one */
  instanceName: () => Promise<string | undefined>;
}

/** The dependencies of delivery. */
interface Delivering extends Digesting, DeliverySources {
  webhook: WebhookTarget | undefined;
  /** what links begin with */
  addresses: () => MailAddresses;
  logger: FastifyBaseLogger;
}

type Job<Kind extends DeliveryJob['kind']> = Extract<DeliveryJob, { kind: Kind }>;

/**
 * Delivers notifications at least once each: one may be sent twice if the process dies between a receiver's answer
 * and recording it. Recorded deliveries are not sent again.
 */
export function workOnDeliveries(delivering: Delivering): void {
  const queues = {
    mail: (job: DeliveryJob, signal: AbortSignal) => sendMail(delivering, job, signal),
    webhook: (job: DeliveryJob, signal: AbortSignal) => post(delivering, job as Job<'notification'>, signal),
  };
  delivering.outbox.work(CONCURRENCY, queues, job => markDeadLetter(delivering, job));
}

async function sendMail(delivering: Delivering, job: DeliveryJob, signal: AbortSignal): Promise<void> {
  switch (job.kind) {
    case 'notification':
      return mailNotification(delivering, job, signal);
    case 'confirmation':
      return mailQuestion(delivering, job, signal);
    case 'digest':
      return mailDigest(delivering, job.address, await textsOf(delivering), signal);
  }
}

async function mailNotification(
  delivering: Delivering,
  job: Job<'notification'>,
  signal: AbortSignal,
): Promise<void> {
  const { pool, outbox } = delivering;
  const delivery = await findOpenDelivery(pool, job);
  if (!delivery?.address) return;
  const unanswered = await delivering.findUnanswered(pool, delivery.type, [delivery.shareId]);
  if (!unanswered.has(delivery.shareId)) {
    await deliveries.settle(pool, theDelivery(job), 'obsolete', new Date());
    return;
  }
  const reader = await delivering.findReader(delivery.address);
  const text = await writeMail(delivering, delivery, reader);
  const mail = { id: uuidToUlid(job.notificationId), to: delivery.address, ...text };
  await attempt(pool, deliveries, theDelivery(job), () => outbox.mailer.send(mail, signal));
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
  { userId, contact }: Job<'confirmation'>,
  signal: AbortSignal,
): Promise<void> {
  const now = new Date();
  const { secret, hash } = newSecret();
  await insertConfirmation(delivering.pool, { hash, userId, contact, expiresAt: secretEnd(now) }, now);
  const reader = await delivering.findReader(contact);
  const text = (await textsOf(delivering)).confirmContact(userId, secret, reader);
  await delivering.outbox.mailer.send({ id: newUlid(), to: contact, ...text }, signal);
}

async function post(delivering: Delivering, job: Job<'notification'>, signal: AbortSignal): Promise<void> {
  const { pool, webhook } = delivering;
  const delivery = await findOpenDelivery(pool, job);
  if (!delivery) return;
  const notification = { ...asNotification(delivery), ...(await wayToInvite(delivering, delivery)) };
  await attempt(pool, deliveries, theDelivery(job), async () => {
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
  if ((await deliveries.settle(pool, theDelivery(job), 'dead', new Date())) === 0) return;
  logger.error(
    { notification_id: uuidToUlid(job.notificationId), channel: job.channel },
    'a notification could not be delivered; retry with `fieldtrace notifications replay`',
  );
}
