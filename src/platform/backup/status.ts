import type { HealthDetail } from '../http/health.ts';
import { isBefore } from './segments.ts';
import type { State } from './state.ts';

/** Status of the backups of a DATA_DIR. */
export interface BackupStatus {
  instance: string;
  base: State['base'] | undefined;
  verified: State['verified'] | undefined;
  shipped: State['shipped'] | undefined;
  /** what keeps backups from working */
  trouble: State['health'] | undefined;
  /** when the oldest segment that waits was closed */
  waitingSince: Date | undefined;
  waitingSegments: number;
  /** closed segments that the server has not archived yet: they stay in pg_wal */
  unarchivedSegments: number;
  /** false when the server was started without its archive */
  archives: boolean;
}

export interface Limits {
  maxLagSeconds: number;
  everyHours: number;
}

/** The newest base backup of the present instance. */
export function ownBase({
  instance,
  base,
}: Pick<BackupStatus, 'instance' | 'base'>): State['base'] | undefined {
  return base?.instance === instance ? base : undefined;
}

/** When the backups of an instance began, by the time in its id; undefined if it has none. */
export function beganAt(instance: string): string | undefined {
  const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-/.exec(instance);
  if (!parts) return undefined;
  const [, year, month, day, hour, minute, second] = parts;
  return `${year}-${month}-${day}T${hour}:${minute}:${second}.000Z`;
}

/** Whether a part of the log is missing after the newest base backup. */
export function hasGap(status: Pick<BackupStatus, 'instance' | 'base' | 'shipped'>): boolean {
  const { instance, shipped } = status;
  const start = ownBase(status)?.startSegment;
  if (!start || shipped?.instance !== instance || !shipped.gap) return false;
  return !isBefore(shipped.gap.from, start);
}

/** Whether a base backup should be taken now. */
export function baseIsDue(status: BackupStatus, { everyHours }: Limits, now: Date): boolean {
  const base = ownBase(status);
  return !base || hasGap(status) || now.getTime() - Date.parse(base.at) >= everyHours * 3600_000;
}

/** Seconds for which the oldest segment has waited. */
export function lagSeconds({ waitingSince }: BackupStatus, now: Date): number {
  return waitingSince ? Math.max(0, (now.getTime() - waitingSince.getTime()) / 1000) : 0;
}

/** The detail of /health/ready. */
export function backupDetail(status: BackupStatus | undefined, limits: Limits, now: Date): HealthDetail {
  if (!status) return { name: 'backup', status: 'STARTING' };
  const base = ownBase(status);
  const ages = `last base backup ${age(base?.at, now)}, last verified ${age(status.verified?.at, now)}`;
  const detail = (word: string, message: string) => ({
    name: 'backup',
    status: word,
    message: `${message}; ${ages}`,
  });
  if (!status.archives) {
    return detail(
      'NOT_ARCHIVING',
      'PostgreSQL was started without an archive and other processes use it: stop all of them, then start again',
    );
  }
  const { trouble, since } = status.trouble ?? {};
  if (trouble) return detail('FAILING', `since ${since}: ${trouble}`);
  if (hasGap(status))
    return detail('GAP', `the log lacks ${status.shipped?.gap?.from}: a new base backup is due`);
  if (lagSeconds(status, now) > 2 * limits.maxLagSeconds)
    return detail('BEHIND', 'the log is shipped too slowly');
  if (!base) return detail('NO_BACKUP', 'no base backup has been taken');
  if (now.getTime() - Date.parse(base.at) > 2 * limits.everyHours * 3600_000) {
    return detail('OLD', 'the last base backup is too old');
  }
  return { name: 'backup', status: 'OK', message: ages };
}

function age(at: string | undefined, now: Date): string {
  if (at === undefined) return 'never';
  const minutes = Math.floor((now.getTime() - Date.parse(at)) / 60_000);
  if (minutes < 120) return `${Math.max(0, minutes)} min ago`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h ago` : `${Math.floor(minutes / 1440)} days ago`;
}
