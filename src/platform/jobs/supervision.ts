import type { PgBoss } from 'pg-boss';
import type { Database } from '../database/database.ts';
import { needsSupervision } from './store.ts';

/** How often jobs of killed processes are searched, in seconds. */
const SUPERVISE_SECONDS = 15;

export interface Supervision {
  /** Stops it, and waits for a pass in progress. */
  stop(): Promise<void>;
}

/**
 * Gives jobs of killed processes back to the queue, and deletes finished ones. pg-boss would do so automatically, but each of
 * its passes writes: on an idle server, backups would ship a segment of the log every time.
 *
 * @param schema of the job queue
 * @param report called with errors; the next pass follows anyway
 */
export function supervise(
  boss: PgBoss,
  database: Database,
  schema: string,
  report: (error: unknown) => void,
): Supervision {
  let passing = Promise.resolve();
  const pass = async () => {
    if (await needsSupervision(database, schema)) await boss.supervise();
  };
  const timer = setInterval(() => {
    passing = passing.then(pass).catch(report);
  }, SUPERVISE_SECONDS * 1000).unref();
  return {
    async stop() {
      clearInterval(timer);
      await passing;
    },
  };
}
