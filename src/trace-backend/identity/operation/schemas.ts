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
  summary: 'Get the current settings',
  description: 'All settings of both services. Secrets are masked.',
  response: {
    200: envelope(
      Type.Object({
        settings: Type.Array(
          Type.Object({
            name: Type.String({ examples: ['AUTH_MODE'] }),
            value: Type.Optional(
              Type.String({ description: "secrets are ***; absent if it isn't set and has no default" }),
            ),
            default: Type.Optional(Type.String({ description: 'absent if there is none' })),
            changed: Type.Boolean({ description: 'whether the value differs from the default' }),
            group: Type.Enum(Object.keys(GROUPS), { description: 'group of the setting' }),
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
  summary: 'Count waiting jobs and failed emails',
  response: {
    200: envelope(
      Type.Object({
        ...queueFields,
        failedMails: Type.Integer({ description: 'failed emails, counted up to 1000' }),
        mails: Type.Object(
          {
            sentAt: Type.Optional({ ...DateTime, description: 'when a mail server last accepted an email' }),
            failedAt: Type.Optional({ ...DateTime, description: 'when sending an email last failed' }),
            lastError: Type.Optional(
              Type.String({ description: 'reason of the last failure, without addresses' }),
            ),
          },
          { description: 'whether sending emails works' },
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
  summary: 'Get the metrics of this process as JSON',
  description: 'Like /metrics.',
  response: {
    200: envelope(Type.Object(metricFields), 'the metrics'),
    ...failureAnswers(401, 403),
  },
};

export const backupsSchema = {
  operationId: 'getBackups',
  tags,
  summary: "Get the state of this process's backups",
  response: {
    200: envelope(
      Type.Object({
        configured: Type.Boolean({ description: 'whether BACKUP_URL is set' }),
        status: Type.Optional(Type.String({ description: 'OK, or the kind of problem' })),
        message: Type.Optional(Type.String({ description: 'a message for operators' })),
        beganAt: Type.Optional({ ...DateTime, description: 'when backups to this location started' }),
        lastBaseAt: Type.Optional({ ...DateTime, description: 'when the last base backup was taken' }),
        lastVerifiedAt: Type.Optional({
          ...DateTime,
          description: 'when a backup was last restored and verified',
        }),
        waitingSegments: Type.Optional(
          Type.Integer({ description: "WAL segments that aren't archived yet" }),
        ),
      }),
      'the backups',
    ),
    ...failureAnswers(401, 403),
  },
};
