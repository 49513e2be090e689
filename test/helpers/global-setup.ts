import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { pino } from 'pino';
import type { TestProject } from 'vitest/node';
import { migratePacketService } from '../../src/packet-service/app.ts';
import { startEmbeddedPostgres } from '../../src/platform/postgres/embedded/index.ts';
import { migrateTraceBackend } from '../../src/trace-backend/app.ts';
import type { DatabaseServer } from './database.ts';

declare module 'vitest' {
  interface ProvidedContext {
    databaseServer: DatabaseServer;
  }
}

/** One PostgreSQL for the whole run, with a migrated template from which every test file clones its own. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'fieldtrace-test-'));
  await chmod(dataDir, 0o755);
  const server = await startEmbeddedPostgres({ dataDir, logger: pino({ level: 'warn' }) });
  const { host, port, user, password } = server.connection;

  const template = 'migrated';
  const client = new pg.Client(server.connection);
  await client.connect();
  await client.query(`CREATE DATABASE ${template}`);
  await client.end();
  await migratePacketService({ ...server.connection, database: template });
  await migrateTraceBackend({ ...server.connection, database: template });

  project.provide('databaseServer', { host, port, user, password, template });
  return async () => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
}
