import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { pino } from 'pino';
import type { TestProject } from 'vitest/node';
import { migratePacketService } from '../../src/packet-service/app.ts';
import { startEmbeddedPostgres } from '../../src/platform/embedded-postgres/index.ts';
import { migrateTraceBackend } from '../../src/trace-backend/app.ts';
import { build } from './build.ts';
import type { DatabaseServer, ServiceRole } from './database.ts';

declare module 'vitest' {
  interface ProvidedContext {
    databaseServer: DatabaseServer;
    serviceRole: ServiceRole;
    /** a DATA_DIR with an empty, migrated database, in which no process runs; see data-dir.ts */
    emptyDataDir: string;
  }
}

/**
 * The services that tests start as processes; and one PostgreSQL for the whole run, with a migrated template from which
 * every test file clones its own database. Processes that have their own PostgreSQL begin with a copy of the whole
 * folder as it was before anything was in it.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await build('services');
  const folder = await mkdtemp(path.join(tmpdir(), 'fieldtrace-test-'));
  await chmod(folder, 0o755);
  const [empty, dataDir] = ['empty', 'data'].map(name => path.join(folder, name)) as [string, string];
  const logger = pino({ level: 'warn' });
  const first = await startEmbeddedPostgres({ dataDir: empty, logger });
  await migratePacketService(first.connection, first.owner);
  await migrateTraceBackend(first.connection, first.owner);
  await first.stop();
  await promisify(execFile)('cp', ['-a', empty, dataDir]);

  const server = await startEmbeddedPostgres({ dataDir, logger });
  const { host, port, user, password } = server.owner;
  const service = { user: server.connection.user, password: server.connection.password };
  const template = 'migrated';
  const client = new pg.Client({ ...server.owner, database: 'postgres' });
  await client.connect();
  await client.query(`CREATE DATABASE ${template} TEMPLATE ${server.owner.database}`);
  await client.query(`GRANT CREATE ON DATABASE ${template} TO ${service.user}`);
  await client.end();

  project.provide('databaseServer', { host, port, user, password, template });
  project.provide('serviceRole', service);
  project.provide('emptyDataDir', empty);
  return async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
}
