/** A backup cannot be taken, restored or verified; the message is for the operator. */
export class BackupError extends Error {}

/** Remedy if the backups of a DATA_DIR are missing. */
export const GONE_REMEDY =
  'If a disk is not mounted, mount it. If the backups are gone, run `fieldtrace backup begin` to ' +
  'start new ones, or set another BACKUP_URL.';

/** An object that is not what was written: damaged, exchanged for another, or missing. */
export class DamagedError extends BackupError {}
