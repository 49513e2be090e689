import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { openPool } from '../../src/platform/database.ts';

export interface DatabaseServer {
  host: string;
  port: number;
  user: string;
  password: string;
  /** name of the migrated database to clone */
  template: string;
}

export interface TestDatabase {
  connection: { host: string; port: number; user: string; password: string; database: string };
  /** Sees the packet service's tables. */
  pool: pg.Pool;
  drop(): Promise<void>;
}

/** A migrated database of the caller's own, on the run's one server. */
export async function testDatabase(): Promise<TestDatabase> {
  const { template, ...server } = inject('databaseServer');
  const database = `test_${randomUUID().replaceAll('-', '')}`;
  await administer(server, `CREATE DATABASE ${database} TEMPLATE ${template}`);
  const connection = { ...server, database };
  const pool = openPool(connection, 'packet_service', 4);
  return {
    connection,
    pool,
    async drop() {
      await pool.end();
      await administer(server, `DROP DATABASE ${database} WITH (FORCE)`);
    },
  };
}

/** Runs a statement that cannot run inside the database it is about. */
export async function administer(server: Omit<DatabaseServer, 'template'>, statement: string): Promise<void> {
  const client = new pg.Client({ ...server, database: 'fieldtrace' });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
