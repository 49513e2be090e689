import sql, { empty } from 'sql-template-tag';
import type { Database } from '../../../../platform/database/database.ts';
import type { Channel } from './channels.ts';
import type { DELIVERY_STATUSES } from './schemas.ts';

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
  /** e-mail address; null for the webhook */
  address: string | null;
  /** whether it is said together with others in one mail */
  inDigest: boolean;
}

/** What identifies a delivery. */
export type DeliveryKey = Pick<Delivery, 'notificationId' | 'channel'>;

export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Those that have ended for good: nothing is sent any more. */
const ENDED = sql`('delivered', 'obsolete', 'dismissed')`;

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
  notificationId: string,
  channel: Channel,
): Promise<(Notification & { address: string | null }) | undefined> {
  const { rows } = await database.query<Notification & { address: string | null }>(sql`
    SELECT ${NOTIFICATION}, address FROM notifications JOIN notification_deliveries USING (notification_id)
    WHERE notification_id = ${notificationId} AND channel = ${channel} AND status NOT IN ${ENDED}`);
  return rows[0];
}

/** Records a successful delivery. */
export async function noteDelivered(
  database: Database,
  { notificationId, channel }: DeliveryKey,
  now: Date,
): Promise<void> {
  await database.query(sql`
    UPDATE notification_deliveries SET status = 'delivered', attempts = attempts + 1, last_error = NULL,
      last_attempt_at = ${now}, delivered_at = ${now}
    WHERE notification_id = ${notificationId} AND channel = ${channel} AND status NOT IN ${ENDED}`);
}

/** Records why an attempt failed. The job queue decides whether another follows. */
export async function noteFailure(
  database: Database,
  { notificationId, channel }: DeliveryKey,
  error: string,
  now: Date,
): Promise<void> {
  await database.query(sql`
    UPDATE notification_deliveries SET attempts = attempts + 1, last_error = ${error}, last_attempt_at = ${now}
    WHERE notification_id = ${notificationId} AND channel = ${channel} AND status NOT IN ${ENDED}`);
}

/** Records that a delivery is not needed any more. */
export async function noteObsolete(
  database: Database,
  { notificationId, channel }: DeliveryKey,
): Promise<void> {
  await database.query(sql`
    UPDATE notification_deliveries SET status = 'obsolete', last_error = NULL
    WHERE notification_id = ${notificationId} AND channel = ${channel} AND status NOT IN ${ENDED}`);
}

/** Marks a delivery as a dead letter, unless it was delivered. Returns whether it did. */
export async function markDead(
  database: Database,
  { notificationId, channel }: DeliveryKey,
): Promise<boolean> {
  const { rowCount } = await database.query(sql`
    UPDATE notification_deliveries SET status = 'dead',
      last_error = coalesce(last_error, 'the attempts ended without an answer')
    WHERE notification_id = ${notificationId} AND channel = ${channel} AND status = 'queued'`);
  return rowCount === 1;
}

/** How many dead letters there are, of one channel or of all; counts no further than `limit`. */
export async function countDead(database: Database, limit: number, channel?: Channel): Promise<number> {
  const { rows } = await database.query<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM (
      SELECT FROM notification_deliveries WHERE status = 'dead' ${channel ? sql`AND channel = ${channel}` : empty}
      LIMIT ${limit}) AS dead`);
  return rows[0]?.count ?? 0;
}

/** A delivery that was given up, with its notification. */
export interface DeadLetter extends Omit<Notification, 'shareId' | 'author'> {
  channel: Channel;
  /** e-mail address; null for the webhook */
  address: string | null;
  status: DeliveryStatus;
  attempts: number;
  /** when it was last revived */
  replayedAt: Date | null;
  lastError: string | null;
  lastAttemptAt: Date | null;
}

const DEAD_LETTER = sql`channel, address, status, type, user_id AS "userId", contact, packet_id AS "packetId",
  from_user AS "fromUser", created_at AS "createdAt", attempts, replayed_at AS "replayedAt", last_error AS "lastError",
  last_attempt_at AS "lastAttemptAt"`;

/** The deliveries of notifications, newest first, whatever has become of them. */
export async function findDeliveries(database: Database, ids: readonly string[]): Promise<DeadLetter[]> {
  const { rows } = await database.query<DeadLetter>(sql`
    SELECT notification_id AS "notificationId", ${DEAD_LETTER}
    FROM notification_deliveries JOIN notifications USING (notification_id)
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
    SELECT notification_id AS "notificationId", ${DEAD_LETTER}
    FROM notification_deliveries JOIN notifications USING (notification_id)
    WHERE status = 'dead' AND notification_id IN (
      SELECT DISTINCT notification_id FROM notification_deliveries
      WHERE status = 'dead' ${after ? sql`AND notification_id < ${after}` : empty}
      ORDER BY notification_id DESC LIMIT ${limit})
    ORDER BY notification_id DESC, channel`);
  return rows;
}

/** Revives dead letters: all, or those of one notification. At most `limit`, oldest first. */
export async function reviveDead(
  database: Database,
  notificationId: string | undefined,
  now: Date,
  limit: number,
): Promise<Delivery[]> {
  const { rows } = await database.query<Delivery>(sql`
    UPDATE notification_deliveries SET status = 'queued', replayed_at = ${now}
    WHERE status = 'dead' AND (notification_id, channel) IN (
      SELECT notification_id, channel FROM notification_deliveries
      WHERE status = 'dead' ${notificationId ? sql`AND notification_id = ${notificationId}` : empty}
      ORDER BY notification_id LIMIT ${limit} FOR UPDATE SKIP LOCKED)
    RETURNING notification_id AS "notificationId", channel, address, in_digest AS "inDigest"`);
  return rows;
}

/** Dismisses a dead letter; returns whether it was one. */
export async function dismissDead(
  database: Database,
  { notificationId, channel }: DeliveryKey,
): Promise<boolean> {
  const { rowCount } = await database.query(sql`
    UPDATE notification_deliveries SET status = 'dismissed'
    WHERE notification_id = ${notificationId} AND channel = ${channel} AND status = 'dead'`);
  return rowCount === 1;
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
