import { uuidToUlid } from '../../packet/ulid.ts';
import type { Notification } from './store.ts';

/** A notification as receivers and the delivery log read it. It tells of a packet and holds nothing of it. */
export function asNotification(notification: Notification) {
  const { notificationId, type, userId, packetId, shareId, fromUser, createdAt } = notification;
  const id = uuidToUlid(shareId);
  return {
    notification_id: uuidToUlid(notificationId),
    type,
    user_id: userId,
    packet_id: uuidToUlid(packetId),
    ...(type === 'share.created' ? { share_id: id } : { invitation_id: id }),
    from_user: fromUser,
    created_at: createdAt.toISOString(),
  };
}
