import { uuidToUlid } from '../../../core/packet-format/ulid.ts';
import type { Notification } from './store.ts';

/**
 * A notification as sent to receivers and shown in the delivery log. It refers to a packet and contains nothing of
 * it.
 */
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
