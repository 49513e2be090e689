import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { type Connection, openPool } from '../../src/platform/database/database.ts';
import { errorCode } from '../../src/platform/database/troubles.ts';

export interface DatabaseServer {
  host: string;
  port: number;
  /** the role that owns the tables */
  user: string;
  password: string;
  /** name of the migrated database to clone */
  template: string;
  /** of a Citus cluster, whose servers each have their part of every database */
  cluster?:
    | undefined
    | {
        /** who makes and drops databases, and in which one */
        administrator: { user: string; password: string; database: string };
        /** the other servers */
        workers: { host: string; port: number }[];
      };
}

/** The role of services that run in the test's own process. */
export interface ServiceRole {
  user: string;
  password: string;
}

export interface TestDatabase {
  /** of the role that owns the tables */
  connection: { host: string; port: number; user: string; password: string; database: string };
  /** Sees the packet service's tables. */
  pool: pg.Pool;
  drop(): Promise<void>;
}

/** The database, as the role of the services. */
export function asService<Way extends Connection>(connection: Way): Way {
  return { ...connection, ...inject('serviceRole') };
}

/** A migrated database of the caller's own, on the run's one server. */
export async function testDatabase(): Promise<TestDatabase> {
  const { template, cluster, ...server } = inject('databaseServer');
  const database = `test_${randomUUID().replaceAll('-', '')}`;
  // Copied as files, not through the log.
  await administer(
    { ...server, cluster },
    `CREATE DATABASE ${database} TEMPLATE ${template} STRATEGY file_copy OWNER ${server.user}`,
  );
  if (cluster) await administer({ ...server, cluster }, serviceRights(database, inject('serviceRole')));
  const connection = { ...server, database };
  const pool = openPool(connection, 'packet_service', 4);
  return {
    connection,
    pool,
    async drop() {
      await pool.end();
      await dropDatabase({ ...server, cluster }, database);
    },
  };
}

/**
 * How many sessions of a database wait for a lock, on any server of a cluster.
 *
 * @param pool of that database
 */
export async function waitingSessions(pool: pg.Pool): Promise<number> {
  const local = `SELECT count(*)::int AS count FROM pg_locks JOIN pg_stat_activity USING (pid)
    WHERE NOT granted AND datname = current_database()`;
  const { rows } = inject('databaseServer').cluster
    ? await pool.query('SELECT sum(result::int)::int AS count FROM run_command_on_all_nodes($1)', [local])
    : await pool.query(local);
  return rows[0].count;
}

/** Ends the sessions of a database that wait for a lock, on any server of a cluster. */
export async function endWaitingSessions(pool: pg.Pool): Promise<void> {
  // Other test files have sessions on the same server.
  const local = `SELECT count(pg_terminate_backend(pid)) FROM pg_locks JOIN pg_stat_activity USING (pid)
    WHERE NOT granted AND datname = current_database()`;
  if (inject('databaseServer').cluster) await pool.query('SELECT run_command_on_all_nodes($1)', [local]);
  else await pool.query(local);
}

/** Schemas are made on every server of a cluster, also those of the job queues, by the role of the services. */
export function serviceRights(database: string, { user }: ServiceRole): string {
  return `GRANT CREATE, TEMPORARY ON DATABASE ${database} TO ${user}`;
}

/**
 * Drops a database even if clients are connected to it. An autovacuum worker belongs to the server itself and cannot
 * be ended by force; without force the server ends it by its own.
 */
export async function dropDatabase(
  server: Omit<DatabaseServer, 'template'>,
  database: string,
): Promise<void> {
  for (let force = true; ; force = !force) {
    try {
      return await administer(server, `DROP DATABASE IF EXISTS "${database}" ${force ? 'WITH (FORCE)' : ''}`);
    } catch (error) {
      // Insufficient privilege, object in use (PostgreSQL's appendix A).
      if (!['42501', '55006'].includes(errorCode(error))) throw error;
    }
  }
}

/** Runs a statement that cannot run inside the database it is about: on every server of a cluster, at the same time. */
export async function administer(
  { cluster, ...server }: Omit<DatabaseServer, 'template'>,
  statement: string,
): Promise<void> {
  const { administrator = { database: 'fieldtrace' }, workers = [] } = cluster ?? {};
  await Promise.all(
    [server, ...workers].map(({ host, port }) =>
      runOn({ ...server, ...administrator, host, port }, statement),
    ),
  );
}

async function runOn(connection: Connection, statement: string): Promise<void> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
