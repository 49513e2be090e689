import type { Registry } from 'prom-client';
import type { Health } from '../http/health.ts';
import type { Settings } from '../settings/settings.ts';
import type { Backups } from './backups.ts';
import { registerBackupMetrics } from './metrics.ts';
import { backupDetail } from './status.ts';

/** Makes a service report the backups of its process, in /health/ready and /metrics. */
export function registerBackupStatus(
  { health, metrics }: { health: Health; metrics: Registry },
  settings: Pick<Settings, 'BACKUP_MAX_LAG_SECONDS' | 'BACKUP_EVERY_HOURS'>,
  backups: Pick<Backups, 'status'> | undefined,
): void {
  if (!backups) return;
  const limits = { maxLagSeconds: settings.BACKUP_MAX_LAG_SECONDS, everyHours: settings.BACKUP_EVERY_HOURS };
  health.addDetail(() => backupDetail(backups.status(), limits, new Date()));
  registerBackupMetrics(metrics, backups.status);
}
