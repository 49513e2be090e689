import { afterAll, beforeAll, expect, test } from 'vitest';
import { asService, type TestDatabase, testDatabase } from '../../../../test/helpers/database.ts';
import { migrateUpTo } from '../../../../test/helpers/migrate-up-to.ts';
import { openPool } from '../../../platform/database/database.ts';
import { migrateTraceBackend } from '../../app.ts';

/** The migration that says whose password is still the first. */
const FIRST_PASSWORD = '030-first-password.sql';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
  await migrateUpTo(database, FIRST_PASSWORD);
});
afterAll(() => database.drop());

interface Entry {
  action: string;
  details?: object;
  /** the entity; user unless told */
  entity?: string;
}
const CREATED: Entry = { action: 'CREATE_SYSTEM_ADMIN' };
const change = (...fields: string[]): Entry => ({ action: 'UPDATE_USER_PROFILE', details: { fields } });

/** What the audit has of accounts of before, and whether their password is still the first. */
const ACCOUNTS: Record<string, { did: Entry[]; isFirst: boolean }> = {
  untouched: { did: [CREATED], isFirst: true },
  renamed: { did: [CREATED, change('name')], isFirst: true },
  changed: { did: [CREATED, change('name', 'password')], isFirst: false },
  reset: { did: [CREATED, { action: 'RESET_PASSWORD' }], isFirst: false },
  set: { did: [CREATED, { action: 'SET_PASSWORD' }], isFirst: false },
  erased: { did: [CREATED, { action: 'ERASE_USER' }], isFirst: false },
  registered: { did: [{ action: 'REGISTER_USER' }], isFirst: false },
  // Of a company whose id is that of the user.
  other: { did: [{ ...CREATED, entity: 'company' }], isFirst: false },
  kept: { did: [CREATED, { action: 'SET_PASSWORD', entity: 'company' }], isFirst: true },
};

test('accounts of before have a first password if the program made it, and nobody has changed it since', async () => {
  const pool = openPool(database.connection, 'trace_backend', 1);
  try {
    for (const [name, { did }] of Object.entries(ACCOUNTS)) {
      const { rows } = await pool.query(
        `INSERT INTO users (email, email_key, password, name, surname, language, status, role, created_at)
         VALUES ($1, $1, '', $1, '', 'EN', 'ACTIVE', 'USER', now()) RETURNING id`,
        [name],
      );
      for (const { action, details = {}, entity = 'user' } of did) {
        await pool.query(
          `INSERT INTO audit (at, action, entity, entity_id, address, details) VALUES (now(), $1, $2, $3, '', $4)`,
          [action, entity, rows[0].id, details],
        );
      }
    }
    const { connection } = database;
    expect(await migrateTraceBackend(asService(connection), connection)).toContain(FIRST_PASSWORD);
    const { rows } = await pool.query('SELECT name, has_first_password AS "isFirst" FROM users ORDER BY id');
    const expected = Object.entries(ACCOUNTS).map(([name, { isFirst }]) => ({ name, isFirst }));
    expect(rows).toEqual(expected);
  } finally {
    await pool.end();
  }
});
