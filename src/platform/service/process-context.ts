import type { Backups } from '../backup/backups.ts';

/** Shared by the services of a process. */
export interface ProcessContext {
  backups?: Backups | undefined;
  /** the base URL of the console, without a trailing slash; undefined where links in mails do not lead to it */
  consoleUrl?: () => string | undefined;
  /** the name that an administrator gave the instance; undefined without one */
  instanceName?: () => Promise<string | undefined>;
}
