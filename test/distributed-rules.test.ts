import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PLACEMENTS } from '../src/packet-service/core/contract/placements.ts';
import { distributedTables } from '../src/platform/database/citus/placements.ts';
import { type TestDatabase, testDatabase } from './helpers/database.ts';
import { distributionFaults } from './helpers/distributed-statements.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());

const tables = distributedTables(PLACEMENTS);

/** The obstacles in the tables to distributing them by their placements. */
async function schemaFaults(pool: pg.Pool): Promise<string[]> {
  const faultsOf = async (text: string, values: unknown[] = []) =>
    (await pool.query<{ fault: string }>(text, values)).rows.map(({ fault }) => fault);
  const names = tables.map(({ name }) => name);
  return [
    ...(await faultsOf(
      `SELECT indexrelid::regclass || ' lacks ' || by AS fault
       FROM unnest($1::text[], $2::text[]) AS placed (name, by) JOIN pg_index ON indrelid = name::regclass
       WHERE indisunique AND by <> ALL (ARRAY(
         SELECT attname FROM pg_attribute WHERE attrelid = indrelid AND attnum = ANY (indkey[0:indnkeyatts - 1])))`,
      [names, tables.map(({ by }) => by)],
    )),
    ...(await faultsOf(
      `SELECT name || ' has no primary key' AS fault FROM unnest($1::text[]) AS placed (name)
       WHERE NOT EXISTS (SELECT FROM pg_index WHERE indrelid = name::regclass AND indisprimary)`,
      [names],
    )),
    ...(await faultsOf(
      `SELECT tgrelid::regclass || ' has the trigger ' || tgname AS fault FROM pg_trigger
       WHERE NOT tgisinternal AND tgrelid = ANY ($1::text[]::regclass[])`,
      [names],
    )),
    ...(await faultsOf(
      `SELECT conrelid::regclass || ' refers to ' || confrelid::regclass AS fault FROM pg_constraint
       WHERE contype = 'f' AND (conrelid = ANY ($1::text[]::regclass[]) OR confrelid = ANY ($1::text[]::regclass[]))`,
      [names],
    )),
    ...(await faultsOf(
      `SELECT attrelid::regclass || '.' || attname || ' is an identity of ' || atttypid::regtype AS fault
       FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
       WHERE relnamespace = 'packet_service'::regnamespace AND attidentity <> '' AND atttypid <> 'bigint'::regtype`,
    )),
  ];
}

test('tables can be distributed as their placements say', async () => {
  expect(await schemaFaults(database.pool)).toEqual([]);
});

test('a unique index, trigger, reference or identity that shards cannot have is found', async () => {
  await database.pool.query(`
    CREATE UNIQUE INDEX packets_once ON packets (geoid, ts);
    ALTER TABLE packet_geoids DROP CONSTRAINT packet_geoids_pkey;
    CREATE TRIGGER late BEFORE UPDATE ON packets FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger();
    ALTER TABLE packet_attachments ADD FOREIGN KEY (attachment_id) REFERENCES attachments;
    ALTER TABLE chat_words ADD number integer GENERATED ALWAYS AS IDENTITY`);
  expect(await schemaFaults(database.pool)).toEqual([
    'packets_once lacks id',
    'packet_geoids has no primary key',
    'packets has the trigger late',
    'packet_attachments refers to attachments',
    'chat_words.number is an identity of integer',
  ]);
});

test.each([
  [
    'SELECT * FROM packets p JOIN chat_messages m ON m.packet_id = p.id',
    'one query reads packets and chat_threads',
  ],
  ['SELECT * FROM packets, (SELECT 1) AS one JOIN shares ON true', 'one query reads packets and local'],
  [
    'SELECT id FROM packets WHERE EXISTS (SELECT 1 FROM erasures WHERE packet_id = id)',
    'a subquery on local over shards',
  ],
  [
    'SELECT count(*), (SELECT count(*) FROM chat_messages m WHERE m.thread_id = $1) FROM chat_participants p',
    'a subquery beside an aggregate over shards',
  ],
  [
    'INSERT INTO packet_geoids (packet_id, geoid) SELECT * FROM unnest($1::uuid[], $2::text[])',
    'packet_geoids is filled by INSERT … SELECT',
  ],
  [
    'UPDATE chat_threads SET created_at = now() WHERE thread_id = $1',
    'a volatile function where chat_threads is written',
  ],
  ['SELECT * FROM chat_threads WHERE thread_id = $1 FOR UPDATE', 'rows of shards are locked'],
  ['DELETE FROM packets WHERE ctid = ANY ($1)', 'rows of shards by ctid'],
  ['SELECT count(*) FROM (SELECT FROM packets LIMIT 5) AS some', 'a query without columns'],
  ['UPDATE packets SET id = $1 WHERE id = $2', 'packets.id is updated'],
])('%s', (statement, fault) => {
  expect(distributionFaults(statement)).toEqual([fault]);
});

test.each([
  'SELECT * FROM shares JOIN notifications USING (share_id) FOR UPDATE',
  'SELECT part.*, EXISTS (SELECT 1 FROM token_users WHERE user_id = part.id) FROM (SELECT id FROM packets OFFSET 0) AS part',
  "SELECT 'FROM chat_messages' FROM packets",
  'SELECT thread_id FROM chat_threads WHERE thread_id IN (SELECT thread_id FROM chat_participants WHERE user_id = $1)',
  'INSERT INTO packets (id) VALUES ($1) ON CONFLICT DO NOTHING',
  'SELECT name, ARRAY(SELECT user_id FROM chat_participants p WHERE p.thread_id = t.thread_id) FROM chat_threads t',
  'SELECT now()',
])('%s can run on distributed tables', statement => {
  expect(distributionFaults(statement)).toEqual([]);
});
