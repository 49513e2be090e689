/** A backup cannot be taken, restored or verified; the message is for the operator. */
export class BackupError extends Error {}

/** An object that is not what was written: damaged, exchanged for another, or missing. */
export class DamagedError extends BackupError {}
