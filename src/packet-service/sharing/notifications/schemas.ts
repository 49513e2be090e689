import { Type } from 'typebox';
import { errorAnswers, Ulid, UserId } from '../../contract/schemas.ts';

const Time = (description: string) => Type.String({ description: `${description}; ISO 8601, UTC` });

const Delivery = Type.Object({
  channel: Type.Union([Type.Literal('mail'), Type.Literal('webhook')]),
  status: Type.Union([Type.Literal('queued'), Type.Literal('delivered'), Type.Literal('dead')], {
    description: 'it waits or is tried again; it arrived; it was given up',
  }),
  attempts: Type.Integer({ description: 'attempts that came to an end' }),
  last_error: Type.Optional(Type.String({ description: 'why the last attempt failed' })),
  last_attempt_at: Type.Optional(Time('when it ended')),
  delivered_at: Type.Optional(Time('when it arrived')),
});

export const listNotificationsSchema = {
  tags: ['Notifications'],
  summary: 'What a user was told, newest first, and what became of it',
  description: 'Page by page. A receiver tells repeats apart by notification_id.',
  querystring: Type.Object({
    user_id: Type.Optional({ ...UserId, description: 'required without a token' }),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, description: 'notifications a page: 100 unless given, at most 1000' }),
    ),
    cursor: Type.Optional(Type.String({ maxLength: 100, description: 'next_cursor of the page before' })),
  }),
  response: {
    200: Type.Object(
      {
        notifications: Type.Array(
          Type.Object({
            notification_id: Ulid,
            type: Type.Union([Type.Literal('share.created'), Type.Literal('invitation.sent')]),
            user_id: Type.String({ description: 'whom it is for' }),
            packet_id: Ulid,
            share_id: Type.Optional({ ...Ulid, description: 'of a share' }),
            invitation_id: Type.Optional({ ...Ulid, description: 'of an invitation' }),
            from_user: Type.String({ description: 'who caused it' }),
            created_at: Time('when'),
            deliveries: Type.Array(Delivery, { description: 'by channel' }),
          }),
        ),
        next_cursor: Type.Optional({ ...Ulid, description: 'absent on the last page' }),
      },
      { description: 'one page' },
    ),
    ...errorAnswers(400, 403, 500, 503),
  },
};
