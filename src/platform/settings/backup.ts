import { Type } from '../type.ts';
import { BUCKET_RULES, secret, url } from './types.ts';

/** The settings of backups. */
export const backupSettings = {
  BACKUP_URL: Type.Optional(
    Type.String({
      pattern: '^(file:///[^\\s]+|s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[^\\s]*)?)$',
      allowed: `file:///folder or s3://bucket/prefix; ${BUCKET_RULES}`,
      maxLength: 2048,
      description:
        'where backups are written: file:///folder or s3://bucket/prefix; without it, nothing is backed up',
    }),
  ),
  BACKUP_KEY: secret(
    'passphrase, or age identity (AGE-SECRET-KEY-1…), that encrypts backups; keep a copy in another place, because backups cannot be read without it',
    20,
  ),
  BACKUP_EVERY_HOURS: Type.Integer({
    minimum: 1,
    maximum: 720,
    default: 24,
    description: 'hours between base backups',
  }),
  BACKUP_KEEP_DAYS: Type.Integer({
    minimum: 1,
    maximum: 3650,
    default: 14,
    description: 'days back to which backups can be restored',
  }),
  BACKUP_MAX_LAG_SECONDS: Type.Integer({
    minimum: 2,
    maximum: 86400,
    default: 60,
    description: 'maximum seconds of writes that are lost with the machine',
  }),
  BACKUP_MAX_MIB_PER_SECOND: Type.Integer({
    minimum: 1,
    maximum: 10000,
    default: 16,
    description: 'maximum MiB per second that base backups and file backups read',
  }),
  BACKUP_MAX_SPOOL_BYTES: Type.Integer({
    minimum: 64 * 1024 ** 2,
    maximum: 1024 ** 4,
    default: 1024 ** 3,
    description:
      'maximum bytes of WAL kept on disk while BACKUP_URL is unreachable; the excess is dropped, and a new base backup is taken later',
  }),
  BACKUP_PING_URL: url(
    'URL requested after each successful base backup, for a monitoring service that alerts when the requests stop',
  ),
  BACKUP_S3_ENDPOINT: url('S3 endpoint for backups; default: S3_ENDPOINT'),
  BACKUP_S3_REGION: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: 'S3 region for backups; default: S3_REGION' }),
  ),
  BACKUP_S3_ACCESS_KEY_ID: secret('S3 access key for backups; default: S3_ACCESS_KEY_ID'),
  BACKUP_S3_SECRET_ACCESS_KEY: secret('secret of BACKUP_S3_ACCESS_KEY_ID'),
};
