import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../../../test/helpers/database.ts';
import { migrateUpTo } from '../../../../../test/helpers/migrate-up-to.ts';
import { migratePacketService } from '../../../app.ts';
import { findEntry } from './store.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());

test('an upgrade unconfirms the contacts of users who have sent a token, and of no others', async () => {
  const { pool, connection } = database;
  await migrateUpTo(database, '101', 'packet_service');
  await pool.query(`
    INSERT INTO token_users (user_id, first_seen) VALUES ('ben', now()), ('eve', now());
    INSERT INTO directory_users (user_id, discoverable, updated_at)
      VALUES ('ben', true, now()), ('eve', true, now()), ('nomad', true, now());
    INSERT INTO directory_contacts (user_id, contact, confirmed_at)
      VALUES ('ben', 'ben@example.org', now()), ('ben', '+254700000000', now()), ('eve', 'eve@example.org', NULL),
        ('nomad', 'nomad@example.org', now())`);
  await migratePacketService(connection);
  const confirmed = async (user: string) =>
    (await findEntry(pool, user))?.contacts.map(({ contact, confirmed }) => [contact, confirmed]);
  expect(await confirmed('ben')).toEqual([
    ['+254700000000', false],
    ['ben@example.org', false],
  ]);
  expect(await confirmed('eve')).toEqual([['eve@example.org', false]]);
  expect(await confirmed('nomad')).toEqual([['nomad@example.org', true]]);
  const { rows } = await pool.query('SELECT DISTINCT proof FROM directory_contacts');
  expect(rows).toEqual([{ proof: 'none' }]);
});
