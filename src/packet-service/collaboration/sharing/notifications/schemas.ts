import { DELIVERY_STATUSES } from '../../../../platform/mail/deliveries-store.ts';
import { Type } from '../../../../platform/type.ts';
import { errorAnswers, Ulid, UserId } from '../../../core/contract/schemas.ts';

const Time = (description: string) => Type.String({ description: `${description}; ISO 8601, UTC` });

const Delivery = Type.Object({
  channel: Type.Union([Type.Literal('mail'), Type.Literal('webhook')]),
  status: Type.Enum([...DELIVERY_STATUSES], {
    description:
      'queued: waiting or being retried; delivered; dead: failed for good; obsolete: not sent, because the share ' +
      'or invitation was answered first; dismissed: failed, and dismissed by an administrator',
  }),
  attempts: Type.Integer({ description: 'number of finished attempts' }),
  last_error: Type.Optional(Type.String({ description: 'why the last attempt failed' })),
  last_attempt_at: Type.Optional(Time('when it ended')),
  delivered_at: Type.Optional(Time('when it was delivered')),
});

export const listNotificationsSchema = {
  operationId: 'listNotifications',
  tags: ['Notifications'],
  summary: "List a user's notifications and their delivery, newest first",
  description: 'Receivers can recognise repeats by notification_id.',
  querystring: Type.Object({
    user_id: Type.Optional({ ...UserId, description: 'required without a token' }),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, description: 'notifications per page: 100 by default, at most 1000' }),
    ),
    cursor: Type.Optional(Type.String({ maxLength: 100, description: 'next_cursor of the previous page' })),
  }),
  response: {
    200: Type.Object(
      {
        notifications: Type.Array(
          Type.Object({
            notification_id: Ulid,
            type: Type.Union([Type.Literal('share.created'), Type.Literal('invitation.sent')]),
            user_id: Type.String({ description: 'the recipient' }),
            packet_id: Ulid,
            share_id: Type.Optional({ ...Ulid, description: 'only for shares' }),
            invitation_id: Type.Optional({ ...Ulid, description: 'only for invitations' }),
            from_user: Type.String({ description: 'the user who caused the notification' }),
            created_at: Time('when'),
            deliveries: Type.Array(Delivery, { description: 'by channel' }),
          }),
        ),
        next_cursor: Type.Optional({ ...Ulid, description: 'absent on the last page' }),
      },
      { description: 'a page' },
    ),
    ...errorAnswers(400, 403, 500, 503),
  },
};
