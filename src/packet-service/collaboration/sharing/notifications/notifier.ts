import type { Database } from '../../../../platform/database/database.ts';
import type { Outbox } from '../../../../platform/mail/outbox.ts';
import { contactKind } from '../directory/contact.ts';
import { findEntry, type Listed } from '../directory/store.ts';
import type { DeliveryJob } from './channels.ts';
import { digestedAddresses, withDigests } from './digest.ts';
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

export type Notifier = ReturnType<typeof makeNotifier>;

/** Maximum notifications and deliveries that one statement writes. */
const BATCH = 1000;

/** Notifications that are sent after the transaction that causes them has committed. */
export function makeNotifier(outbox: Outbox<DeliveryJob>, { hasWebhook }: { hasWebhook: boolean }) {
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
    await withDigests(outbox, database, deliveries, () => insertDeliveries(database, deliveries));
    await outbox.send(database, jobsFor(deliveries.filter(({ inDigest }) => !inDigest)));
  }

  return {
    /** Stores notifications and queues their delivery, in the caller's transaction. */
    async notify(database: Database, news: readonly NewNotification[]): Promise<void> {
      for (let at = 0; at < news.length; at += BATCH) await notifyBatch(database, news.slice(at, at + BATCH));
    },
    /** Queues confirmation mails to contacts (email addresses), in the caller's transaction. */
    requestConfirmation: (database: Database, userId: string, contacts: readonly string[]): Promise<void> =>
      outbox.send(
        database,
        contacts.map(contact => ({ kind: 'confirmation', userId, contact })),
      ),
    /** Starts committed deliveries at once. */
    wake: outbox.wake,
  };
}

/** The jobs that deliver: one for each delivery, and one for the digest of each address. */
export function jobsFor(deliveries: readonly Delivery[]): DeliveryJob[] {
  const single = deliveries.filter(({ inDigest }) => !inDigest);
  return [
    ...single.map(
      ({ notificationId, channel }) => ({ kind: 'notification', notificationId, channel }) as const,
    ),
    ...digestedAddresses(deliveries).map(address => ({ kind: 'digest', address }) as const),
  ];
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
