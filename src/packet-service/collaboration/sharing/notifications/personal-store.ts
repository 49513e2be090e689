import type pg from 'pg';
import sql from 'sql-template-tag';
import type { Database } from '../../../../platform/database/database.ts';

export interface PersonalNotification {
  notificationId: string;
  type: string;
  contact: string;
  packetId: string;
  shareId: string;
  fromUser: string;
  createdAt: Date;
  deliveries: object[];
}

/** A user's notifications, with their delivery. */
export function notificationsOf(userId: string): pg.QueryConfig {
  return sql`
    SELECT notification_id AS "notificationId", type, contact, packet_id AS "packetId", share_id AS "shareId",
      from_user AS "fromUser", created_at AS "createdAt",
      (SELECT coalesce(json_agg(json_build_object('channel', channel, 'address', address, 'status', status,
        'delivered_at', delivered_at) ORDER BY channel), '[]')
       FROM notification_deliveries AS made WHERE made.notification_id = notifications.notification_id) AS deliveries
    FROM notifications WHERE user_id = ${userId} ORDER BY notification_id`;
}

/** Deletes notifications to a user or to the user's contacts, mails to those, and the user's invitations of others. */
export async function eraseNotifications(
  database: Database,
  userId: string,
  contacts: readonly string[],
): Promise<void> {
  const concerned = sql`user_id = ${userId} OR contact = ANY (${contacts}::text[])
    OR (from_user = ${userId} AND type = 'invitation.sent')`;
  await database.query(sql`
    DELETE FROM notification_deliveries WHERE notification_id IN (
      SELECT notification_id FROM notifications WHERE ${concerned})
    OR (channel = 'mail' AND address = ANY (${contacts}::text[]))`);
  await database.query(sql`DELETE FROM notifications WHERE ${concerned}`);
}
