import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { pino } from 'pino';
import type { TestProject } from 'vitest/node';
import { migratePacketService } from '../../src/packet-service/app.ts';
import { startEmbeddedPostgres } from '../../src/platform/postgres/embedded/index.ts';
import { migrateTraceBackend } from '../../src/trace-backend/app.ts';
import { build } from './build.ts';
import type { DatabaseServer, ServiceRole } from './database.ts';

declare module 'vitest' {
  interface ProvidedContext {
    databaseServer: DatabaseServer;
    serviceRole: ServiceRole;
  }
}

/** The services that tests start as processes; and one PostgreSQL for the whole run, with a migrated template from which every test file clones its own. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await build('services');
  const dataDir = await mkdtemp(path.join(tmpdir(), 'fieldtrace-test-'));
  await chmod(dataDir, 0o755);
  const server = await startEmbeddedPostgres({ dataDir, logger: pino({ level: 'warn' }) });
  const { host, port, user, password } = server.owner;
  const service = { user: server.connection.user, password: server.connection.password };

  const database = 'migrated';
  const client = new pg.Client(server.owner);
  await client.connect();
  await client.query(`CREATE DATABASE ${database}`);
  await client.query(`GRANT CREATE ON DATABASE ${database} TO ${service.user}`);
  await client.end();
  await migratePacketService({ ...server.connection, database }, { ...server.owner, database });
  await migrateTraceBackend({ ...server.connection, database }, { ...server.owner, database });

  project.provide('databaseServer', { host, port, user, password, template: database });
  project.provide('serviceRole', service);
  return async () => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
}
