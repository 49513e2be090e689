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

/** The names of the migrations of this version, by service. */
export const NAMES = SERVICES.map(({ records }) => records.map(({ name }) => name));

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

/** Changes the recorded migrations of v0.1.0 to what a database should have. */
export type Change = (records: Recorded[], service: ServiceMigrations) => Recorded[];

/**
 * Gives a database the tables and records of v0.1.0, with the rows that it has.
 *
 * @param connection of the role that owns the tables
 * @param change for a database that is not as v0.1.0 left it
 * @param role of the services
 */
export async function turnBack(
  connection: Connection,
  change: Change = records => records,
  role?: Connection,
): Promise<void> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    for (const service of SERVICES) {
      const { schema, old } = service;
      await client.query(`ALTER SCHEMA ${schema} RENAME TO present`);
      await migrate(connection, schema, old.folder);
      await copyRows(client, schema);
      await client.query('DROP SCHEMA present CASCADE');
      // The owner cannot change all rows any more when the role of the services has its rights.
      if (role) await migrate(connection, schema, old.folder, { service: role });
      await client.query(`DELETE FROM ${schema}.migrations`);
      await client.query(
        `INSERT INTO ${schema}.migrations (number, name, checksum)
         SELECT number, name, checksum FROM jsonb_to_recordset($1) AS r (number integer, name text, checksum text)`,
        [JSON.stringify(change(structuredClone(old.records), service))],
      );
    }
  } finally {
    await client.end();
  }
}

/** Copies the rows of the schema `present` into the tables and columns that a schema has too, and its sequences. */
async function copyRows(client: pg.Client, schema: string): Promise<void> {
  const { rows: tables } = await client.query<{ name: string; columns: string; parents: string[] }>(
    `SELECT relname AS name, (
       SELECT string_agg(quote_ident(column_name), ', ') FROM information_schema.columns AS own
       WHERE table_schema = $1 AND table_name = relname AND is_generated = 'NEVER' AND column_name IN (
         SELECT column_name FROM information_schema.columns
         WHERE table_schema = 'present' AND table_name = relname)) AS columns,
       ARRAY(SELECT confrelid::regclass::oid::regclass::text FROM pg_constraint
         WHERE conrelid = pg_class.oid AND contype = 'f' AND confrelid <> conrelid) AS parents
     FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind = 'r' AND relname <> 'migrations'`,
    [schema],
  );
  const left = new Set(tables);
  while (left.size > 0) {
    for (const table of left) {
      const { name, columns, parents } = table;
      if (tables.some(other => left.has(other) && parents.includes(`${schema}.${other.name}`))) continue;
      // Those of the migrations themselves; of most tables the owner cannot remove rows, not even none.
      const { rowCount } = await client.query(`SELECT FROM ${schema}.${name} LIMIT 1`);
      if (rowCount) await client.query(`DELETE FROM ${schema}.${name}`);
      // By way of JSON, because the types of columns are the schema's own, too.
      await client.query(`INSERT INTO ${schema}.${name} (${columns}) OVERRIDING SYSTEM VALUE
        SELECT ${columns} FROM (SELECT (json_populate_record(null::${schema}.${name}, row_to_json(present_row))).*
          FROM present.${name} AS present_row) AS copied`);
      left.delete(table);
    }
  }
  await client.query(
    `SELECT setval(format('%I.%I', $1::text, sequencename), last_value)
     FROM pg_sequences WHERE schemaname = 'present' AND last_value IS NOT NULL`,
    [schema],
  );
}

/** The records of a service that lacks its last migration. */
export const lackingLast =
  (schema: ServiceMigrations['schema']): Change =>
  (records, service) =>
    service.schema === schema ? records.slice(0, -1) : records;
