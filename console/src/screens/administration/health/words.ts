const STATUSES = ['OK', 'WRITES_REFUSED', 'DATABASE_UNREACHABLE', 'WRITER_HUNG', 'STOPPING'];
const CHECKS = [
  'clock.OK',
  'clock.BEHIND',
  'replicas.OK',
  'replicas.LEFT_OUT',
  'mail.OK',
  'mail.FAILING',
  'webhook.OK',
  'webhook.FAILING',
];
const TROUBLES = ['NO_BACKUP', 'FAILING', 'GAP', 'BEHIND', 'OLD', 'NOT_ARCHIVING'];

/** The message for a status of a service; undefined if this console does not know it. */
export function statusKey(status: string): string | undefined {
  return STATUSES.includes(status) ? `administration.health.status.${status}` : undefined;
}

/** The message for a detail; undefined if this console does not know it. */
export function detailKey({ name, status }: { name: string; status: string }): string | undefined {
  if (name === 'backup') {
    if (status === 'STARTING') return 'administration.backups.advice.starting';
    return TROUBLES.includes(status) ? `administration.backups.advice.${status}` : undefined;
  }
  return CHECKS.includes(`${name}.${status}`) ? `administration.health.${name}.${status}` : undefined;
}
