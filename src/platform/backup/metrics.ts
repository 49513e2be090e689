import { Gauge, type Registry } from 'prom-client';
import { SEGMENT_BYTES } from './segments.ts';
import { type BackupStatus, hasGap, lagSeconds, ownBase } from './status.ts';

/** Adds the metrics of backups to those of a service. */
export function registerBackupMetrics(registry: Registry, look: () => BackupStatus | undefined): void {
  const gauge = (name: string, help: string, value: (status: BackupStatus) => number | undefined) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        const status = look();
        const now = status && value(status);
        if (now === undefined) this.reset();
        else this.set(now);
      },
    });
  gauge(
    'backup_last_base_timestamp_seconds',
    'time when the last base backup ended; 0 before the first one',
    status => seconds(ownBase(status)?.at),
  );
  gauge(
    'backup_last_verified_timestamp_seconds',
    'time of the last backup verification; 0 before the first one',
    status => seconds(status.verified?.at),
  );
  gauge('backup_base_bytes', 'bytes of the last base backup', status => ownBase(status)?.bytes ?? 0);
  gauge('backup_lag_seconds', 'how long the oldest unshipped WAL has been waiting', status =>
    lagSeconds(status, new Date()),
  );
  gauge(
    'backup_spool_bytes',
    'bytes of WAL waiting to be shipped',
    status => status.waitingSegments * SEGMENT_BYTES,
  );
  gauge(
    'backup_unarchived_bytes',
    'bytes of closed WAL in pg_wal that PostgreSQL has not archived yet; grows while archiving fails',
    status => status.unarchivedSegments * SEGMENT_BYTES,
  );
  gauge('backup_failing', '1 while backups are failing', status =>
    status.trouble?.trouble || !status.archives ? 1 : 0,
  );
  gauge('backup_gap', '1 while WAL after the last base backup is missing', status =>
    hasGap(status) ? 1 : 0,
  );
}

function seconds(at: string | undefined): number {
  return at === undefined ? 0 : Date.parse(at) / 1000;
}
