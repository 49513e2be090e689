import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Settings } from '../settings/settings.ts';
import { openTarget, type TargetSettings } from './objects/open-target.ts';
import { openState } from './state.ts';
import { backupDetail } from './status.ts';

/** The state of the backups of a DATA_DIR, by its files. */
export interface KnownBackups {
  /** OK, or the word of /health/ready for what is not */
  status: string;
  message: string;
  /** where the backups are */
  location: string;
  /** absent before the first start with backups */
  instance: string | undefined;
  /** until when the log was shipped */
  shippedAt: string | undefined;
  /** when a backup was verified last */
  verifiedAt: string | undefined;
}

/** Reads what is known of the backups of a DATA_DIR, with or without a service; undefined without BACKUP_URL. */
export async function readKnownBackups(
  settings: TargetSettings & Pick<Settings, 'BACKUP_MAX_LAG_SECONDS' | 'BACKUP_EVERY_HOURS'>,
  now: Date,
): Promise<KnownBackups | undefined> {
  if (settings.BACKUP_URL === undefined) return undefined;
  const state = openState(settings.DATA_DIR);
  // Asking for the id would make one.
  const began = existsSync(path.resolve(settings.DATA_DIR, 'backup', 'instance'));
  const instance = began ? await state.instance() : undefined;
  const [base, verified, shipped, trouble] = await Promise.all([
    state.read('base'),
    state.read('verified'),
    state.read('shipped'),
    state.read('health'),
  ]);
  const waiting = { waitingSince: undefined, waitingSegments: 0, unarchivedSegments: 0, archives: true };
  const known = { instance: instance ?? '', base, verified, shipped, trouble, ...waiting };
  const limits = { maxLagSeconds: settings.BACKUP_MAX_LAG_SECONDS, everyHours: settings.BACKUP_EVERY_HOURS };
  const { status, message = '' } = backupDetail(known, limits, now);
  const { location } = openTarget(settings);
  return { status, message, location, instance, shippedAt: shipped?.at, verifiedAt: verified?.at };
}
