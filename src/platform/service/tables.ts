import type { Connection } from '../database/database.ts';
import { migrate, pendingMigrations } from '../database/migrate.ts';
import type { MovedService } from '../database/move/move.ts';
import { prepareJobs } from '../jobs/jobs.ts';

/** The tables of a service. */
export interface ServiceTables {
  /** The migrations that they lack; undefined where there are no tables. */
  lacks(connection: Connection): Promise<string[] | undefined>;
  /**
   * Brings them up to date; returns the names of the migrations that ran now.
   *
   * @param owner of the role that owns the tables; it gives that of `connection` its rights
   * @throws MigrationError
   */
  migrate(connection: Connection, owner?: Connection): Promise<string[]>;
  /** what `fieldtrace move` moves */
  moved: MovedService;
}

/**
 * @param schema PostgreSQL's schema of the tables
 * @param folder of the migrations
 * @param jobs schema of the job queues, which another program keeps
 * @param queues their names
 */
export function serviceTables(
  schema: string,
  folder: URL,
  jobs: string,
  queues: readonly string[],
): ServiceTables {
  const makeJobs = (connection: Connection) => prepareJobs(connection, jobs, queues);
  return {
    lacks: connection => pendingMigrations(connection, schema, folder),
    async migrate(connection, owner = connection) {
      const service = owner === connection ? undefined : connection;
      const names = await migrate(owner, schema, folder, { service });
      await makeJobs(connection);
      return names;
    },
    moved: { schema, folder, jobs, makeJobs },
  };
}
