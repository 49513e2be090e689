import type pg from 'pg';
import type { Registry } from 'prom-client';
import type { Backups } from '../../../platform/backup/backups.ts';
import { backupDetail, beganAt, ownBase } from '../../../platform/backup/status.ts';
import type { Server } from '../../../platform/http/server.ts';
import { countJobs } from '../../../platform/jobs/store.ts';
import { findMailOutcomes, type MailOutcomes } from '../../../platform/mail/outcomes-store.ts';
import { metricsAsJson } from '../../../platform/metrics/as-json.ts';
import { describeInForce } from '../../../platform/settings/in-force.ts';
import type { Settings } from '../../../platform/settings/settings.ts';
import { ok } from '../../base/contract/envelope.ts';
import { backupsSchema, jobsSchema, metricsSchema, settingsSchema } from './schemas.ts';

/** Failed mails are counted up to this number. */
const COUNTED = 1000;

interface OperationContext {
  pool: pg.Pool;
  settings: Settings;
  metrics: Registry;
  /** PostgreSQL's schema of the job queue */
  jobs: string;
  /** The number of failed mails, counted up to the limit. */
  countFailedMails: (database: pg.Pool, limit: number) => Promise<number>;
  backups: Pick<Backups, 'status'> | undefined;
}

/** The state of the process for administrators: settings, jobs, metrics and backups. */
export function registerOperation(app: Server, context: OperationContext): void {
  const { pool, settings, metrics, jobs, countFailedMails, backups } = context;
  const config = { access: 'system-admin' } as const;
  app.get('/api/administration/settings', { config, schema: settingsSchema }, async () =>
    ok({ settings: describeInForce(settings) }),
  );
  app.get('/api/administration/jobs', { config, schema: jobsSchema }, async () =>
    ok({
      queues: await countJobs(pool, jobs),
      failedMails: await countFailedMails(pool, COUNTED),
      mails: asOutcomes(await findMailOutcomes(pool)),
    }),
  );
  app.get('/api/administration/metrics', { config, schema: metricsSchema }, async () =>
    ok({ metrics: await metricsAsJson(metrics) }),
  );
  app.get('/api/administration/backups', { config, schema: backupsSchema }, async () =>
    ok(stateOf(settings, backups)),
  );
}

function asOutcomes({ sentAt, failedAt, error }: MailOutcomes) {
  return {
    ...(sentAt && { sentAt: sentAt.toISOString() }),
    ...(failedAt && { failedAt: failedAt.toISOString(), lastError: error }),
  };
}

function stateOf(
  { BACKUP_MAX_LAG_SECONDS: maxLagSeconds, BACKUP_EVERY_HOURS: everyHours }: Settings,
  backups: OperationContext['backups'],
) {
  if (!backups) return { configured: false };
  const found = backups.status();
  const { status, message } = backupDetail(found, { maxLagSeconds, everyHours }, new Date());
  const base = found && ownBase(found);
  const began = found && beganAt(found.instance);
  return {
    configured: true,
    status,
    ...(message !== undefined && { message }),
    ...(began && { beganAt: began }),
    ...(base && { lastBaseAt: base.at }),
    ...(found?.verified && { lastVerifiedAt: found.verified.at }),
    ...(found && { waitingSegments: found.waitingSegments }),
  };
}
