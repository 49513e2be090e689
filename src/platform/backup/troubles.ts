import type { BackupContext } from './context.ts';

export type Troubles = ReturnType<typeof troubleKeeper>;

/** Logs what fails when it begins and when it is over, and notes it for the health details of every process. */
export function troubleKeeper({ state, logger }: BackupContext) {
  const open = new Map<string, string>();
  const keep = () =>
    state
      .update('health', before => {
        const [trouble] = open.values();
        return trouble ? { trouble, since: before?.since ?? new Date().toISOString() } : {};
      })
      .catch(error => logger.error({ err: error }, 'could not write the state of backups'));
  return {
    has: (what: string) => open.has(what),
    async report(what: string, error: Error): Promise<void> {
      const message = `${what} fails: ${error.message || error.name}`;
      if (!open.has(what)) logger.error({ err: error }, message);
      if (open.get(what) === message) return;
      open.set(what, message);
      await keep();
    },
    async over(what: string): Promise<void> {
      if (!open.delete(what)) return;
      logger.info(`${what} works again`);
      await keep();
    },
  };
}
