import { afterAll, beforeAll, expect, test } from 'vitest';
import { asService, type TestDatabase, testDatabase } from '../../../../test/helpers/database.ts';
import { migrateUpTo } from '../../../../test/helpers/migrate-up-to.ts';
import { openPool } from '../../../platform/database/database.ts';
import { migrateTraceBackend } from '../../app.ts';

/** The migration that records confirmed addresses. */
const CONFIRMED = '101-confirmed-addresses.sql';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
  await migrateUpTo(database, CONFIRMED);
});
afterAll(() => database.drop());

interface Entry {
  action: string;
  /** the acting user; by default the user of the account */
  by?: number | null;
}

/** Audit entries of accounts before the migration, and whether their address then counts as confirmed. */
const ACCOUNTS: Record<string, { did: Entry[]; isConfirmed: boolean }> = {
  'by the program': { did: [{ action: 'CREATE_SYSTEM_ADMIN', by: null }], isConfirmed: true },
  'by a mailed link': { did: [{ action: 'CONFIRM_USER_EMAIL' }], isConfirmed: true },
  'by a new password': { did: [{ action: 'RESET_PASSWORD' }], isConfirmed: true },
  'by a change of address': { did: [{ action: 'CHANGE_EMAIL' }], isConfirmed: true },
  'by an administrator': { did: [{ action: 'CONFIRM_USER_EMAIL', by: 0 }], isConfirmed: false },
  'by an activation': { did: [{ action: 'ACTIVATE_USER', by: 0 }], isConfirmed: false },
  'by an operator': { did: [{ action: 'SET_PASSWORD', by: null }], isConfirmed: false },
  'by nobody': { did: [{ action: 'REGISTER_USER' }], isConfirmed: false },
};

test('the migration keeps confirmations by mailed links and the program, not those by administrators', async () => {
  const pool = openPool(database.connection, 'trace_backend', 1);
  try {
    const audit = (entity: string, id: number, { action, by }: { action: string; by: number | null }) =>
      pool.query(
        `INSERT INTO audit (at, user_id, action, entity, entity_id, address, details)
         VALUES (now(), $1, $2, $3, $4, '', '{}')`,
        [by, action, entity, id],
      );
    const ids: number[] = [];
    for (const [name, { did }] of Object.entries(ACCOUNTS)) {
      const { rows } = await pool.query(
        `INSERT INTO users (email, email_key, password, name, surname, language, status, role, created_at)
         VALUES ($1, $1, '', $1, '', 'EN', 'ACTIVE', 'USER', now()) RETURNING id`,
        [name],
      );
      ids.push(rows[0].id);
      for (const { action, by } of did) {
        await audit('user', rows[0].id, { action, by: by === undefined ? rows[0].id : by });
      }
    }
    const [first, second] = ids as [number, number];
    const token = `INSERT INTO mail_tokens (hash, user_id, purpose, expires_at) VALUES ($1, $2, 'RESET_PASSWORD', now())`;
    await pool.query(token, [Buffer.from('hash'), first]);
    const { rows: companies } = await pool.query(
      `INSERT INTO companies (status, name, folded, tokens, created_by, created_at)
       VALUES ('ACTIVE', 'Kopanyi', 'kopanyi', '{}', $1, now()) RETURNING id`,
      [first],
    );
    const member = `INSERT INTO company_users (company_id, user_id, role) VALUES ($1, $2, 'COMPANY_USER')`;
    for (const id of [first, second]) await pool.query(member, [companies[0].id, id]);
    await audit('company', companies[0].id, { action: 'ACCEPT_INVITATION', by: second });

    const { connection } = database;
    expect(await migrateTraceBackend(asService(connection), connection)).toContain(CONFIRMED);
    const { rows } = await pool.query(
      'SELECT name, email_confirmed_at IS NOT NULL AS "isConfirmed" FROM users ORDER BY id',
    );
    const expected = Object.entries(ACCOUNTS).map(([name, { isConfirmed }]) => ({ name, isConfirmed }));
    expect(rows).toEqual(expected);
    const tokens = await pool.query('SELECT email_key FROM mail_tokens');
    expect(tokens.rows).toEqual([{ email_key: 'by the program' }]);
    const members = await pool.query('SELECT user_id, by_invitation FROM company_users ORDER BY user_id');
    expect(members.rows).toEqual([
      { user_id: first, by_invitation: false },
      { user_id: second, by_invitation: true },
    ]);
  } finally {
    await pool.end();
  }
});
