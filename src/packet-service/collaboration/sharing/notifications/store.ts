import sql, { empty, type Sql } from 'sql-template-tag';
import type { Database } from '../../../../platform/database/database.ts';
import {
  DELIVERY_STATE,
  type DeliveryState,
  type DeliveryStatus,
  deliveryTable,
  OPEN,
} from '../../../../platform/mail/deliveries-store.ts';
import type { Channel } from './channels.ts';

/** A notification. Ids in the uuid form. */
export interface Notification {
  notificationId: string;
  type: 'share.created' | 'invitation.sent';
  /** null if nobody with the contact is known */
  userId: string | null;
  /** the contact used by the sender, in the form of `readContact` */
  contact: string;
  packetId: string;
  /** the share's, or the invitation's */
  shareId: string;
  fromUser: string;
  createdAt: Date;
  /** the user of the token of the request that caused it */
  author: string | null;
}

/** The delivery of a notification through one channel. */
export interface Delivery {
  notificationId: string;
  channel: Channel;
  /** email address; null for the webhook */
  address: string | null;
  /** whether it is said together with others in one mail */
  inDigest: boolean;
}

/** The key of a delivery. */
export type DeliveryKey = Pick<Delivery, 'notificationId' | 'channel'>;

/** The deliveries, which are also the delivery log. */
export const deliveries = deliveryTable('notification_deliveries', 'notification_id, channel');

/** One delivery. */
export const theDelivery = ({ notificationId, channel }: DeliveryKey): Sql =>
  sql`notification_id = ${notificationId} AND channel = ${channel}`;

/** Deliveries through one channel. */
export const through = (channel: Channel): Sql => sql`channel = ${channel}`;

export async function insertNotifications(
  database: Database,
  notifications: readonly Notification[],
): Promise<void> {
  await database.query(sql`
    INSERT INTO notifications
      (notification_id, type, user_id, contact, packet_id, share_id, from_user, created_at, author)
    SELECT * FROM unnest(
      ${notifications.map(({ notificationId }) => notificationId)}::uuid[],
      ${notifications.map(({ type }) => type)}::text[],
      ${notifications.map(({ userId }) => userId)}::text[],
      ${notifications.map(({ contact }) => contact)}::text[],
      ${notifications.map(({ packetId }) => packetId)}::uuid[],
      ${notifications.map(({ shareId }) => shareId)}::uuid[],
      ${notifications.map(({ fromUser }) => fromUser)}::text[],
      ${notifications.map(({ createdAt }) => createdAt)}::timestamptz[],
      ${notifications.map(({ author }) => author)}::text[])`);
}

export async function insertDeliveries(database: Database, deliveries: readonly Delivery[]): Promise<void> {
  await database.query(sql`
    INSERT INTO notification_deliveries (notification_id, channel, address, in_digest, status, attempts)
    SELECT *, 'queued', 0 FROM unnest(
      ${deliveries.map(({ notificationId }) => notificationId)}::uuid[],
      ${deliveries.map(({ channel }) => channel)}::text[],
      ${deliveries.map(({ address }) => address)}::text[],
      ${deliveries.map(({ inDigest }) => inDigest)}::boolean[])`);
}

const NOTIFICATION = sql`notification_id AS "notificationId", type, user_id AS "userId", contact,
  packet_id AS "packetId", share_id AS "shareId", from_user AS "fromUser", created_at AS "createdAt", author`;

/** A notification with its delivery through one channel, unless that has ended. */
export async function findOpenDelivery(
  database: Database,
  delivery: DeliveryKey,
): Promise<(Notification & { address: string | null }) | undefined> {
  const { rows } = await database.query<Notification & { address: string | null }>(sql`
    SELECT ${NOTIFICATION}, address FROM notifications JOIN notification_deliveries USING (notification_id)
    WHERE ${theDelivery(delivery)} AND ${OPEN}`);
  return rows[0];
}

/** A delivery as administrators see it, with its notification. */
export interface DeadLetter extends DeliveryState, Omit<Notification, 'shareId' | 'author'> {
  channel: Channel;
  /** email address; null for the webhook */
  address: string | null;
}

const DEAD_LETTER = sql`notification_id AS "notificationId", channel, address, type, user_id AS "userId", contact,
  packet_id AS "packetId", from_user AS "fromUser", created_at AS "createdAt", ${DELIVERY_STATE}`;

/** The deliveries of notifications, newest first, whatever has become of them. */
export async function findDeliveries(database: Database, ids: readonly string[]): Promise<DeadLetter[]> {
  const { rows } = await database.query<DeadLetter>(sql`
    SELECT ${DEAD_LETTER} FROM notification_deliveries JOIN notifications USING (notification_id)
    WHERE notification_id = ANY (${ids}::uuid[])
    ORDER BY notification_id DESC, channel`);
  return rows;
}

/** Deliveries that were given up, newest first, after those of a notification; of at most `limit` notifications. */
export async function listDead(
  database: Database,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<DeadLetter[]> {
  const { rows } = await database.query<DeadLetter>(sql`
    SELECT ${DEAD_LETTER} FROM notification_deliveries JOIN notifications USING (notification_id)
    WHERE status = 'dead' AND notification_id IN (
      SELECT DISTINCT notification_id FROM notification_deliveries
      WHERE status = 'dead' ${after ? sql`AND notification_id < ${after}` : empty}
      ORDER BY notification_id DESC LIMIT ${limit})
    ORDER BY notification_id DESC, channel`);
  return rows;
}

/** Revives dead letters: all, or those of one notification. At most `limit`, oldest first. */
export function reviveDead(
  database: Database,
  notificationId: string | undefined,
  now: Date,
  limit: number,
): Promise<Delivery[]> {
  const which = notificationId === undefined ? undefined : sql`notification_id = ${notificationId}`;
  const returned = sql`notification_id AS "notificationId", channel, address, in_digest AS "inDigest"`;
  return deliveries.revive(database, { which, limit, now }, returned);
}

/** One channel of the delivery log. */
export interface DeliveryEntry {
  channel: Channel;
  status: DeliveryStatus;
  attempts: number;
  last_error: string | null;
  last_attempt_at: Date | null;
  delivered_at: Date | null;
}

export type LogEntry = Notification & { deliveries: DeliveryEntry[] };

/**
 * A user's notifications with their deliveries, newest first, after one of them.
 *
 * @param of openOnly: only those caused without a token
 */
export async function listNotifications(
  database: Database,
  { userId, openOnly }: { userId: string; openOnly: boolean },
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<LogEntry[]> {
  const { rows } = await database.query<Notification>(sql`
    SELECT ${NOTIFICATION} FROM notifications
    WHERE user_id = ${userId} ${openOnly ? sql`AND author IS NULL` : empty} ${after ? sql`AND notification_id < ${after}` : empty}
    ORDER BY notification_id DESC LIMIT ${limit}`);
  const deliveries = await database.query<DeliveryEntry & { id: string }>(sql`
    SELECT notification_id AS id, channel, status, attempts, last_error, last_attempt_at, delivered_at
    FROM notification_deliveries
    WHERE notification_id = ANY (${rows.map(({ notificationId }) => notificationId)}::uuid[])
    ORDER BY channel`);
  const byId = Map.groupBy(deliveries.rows, ({ id }) => id);
  return rows.map(row => ({ ...row, deliveries: byId.get(row.notificationId) ?? [] }));
}
