import { queueFields } from '../../../platform/jobs/schemas.ts';
import { metricFields } from '../../../platform/metrics/schemas.ts';
import { GROUPS } from '../../../platform/settings/settings.ts';
import { Type } from '../../../platform/type.ts';
import { envelope, failureAnswers } from '../../base/contract/envelope.ts';
import { DateTime } from '../../base/contract/schemas.ts';

const tags = ['Administration'];

export const settingsSchema = {
  operationId: 'listSettings',
  tags,
  summary: 'The settings in force',
  description: 'All settings of both services. Secrets are masked.',
  response: {
    200: envelope(
      Type.Object({
        settings: Type.Array(
          Type.Object({
            name: Type.String({ examples: ['AUTH_MODE'] }),
            value: Type.Optional(
              Type.String({ description: 'secrets are ***; absent if it is not set and has no default' }),
            ),
            default: Type.Optional(Type.String({ description: 'absent if it has none' })),
            changed: Type.Boolean({ description: 'whether it is set to something other than the default' }),
            group: Type.Enum(Object.keys(GROUPS), { description: 'what it is about' }),
            description: Type.String(),
          }),
        ),
      }),
      'the settings',
    ),
    ...failureAnswers(401, 403),
  },
};

export const jobsSchema = {
  operationId: 'listMailJobs',
  tags,
  summary: 'How many jobs wait, and how many mails were given up',
  response: {
    200: envelope(
      Type.Object({
        ...queueFields,
        failedMails: Type.Integer({ description: 'mails that were given up; counted up to 1000' }),
        mails: Type.Object(
          {
            sentAt: Type.Optional({ ...DateTime, description: 'when a mail server last accepted a mail' }),
            failedAt: Type.Optional({ ...DateTime, description: 'when one could last not be sent' }),
            lastError: Type.Optional(Type.String({ description: 'why, without addresses' })),
          },
          { description: 'how sending mails goes' },
        ),
      }),
      'the jobs',
    ),
    ...failureAnswers(401, 403),
  },
};

export const metricsSchema = {
  operationId: 'getServiceMetrics',
  tags,
  summary: 'The metrics of this process as JSON',
  description: 'Those of /metrics.',
  response: {
    200: envelope(Type.Object(metricFields), 'the metrics'),
    ...failureAnswers(401, 403),
  },
};

export const backupsSchema = {
  operationId: 'getBackups',
  tags,
  summary: 'The backups of this process',
  response: {
    200: envelope(
      Type.Object({
        configured: Type.Boolean({ description: 'whether there is a BACKUP_URL' }),
        status: Type.Optional(Type.String({ description: 'OK, or the kind of trouble' })),
        message: Type.Optional(Type.String({ description: 'a message for operators' })),
        beganAt: Type.Optional({ ...DateTime, description: 'when backups to this place began' }),
        lastBaseAt: Type.Optional({ ...DateTime, description: 'when the last base backup was taken' }),
        lastVerifiedAt: Type.Optional({
          ...DateTime,
          description: 'when a backup was last restored and verified',
        }),
        waitingSegments: Type.Optional(
          Type.Integer({ description: 'parts of the log that are not shipped yet' }),
        ),
      }),
      'the backups',
    ),
    ...failureAnswers(401, 403),
  },
};
