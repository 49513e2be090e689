import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { migratePacketService } from '../../src/packet-service/app.ts';
import { PLACEMENTS } from '../../src/packet-service/core/contract/placements.ts';
import { SCHEMA } from '../../src/packet-service/core/pools.ts';
import { distribute } from '../../src/platform/database/citus/distribute.ts';
import { readNodes } from '../../src/platform/database/citus/nodes.ts';
import type { Connection } from '../../src/platform/database/database.ts';
import { migrateTraceBackend } from '../../src/trace-backend/app.ts';
import { build } from './build.ts';
import { type DatabaseServer, serviceRights } from './database.ts';

const OWNER = { user: 'fieldtrace_test_owner', password: 'owner' };
const SERVICE = { user: 'fieldtrace_test', password: 'service' };
/** Shards of each group: more than the servers of a test have, and few enough for hundreds of databases. */
const SHARDS = 4;

/** A cluster, by its coordinator. */
type Cluster = Required<Pick<DatabaseServer, 'host' | 'port' | 'cluster'>>;

/**
 * Makes a database on every server of a cluster, and distributes the tables of the packet service.
 *
 * @param migrate makes the tables of both services on the coordinator
 */
export async function makeDistributed(
  { host, port, cluster }: Cluster,
  database: string,
  migrate: (owner: Connection, service: Connection) => Promise<void>,
): Promise<void> {
  const { administrator, workers = [] } = cluster ?? {};
  await runOnEach({ host, port, cluster }, [
    `CREATE DATABASE ${database} OWNER ${OWNER.user}`,
    serviceRights(database, SERVICE),
  ]);
  await runOnEach({ host, port, cluster }, ['CREATE EXTENSION citus'], database);
  await run({ ...administrator, host, port, database }, [
    `SELECT citus_set_coordinator_host('${host}', ${port})`,
    ...workers.map(worker => `SELECT citus_add_node('${worker.host}', ${worker.port})`),
  ]);
  const owner = { ...OWNER, host, port, database };
  await migrate(owner, { ...SERVICE, host, port, database });
  const distribution = {
    owner,
    schema: SCHEMA,
    placements: PLACEMENTS,
    workers,
    shards: SHARDS,
    dryRun: false,
  };
  await distribute({ ...distribution, onStep: () => {} });
}

/** Runs statements on every server of a cluster, as its administrator. */
async function runOnEach(
  { host, port, cluster }: Cluster,
  statements: string[],
  database = cluster?.administrator.database,
): Promise<void> {
  const { administrator, workers = [] } = cluster ?? {};
  await Promise.all(
    [{ host, port }, ...workers].map(server => run({ ...administrator, ...server, database }, statements)),
  );
}

/**
 * A migrated and distributed template on every server of the cluster of CITUS_URL (of a superuser, on the coordinator)
 * and CITUS_WORKERS (host:port,…; without them the coordinator holds the shards). Each test file clones it everywhere.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await build('services');
  const { CITUS_URL, CITUS_WORKERS } = process.env;
  if (!CITUS_URL) throw new Error('npm run test:citus needs CITUS_URL, of a superuser on the coordinator');
  const workers = CITUS_WORKERS ? readNodes(CITUS_WORKERS) : [];
  if (!workers) throw new Error('CITUS_WORKERS must be host:port,host:port');
  const { host, port, user = '', password, database = '' } = new pg.Client(CITUS_URL);
  const administrator = { user, password: password ?? '', database };
  const template = `template_${randomUUID().replaceAll('-', '')}`;
  const cluster = { host, port, cluster: { administrator, workers } };
  const onEach = (statements: string[], inDatabase?: string) => runOnEach(cluster, statements, inDatabase);
  await onEach([
    ...[OWNER, SERVICE].map(roleSql),
    `GRANT ${SERVICE.user} TO ${OWNER.user}`,
    // Of the roles, because a clone of a database has neither its settings nor its grants.
    ...[OWNER, SERVICE].map(({ user }) => `ALTER ROLE ${user} SET citus.max_adaptive_executor_pool_size = 1`),
  ]);
  await makeDistributed(cluster, template, async (owner, service) => {
    await migratePacketService(service, owner);
    await migrateTraceBackend(service, owner);
  });
  // A database with sessions cannot be cloned, and Citus has one in each, which comes back unless it is kept out.
  await onEach([
    `ALTER DATABASE ${template} ALLOW_CONNECTIONS false`,
    `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '${template}'`,
  ]);

  project.provide('databaseServer', { ...OWNER, ...cluster, template });
  project.provide('serviceRole', SERVICE);
  return async () => {
    await onEach([`DROP DATABASE ${template} WITH (FORCE)`]);
  };
}

function roleSql({ user, password }: typeof OWNER): string {
  return `DO $$ BEGIN
    IF to_regrole('${user}') IS NULL THEN CREATE ROLE ${user} LOGIN PASSWORD '${password}'; END IF;
  END $$`;
}

async function run(connection: pg.ClientConfig, statements: string[]): Promise<void> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
