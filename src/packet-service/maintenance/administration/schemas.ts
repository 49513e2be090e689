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
  summary: 'The metrics of this process as JSON',
  description: 'Those of /metrics. For a SYSTEM_ADMIN of the trace backend.',
  response: {
    200: Type.Object(metricFields, { description: 'the metrics' }),
    ...errorAnswers(401, 403, 500, 503),
  },
};

export const jobsSchema = {
  operationId: 'listJobs',
  tags,
  summary: 'How many jobs wait, and how many deliveries were given up',
  description: 'For a SYSTEM_ADMIN of the trace backend.',
  response: {
    200: Type.Object(
      {
        ...queueFields,
        dead_letters: Type.Integer({ description: 'deliveries that were given up; counted up to 1000' }),
        mails: Type.Object(
          {
            given_up: Type.Integer({ description: 'mails among them' }),
            sent_at: Type.Optional(
              Type.String({ description: 'when a mail server last accepted a mail; ISO 8601, UTC' }),
            ),
            failed_at: Type.Optional(
              Type.String({ description: 'when one could last not be sent; ISO 8601, UTC' }),
            ),
            last_error: Type.Optional(Type.String({ description: 'why, without addresses' })),
          },
          { description: 'how sending mails goes' },
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
    description: 'where it was to go: an e-mail address or a phone number',
    examples: ['dede@coop.example', '+250788123417'],
  }),
  packet_id: { ...Ulid, description: 'the packet that it is about' },
  from_user: Type.String({ description: 'the user who caused it' }),
  created_at: Type.String({ description: 'ISO 8601, UTC' }),
  status: Type.Enum([...DELIVERY_STATUSES], {
    description:
      'dead, unless it was asked for by its id; obsolete: not needed any more, because the share or invitation was ' +
      'answered; dismissed: an administrator has dismissed it',
  }),
  attempts: Type.Integer({ description: 'in all' }),
  last_error: Type.Optional(Type.String({ description: 'why the last attempt failed' })),
  last_attempt_at: Type.Optional(Type.String({ description: 'ISO 8601, UTC' })),
  replayed_at: Type.Optional(
    Type.String({ description: 'when somebody last had it delivered again; ISO 8601, UTC' }),
  ),
});

export const listDeadLettersSchema = {
  operationId: 'listDeadLetters',
  tags,
  summary: 'Deliveries of notifications that were given up, newest first',
  description: 'Contents are left out. For a SYSTEM_ADMIN of the trace backend.',
  querystring: Type.Object({
    limit: Type.Optional(
      Type.Integer({ minimum: 1, description: 'notifications per page: 100 by default, at most 1000' }),
    ),
    cursor: Type.Optional(Type.String({ maxLength: 100, description: 'next_cursor of the previous page' })),
    ids: Type.Optional(
      Type.String({
        pattern: '^[0-9A-Za-z]{26}(,[0-9A-Za-z]{26}){0,99}$',
        description:
          'in place of a page, the deliveries of these notifications, whatever has become of them: up to 100 ids, ' +
          'with commas between',
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
  summary: 'Deliver dead letters again',
  description:
    'All of them, at most 10,000 in a call, or those of one notification. For a SYSTEM_ADMIN of the trace backend.',
  body: Type.Object({
    notification_id: Type.Optional({ ...Ulid, description: 'only those of this notification' }),
  }),
  response: {
    200: Type.Object(
      { replayed: Type.Integer({ description: 'deliveries that will be attempted again' }) },
      { description: 'they wait for delivery' },
    ),
    ...errorAnswers(400, 401, 403, 500, 503),
  },
};

export const dismissDeadLetterSchema = {
  operationId: 'dismissDeadLetter',
  tags,
  summary: 'Dismiss a delivery that was given up',
  description:
    'It is not delivered again, and not listed any more; the delivery log of its recipient says so. For a ' +
    'SYSTEM_ADMIN of the trace backend.',
  params: Type.Object({
    notification_id: Ulid,
    channel: Type.Enum([...CHANNELS], { description: 'of the delivery' }),
  }),
  response: {
    200: Type.Object(
      { dismissed: Type.Integer({ description: 'deliveries: 1' }) },
      { description: 'it is dismissed' },
    ),
    ...errorAnswers(400, 401, 403, 404, 500, 503),
  },
};
