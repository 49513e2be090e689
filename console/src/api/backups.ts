/** A backup that was not verified for so long may be of no use, in milliseconds. */
const UNVERIFIED_MS = 31 * 24 * 3600_000;
/** Time after the first backup before administrators are asked to verify one, in milliseconds. */
const YOUNG_MS = 7 * 24 * 3600_000;

/** The state of the backups, as the trace backend reports it. */
export interface BackupState {
  /** whether there is a BACKUP_URL */
  configured: boolean;
  status?: string | undefined;
  beganAt?: string | undefined;
  lastBaseAt?: string | undefined;
  lastVerifiedAt?: string | undefined;
  /** parts of the log that are not backed up yet */
  waitingSegments?: number | undefined;
}

const TROUBLES = ['NO_BACKUP', 'FAILING', 'GAP', 'BEHIND', 'OLD', 'NOT_ARCHIVING'] as const;

/** The advice about backups for administrators: the trouble, what is missing, or that all is well. */
export type BackupAdvice =
  | (typeof TROUBLES)[number]
  | 'none'
  | 'starting'
  | 'young'
  | 'never'
  | 'unverified'
  | 'good';

/** The advice about backups; a problem that this console does not know counts as failing. */
export function adviceFor(
  { configured, status, beganAt, lastVerifiedAt }: BackupState,
  now: Date,
): BackupAdvice {
  if (!configured) return 'none';
  if (status === 'STARTING') return 'starting';
  if (status !== 'OK') return TROUBLES.find(trouble => trouble === status) ?? 'FAILING';
  const age = (at: string) => now.getTime() - Date.parse(at);
  if (lastVerifiedAt !== undefined) return age(lastVerifiedAt) <= UNVERIFIED_MS ? 'good' : 'unverified';
  return beganAt !== undefined && age(beganAt) < YOUNG_MS ? 'young' : 'never';
}

/** How pressing an advice is: nothing is to be done, something soon, or at once. */
export function urgencyOf(advice: BackupAdvice): 'none' | 'soon' | 'now' {
  if (advice === 'good' || advice === 'young') return 'none';
  return advice === 'starting' || advice === 'never' || advice === 'unverified' ? 'soon' : 'now';
}
