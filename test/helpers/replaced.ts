import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import pg from 'pg';
import type { Connection } from '../../src/platform/database/database.ts';
import { migrate } from '../../src/platform/database/migrate.ts';

/** A row of a table `migrations`. */
export interface Recorded {
  number: number;
  name: string;
  checksum: string;
}

interface Folder {
  folder: URL;
  records: Recorded[];
}

/** A service's migrations: those of this version, and those of v0.1.0, which the first one replaces. */
export interface ServiceMigrations extends Folder {
  schema: 'packet_service' | 'trace_backend';
  old: Folder;
}

export const SERVICES: readonly ServiceMigrations[] = (
  [
    ['packet_service', 'packet-service'],
    ['trace_backend', 'trace-backend'],
  ] as const
).map(([schema, name]) => {
  const read = (folder: URL): Folder => ({ folder, records: recordsOf(folder) });
  return {
    schema,
    ...read(new URL(`../../src/${name}/migrations/`, import.meta.url)),
    old: read(new URL(`../fixtures/migrations-0.1.0/${name}/`, import.meta.url)),
  };
});

function recordsOf(folder: URL): Recorded[] {
  return readdirSync(folder)
    .filter(name => name.endsWith('.sql'))
    .sort()
    .map(name => ({
      number: Number(name.slice(0, 3)),
      name,
      checksum: hash('sha256', readFileSync(new URL(name, folder), 'utf8'), 'hex'),
    }));
}

/** Makes the tables of both services in an empty database as v0.1.0 made them. */
export async function migrateAsBefore(connection: Connection, service?: Connection): Promise<void> {
  for (const { schema, old } of SERVICES) await migrate(connection, schema, old.folder, { service });
}

/** Brings the tables of both services up to date in a database, without their job queues. */
export async function migrateNow(connection: Connection, service?: Connection): Promise<string[][]> {
  const names: string[][] = [];
  for (const { schema, folder } of SERVICES)
    names.push(await migrate(connection, schema, folder, { service }));
  return names;
}

/** What a database has recorded, as `change` of the records of a service that v0.1.0 left makes it. */
export type Change = (records: Recorded[], service: ServiceMigrations) => Recorded[];

/**
 * Gives a database the records of v0.1.0. Its tables are those of the baseline, which are the same (baseline.test.ts).
 *
 * @param change for a database that is not as v0.1.0 left it
 */
export async function recordAsBefore(
  connection: Connection,
  change: Change = records => records,
): Promise<void> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    for (const service of SERVICES) {
      await client.query(`DELETE FROM ${service.schema}.migrations`);
      await client.query(
        `INSERT INTO ${service.schema}.migrations (number, name, checksum)
         SELECT number, name, checksum FROM jsonb_to_recordset($1) AS r (number integer, name text, checksum text)`,
        [JSON.stringify(change(structuredClone(service.old.records), service))],
      );
    }
  } finally {
    await client.end();
  }
}

/** The records of a service that lacks its last migration. */
export const lackingLast =
  (schema: ServiceMigrations['schema']): Change =>
  (records, service) =>
    service.schema === schema ? records.slice(0, -1) : records;
