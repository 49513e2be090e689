import { readFileSync } from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { Connection } from '../src/platform/database/database.ts';
import { catalogueOf, differences, rowsOf, SAME } from './helpers/catalogue.ts';
import { administer, asService, dropDatabase } from './helpers/database.ts';
import { migrateAsBefore, migrateNow, NAMES, SERVICES } from './helpers/replaced.ts';

const { template: _, ...server } = inject('databaseServer');
const databases: string[] = [];
afterAll(async () => {
  for (const name of databases) await dropDatabase(server, name);
});

/** Times, and the value that field_state begins with. */
const DIFFERENT = {
  'packet_service.migrations': ['applied_at'],
  'packet_service.field_state': ['state'],
  'trace_backend.migrations': ['applied_at'],
};

async function emptyDatabase(): Promise<Connection> {
  const database = `baseline_${process.pid}_${databases.length}`;
  await administer(server, `CREATE DATABASE ${database}`);
  databases.push(database);
  return { ...server, database };
}

async function describe(client: pg.Client): Promise<string[]> {
  return [...(await catalogueOf(client)), ...(await rowsOf(client, DIFFERENT))];
}

async function withClient<Result>(
  connection: Connection,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client(connection);
  await client.connect();
  return work(client).finally(() => client.end());
}

/** Brings both services up to date in a database, and gives everything in its catalogues and tables. */
async function migrated(connection: Connection, service?: Connection): Promise<string[]> {
  expect(await migrateNow(connection, service)).toEqual(NAMES);
  return withClient(connection, describe);
}

let alone: Connection;
let made: string[];
beforeAll(async () => {
  alone = await emptyDatabase();
  made = await migrated(alone);
});

test('src has the names and checksums of all migrations that the baselines replace', () => {
  for (const { folder, old } of SERVICES) {
    const kept = JSON.parse(readFileSync(new URL('replaced.json', folder), 'utf8'));
    const records = Object.fromEntries(old.records.map(({ name, checksum }) => [name, checksum]));
    expect(kept).toEqual({ tag: 'v0.1.0', migrations: records });
  }
});

test('the baselines make what the replaced migrations made: catalogues, rights and rows', async () => {
  const before = await emptyDatabase();
  await migrateAsBefore(before);
  const replaced = await migrated(before);
  expect(replaced.length).toBeGreaterThan(20_000);
  expect(differences(replaced, made)).toEqual(SAME);
});

test('the baselines give the role of the services what the replaced migrations gave it', async () => {
  const [before, now] = [await emptyDatabase(), await emptyDatabase()];
  await migrateAsBefore(before, asService(before));
  const divided = await migrated(now, asService(now));
  expect(differences(await migrated(before, asService(before)), divided)).toEqual(SAME);
  expect(differences(divided, made)).not.toEqual(SAME);
});

/** A change of a database, and what the lines that it changes have. */
const CHANGES: [statement: string, line: RegExp][] = [
  ['DROP INDEX packets_by_cell', /^pg_class .*packets_by_cell/],
  ['CREATE INDEX once_more ON shares (author)', /^pg_class .*once_more/],
  ['ALTER INDEX fields_by_name RENAME TO fields_by_names', /^pg_class .*fields_by_names/],
  ['ALTER INDEX chat_messages_by_piece RESET (gin_pending_list_limit)', /^pg_class .*chat_messages_by_piece/],
  ['ALTER TABLE tile_cells RESET (fillfactor)', /^pg_class .*"tile_cells"/],
  ['ALTER TABLE attachments ALTER referenced SET DEFAULT true', /^pg_attrdef .*"adbin":"true"/],
  ['ALTER TABLE packets ALTER geoid DROP NOT NULL', /^pg_attribute .*\.packets".*"geoid"/],
  ['ALTER TABLE packets ALTER lat TYPE real', /^pg_attribute .*\.packets".*"lat"/],
  ['ALTER TABLE chat_words ALTER word SET STATISTICS 100', /^pg_attribute .*chat_words".*"word"/],
  ['ALTER TABLE shares DROP CONSTRAINT shares_check', /^pg_constraint .*"shares_check"/],
  ['COMMENT ON COLUMN chat_messages.text IS NULL', /^pg_description .*null where it is the same/],
  [`ALTER TYPE packet_log_kind RENAME VALUE 'erased' TO 'gone'`, /^pg_enum .*"gone"/],
  ['DROP TRIGGER changed ON field_cells', /^pg_trigger .*"changed"/],
  ['ALTER FUNCTION merge_messages() SECURITY INVOKER', /^pg_proc .*"merge_messages".*"prosecdef":"false"/],
  ['GRANT EXECUTE ON FUNCTION merge_messages() TO PUBLIC', /^pg_proc .*"merge_messages".*"proacl":".*,=X/],
  ['REVOKE DELETE ON token_users FROM CURRENT_USER', /^pg_class .*"token_users".*"relacl":"{\w+=arw/],
  ['GRANT UPDATE ON packets TO CURRENT_USER', /^pg_class .*"packets".*"relacl":"{\w+=arw/],
  ['GRANT SELECT (author) ON shares TO pg_monitor', /^pg_attribute .*shares".*pg_monitor/],
  ['ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO pg_monitor', /^pg_default_acl .*pg_monitor/],
  ['REVOKE USAGE ON SCHEMA public FROM PUBLIC', /^pg_namespace .*"public"/],
  ['CREATE PUBLICATION all_packets FOR TABLE packets', /^pg_publication_rel /],
  ['ALTER TABLE trace_backend.users ALTER id RESTART SET INCREMENT 2', /^pg_sequence .*users_id_seq/],
  [`SELECT nextval('trace_backend.images_id_seq')`, /^trace_backend\.images_id_seq /],
  ['DELETE FROM trace_backend.currency_types', /^trace_backend\.currency_types .*"EUR"/],
];

test('any change in the catalogues and tables is found', async () => {
  await withClient(alone, async client => {
    await client.query('SET search_path = packet_service');
    for (const [statement] of CHANGES) await client.query(statement);
    const { first, second } = differences(made, await describe(client));
    const lines = [...first, ...second];
    for (const [statement, line] of CHANGES) {
      expect(
        lines.filter(text => line.test(text)),
        statement,
      ).not.toEqual([]);
    }
  });
});
