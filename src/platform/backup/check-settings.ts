import { type Settings, SettingsError } from '../settings/settings.ts';
import { openTarget, type TargetSettings } from './objects/open-target.ts';
import type { BackupTarget } from './objects/target.ts';

/**
 * The target and the key of backups. It reaches nothing, so a start calls it before PostgreSQL is started.
 *
 * @throws SettingsError that says what to set
 */
export function checkBackupSettings(settings: TargetSettings & Pick<Settings, 'BACKUP_KEY'>): {
  target: BackupTarget;
  backupKey: string;
} {
  const target = openTarget(settings);
  if (settings.BACKUP_KEY === undefined) {
    throw new SettingsError(
      'BACKUP_URL is set but BACKUP_KEY is missing. Set BACKUP_KEY to the key of the backups there, or to a new ' +
        'passphrase of at least 20 characters for the first backup, and keep a copy of it in another place.',
    );
  }
  return { target, backupKey: settings.BACKUP_KEY };
}
