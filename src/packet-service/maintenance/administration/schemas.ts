import { queueFields } from '../../../platform/jobs/schemas.ts';
import { DELIVERY_STATUSES } from '../../../platform/mail/deliveries-store.ts';
import { metricFields } from '../../../platform/metrics/schemas.ts';
import { Type } from '../../../platform/type.ts';
import { CHANNELS } from '../../collaboration/sharing/notifications/channels.ts';
import { errorAnswers, Ulid } from '../../core/contract/schemas.ts';

const tags = ['Administration'];

export const metricsSchema = {
  operationId: 'getMetrics',
  tags,
  summary: 'Get the metrics of this process as JSON',
  description: 'Like /metrics. Only for a SYSTEM_ADMIN of the trace backend.',
  response: {
    200: Type.Object(metricFields, { description: 'the metrics' }),
    ...errorAnswers(401, 403, 500, 503),
  },
};

export const jobsSchema = {
  operationId: 'listJobs',
  tags,
  summary: 'Count waiting jobs and failed deliveries',
  description: 'Only for a SYSTEM_ADMIN of the trace backend.',
  response: {
    200: Type.Object(
      {
        ...queueFields,
        dead_letters: Type.Integer({ description: 'failed deliveries, counted up to 1000' }),
        mails: Type.Object(
          {
            given_up: Type.Integer({ description: 'failed deliveries by email' }),
            sent_at: Type.Optional(
              Type.String({ description: 'when a mail server last accepted an email; ISO 8601, UTC' }),
            ),
            failed_at: Type.Optional(
              Type.String({ description: 'when sending an email last failed; ISO 8601, UTC' }),
            ),
            last_error: Type.Optional(
              Type.String({ description: 'reason of the last failure, without addresses' }),
            ),
          },
          { description: 'whether sending emails works' },
        ),
      },
      { description: 'the jobs' },
    ),
    ...errorAnswers(401, 403, 500, 503),
  },
};

const DeadLetter = Type.Object({
  notification_id: Ulid,
  channel: Type.Union([Type.Literal('mail'), Type.Literal('webhook')]),
  type: Type.Union([Type.Literal('share.created'), Type.Literal('invitation.sent')]),
  user_id: Type.Optional(Type.String({ description: 'the recipient; absent for an invitation' })),
  recipient: Type.String({
    description: 'the destination: an email address or a phone number',
    examples: ['dede@coop.example', '+250788123417'],
  }),
  packet_id: { ...Ulid, description: 'the packet of the share or invitation' },
  from_user: Type.String({ description: 'the user who caused the notification' }),
  created_at: Type.String({ description: 'ISO 8601, UTC' }),
  status: Type.Enum([...DELIVERY_STATUSES], {
    description:
      'dead, unless requested by its id; obsolete: no longer needed, because the share or invitation was answered; ' +
      'dismissed by an administrator',
  }),
  attempts: Type.Integer({ description: 'total number' }),
  last_error: Type.Optional(Type.String({ description: 'why the last attempt failed' })),
  last_attempt_at: Type.Optional(Type.String({ description: 'ISO 8601, UTC' })),
  replayed_at: Type.Optional(Type.String({ description: 'when it was last retried by hand; ISO 8601, UTC' })),
});

export const listDeadLettersSchema = {
  operationId: 'listDeadLetters',
  tags,
  summary: 'List failed deliveries, newest first',
  description: 'Contents are left out. Only for a SYSTEM_ADMIN of the trace backend.',
  querystring: Type.Object({
    limit: Type.Optional(
      Type.Integer({ minimum: 1, description: 'notifications per page: 100 by default, at most 1000' }),
    ),
    cursor: Type.Optional(Type.String({ maxLength: 100, description: 'next_cursor of the previous page' })),
    ids: Type.Optional(
      Type.String({
        pattern: '^[0-9A-Za-z]{26}(,[0-9A-Za-z]{26}){0,99}$',
        description:
          'instead of a page, returns the deliveries of these notifications in any state: up to 100 ids, separated by ' +
          'commas',
      }),
    ),
  }),
  response: {
    200: Type.Object(
      {
        dead_letters: Type.Array(DeadLetter),
        next_cursor: Type.Optional({ ...Ulid, description: 'absent on the last page' }),
      },
      { description: 'a page' },
    ),
    ...errorAnswers(400, 401, 403, 500, 503),
  },
};

export const replaySchema = {
  operationId: 'replayDeadLetters',
  tags,
  summary: 'Retry failed deliveries',
  description:
    'Retries all failed deliveries, at most 10,000 per call, or those of one notification. Only for a ' +
    'SYSTEM_ADMIN of the trace backend.',
  body: Type.Object({
    notification_id: Type.Optional({ ...Ulid, description: 'only retries deliveries of this notification' }),
  }),
  response: {
    200: Type.Object(
      { replayed: Type.Integer({ description: 'number of deliveries that will be retried' }) },
      { description: 'the deliveries are queued' },
    ),
    ...errorAnswers(400, 401, 403, 500, 503),
  },
};

export const dismissDeadLetterSchema = {
  operationId: 'dismissDeadLetter',
  tags,
  summary: 'Dismiss a failed delivery',
  description:
    "It isn't retried or listed any more, and the recipient's delivery log records this. Only for a SYSTEM_ADMIN " +
    'of the trace backend.',
  params: Type.Object({
    notification_id: Ulid,
    channel: Type.Enum([...CHANNELS], { description: 'id of the delivery' }),
  }),
  response: {
    200: Type.Object(
      { dismissed: Type.Integer({ description: 'number of dismissed deliveries: 1' }) },
      { description: 'dismissed' },
    ),
    ...errorAnswers(400, 401, 403, 404, 500, 503),
  },
};
