import type { KnownBackups } from '../platform/backup/known-status.ts';
import { error, type Finding, ok, warning } from './finding.ts';

/** Age of the last verification from which a backup may be unusable, in milliseconds. */
const UNVERIFIED_MS = 31 * 24 * 3600_000;
const ERRORS = ['FAILING', 'GAP', 'OLD'];

/** How old the last backup and the last verified one are. */
export function checkBackups(known: KnownBackups | undefined, isExternal: boolean, now: Date): Finding[] {
  if (!known) {
    const remedy = isExternal
      ? 'back up the database with its own tools; set BACKUP_URL and BACKUP_KEY for the files'
      : 'set BACKUP_URL and BACKUP_KEY (docs/operations.md, "Backup and restore")';
    return [warning('backup', 'no backups: BACKUP_URL is not set', remedy)];
  }
  const { status, message, verifiedAt, location } = known;
  if (ERRORS.includes(status)) return [error('backup', `${status}, ${message}`, `check ${location}`)];
  if (status !== 'OK')
    return [
      warning('backup', `${status}, ${message}`, 'a running service takes the next one when it is due'),
    ];
  if (verifiedAt === undefined || now.getTime() - Date.parse(verifiedAt) > UNVERIFIED_MS)
    return [warning('backup', `OK, ${message}`, 'run `fieldtrace backup verify` once a week')];
  return [ok('backup', `OK, ${message}`)];
}
