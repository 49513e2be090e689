import type { Backups } from '../backup/backups.ts';

/** What a process gives its services. */
export interface ProcessContext {
  backups?: Backups | undefined;
  /** the base URL of the console, without a trailing slash; undefined where links in mails do not lead to it */
  consoleUrl?: () => string | undefined;
  /** the name that an administrator gave the instance; undefined without one */
  instanceName?: () => Promise<string | undefined>;
}
