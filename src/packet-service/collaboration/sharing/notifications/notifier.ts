import type { Database } from '../../../../platform/database/database.ts';
import type { Jobs } from '../../../../platform/jobs/jobs.ts';
import type { Settings } from '../../../../platform/settings/settings.ts';
import { contactKind } from '../directory/contact.ts';
import { findEntry, type Listed } from '../directory/store.ts';
import { type Channel, type DeliveryJob, deliveryRules, webhookTarget } from './channels.ts';
import { hasDigest, lockDigest } from './digest-store.ts';
import { mailModes } from './mail-modes.ts';
import { type Delivery, insertDeliveries, insertNotifications, type Notification } from './store.ts';

/** A new notification of a user. */
export interface NewNotification extends Omit<Notification, 'userId'> {
  /** undefined if nobody with the contact is known */
  userId: string | undefined;
  /** recorded but not sent */
  silent?: boolean;
  /** not mailed */
  noMail?: boolean;
}

/** Notifications that are sent after the transaction that causes them has committed. */
export interface Notifier {
  /** Stores notifications and queues their delivery, in the caller's transaction. */
  notify(database: Database, news: readonly NewNotification[]): Promise<void>;
  /** Queues confirmation mails to contacts (e-mail addresses), in the caller's transaction. */
  requestConfirmation(database: Database, userId: string, contacts: readonly string[]): Promise<void>;
  /** Queues the digest of an address, for when it is due. */
  queueDigest(database: Database, address: string): Promise<void>;
  /** Starts committed deliveries at once. */
  wake(): void;
}

/** How long a digest collects what else comes for its address, in seconds. */
const DIGEST_SECONDS = 3600;

/** Notifications and deliveries that one statement writes, at most. */
const BATCH = 1000;

export function makeNotifier(
  jobs: Jobs,
  settings: Pick<
    Settings,
    'NOTIFICATION_TRIES' | 'NOTIFICATION_RETRY_SECONDS' | 'WEBHOOK_URL' | 'WEBHOOK_SECRET'
  >,
): Notifier {
  const rules = deliveryRules(settings);
  const hasWebhook = webhookTarget(settings) !== undefined;

  const queueDigests = (database: Database, digests: readonly DeliveryJob[]) =>
    jobs.send(database, 'mail', { ...rules, delaySeconds: DIGEST_SECONDS }, digests);

  async function notifyBatch(database: Database, news: readonly NewNotification[]): Promise<void> {
    const [addressOf, modeOf] = [rememberedAddresses(database), mailModes(database)];
    const deliveries: Delivery[] = [];
    const notifications: Notification[] = [];
    for (const { silent, noMail, ...item } of news) {
      const { notificationId } = item;
      notifications.push({ ...item, userId: item.userId ?? null });
      if (silent) continue;
      const address = noMail ? undefined : await addressOf(item);
      const mode = address === undefined ? 'none' : await modeOf(address, item);
      if (address !== undefined && mode !== 'none') {
        deliveries.push({ notificationId, channel: 'mail', address, inDigest: mode === 'digest' });
      }
      if (hasWebhook) deliveries.push({ notificationId, channel: 'webhook', address: null, inDigest: false });
    }
    await insertNotifications(database, notifications);
    const digests = await newDigests(database, deliveries);
    await insertDeliveries(database, deliveries);
    const single = deliveries.filter(({ inDigest }) => !inDigest);
    for (const channel of ['mail', 'webhook'] as const) {
      await jobs.send(database, channel, rules, jobsFor(single, channel));
    }
    await queueDigests(database, digests);
  }

  return {
    async notify(database, news) {
      for (let at = 0; at < news.length; at += BATCH) await notifyBatch(database, news.slice(at, at + BATCH));
    },
    async requestConfirmation(database, userId, contacts) {
      const confirmations: DeliveryJob[] = contacts.map(contact => ({
        kind: 'confirmation',
        userId,
        contact,
      }));
      await jobs.send(database, 'mail', rules, confirmations);
    },
    queueDigest: (database, address) => queueDigests(database, [{ kind: 'digest', address }]),
    wake: jobs.wake,
  };
}

/** The jobs that deliver through a channel: one for each delivery, and one for the digest of each address. */
export function jobsFor(deliveries: readonly Delivery[], channel: Channel): DeliveryJob[] {
  const own = deliveries.filter(delivery => delivery.channel === channel);
  const single = own.filter(({ inDigest }) => !inDigest);
  return [
    ...single.map(({ notificationId }) => ({ kind: 'notification', notificationId, channel }) as const),
    ...digestedAddresses(own).map(address => ({ kind: 'digest', address }) as const),
  ];
}

/** The addresses of deliveries in digests, each once. */
function digestedAddresses(deliveries: readonly Delivery[]): string[] {
  const addresses = deliveries.flatMap(({ inDigest, address }) =>
    inDigest && address !== null ? [address] : [],
  );
  return [...new Set(addresses)].sort();
}

/** The jobs of digests that are not on their way yet. Locks the digests; to be called before the deliveries are stored. */
async function newDigests(database: Database, deliveries: readonly Delivery[]): Promise<DeliveryJob[]> {
  const added: DeliveryJob[] = [];
  for (const address of digestedAddresses(deliveries)) {
    await lockDigest(database, address);
    if (!(await hasDigest(database, address))) added.push({ kind: 'digest', address });
  }
  return added;
}

/**
 * The mail address of a user: the contact itself if it is an address, otherwise the first address in the entry of the
 * user that is as sure as the contact. Entries are looked up once per user, who may get many shares at once, and also if
 * nobody has the contact, so that this takes as long.
 */
function rememberedAddresses(database: Database) {
  const known = new Map<string, Listed[]>();
  return async ({
    contact,
    userId = '',
  }: Pick<NewNotification, 'contact' | 'userId'>): Promise<string | undefined> => {
    if (contactKind(contact) === 'email') return contact;
    const listed = known.get(userId) ?? (await findEntry(database, userId))?.contacts ?? [];
    known.set(userId, listed);
    // Where the user was not found by a claim, no claim says where the mail goes to.
    const isClaim = listed.some(own => own.contact === contact && own.confirmed && !isProven(own));
    const mails = listed.filter(own => own.confirmed && (isClaim || isProven(own)));
    return mails.find(own => contactKind(own.contact) === 'email')?.contact;
  };
}

const isProven = ({ proof }: Listed) => proof !== 'none' && proof !== 'code';
