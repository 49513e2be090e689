import { afterAll, beforeAll, expect, test } from 'vitest';
import { asService, type TestDatabase, testDatabase } from '../../../../test/helpers/database.ts';
import { migrateUpTo } from '../../../../test/helpers/migrate-up-to.ts';
import { PASSWORD, PASSWORD_HASH, type RunningTrace, runningTrace } from '../../../../test/helpers/trace.ts';
import { openPool } from '../../../platform/database/database.ts';
import { migrateTraceBackend } from '../../app.ts';

/** The migration that makes memberships wait for consent. */
const CONSENT = '014-company-invitations.sql';

let database: TestDatabase;
let trace: RunningTrace;
beforeAll(async () => {
  database = await testDatabase();
  await migrateUpTo(database, CONSENT);
  await insertMemberships();
  expect(await migrateTraceBackend(asService(database.connection), database.connection)).toContain(CONSENT);
  trace = await runningTrace({}, database);
});
afterAll(async () => {
  await trace.stop();
  await database.drop();
});

/** Ana administers a company, in which Bo is a member, and Cy of another as well. */
async function insertMemberships(): Promise<void> {
  const pool = openPool(database.connection, 'trace_backend', 1);
  for (const name of ['ana', 'bo', 'cy']) {
    await pool.query(
      `INSERT INTO users (email, email_key, password, name, surname, language, status, role, created_at)
       VALUES ($1, $1, $2, $3, 'Uwase', 'EN', 'ACTIVE', 'USER', now())`,
      [`${name}@example.org`, PASSWORD_HASH, name],
    );
  }
  for (const name of ['Kopanyi', 'Roasters']) {
    await pool.query(
      `INSERT INTO companies (status, name, folded, tokens, created_by, created_at)
       VALUES ('ACTIVE', $1, lower($1), '{}', 1, now())`,
      [name],
    );
  }
  await pool.query(`
    INSERT INTO company_users (company_id, user_id, role) VALUES
      (1, 1, 'COMPANY_ADMIN'), (1, 2, 'MANAGER'), (1, 3, 'COMPANY_USER'), (2, 3, 'COMPANY_ADMIN')`);
  await pool.end();
}

test('memberships from before they needed consent count as accepted', async () => {
  const [ana, bo, cy] = await Promise.all(
    ['ana', 'bo', 'cy'].map(name => trace.login(`${name}@example.org`, PASSWORD)),
  );
  if (!ana || !bo || !cy) throw new Error('three users log in');
  const companyIds = async (of: typeof ana) =>
    (await of.send('GET', '/api/user/profile')).body.data.companyIds;
  expect([await companyIds(ana), await companyIds(bo), await companyIds(cy)]).toEqual([[1], [1], [1, 2]]);
  for (const user of [ana, bo, cy]) {
    expect((await user.send('GET', '/api/company/invitation/list')).body.data.items).toEqual([]);
  }

  const profile = (await ana.send('GET', '/api/company/profile/1')).body.data;
  const shown = (name: string, companyRole: string) => ({
    id: expect.any(Number),
    name,
    surname: 'Uwase',
    email: `${name}@example.org`,
    ...{ status: 'ACTIVE', role: 'USER', language: 'EN' },
    companyRole,
  });
  expect(profile.users).toEqual([
    shown('ana', 'COMPANY_ADMIN'),
    shown('bo', 'MANAGER'),
    shown('cy', 'COMPANY_USER'),
  ]);

  // Bo's only company is the owner by default, and those who act for it see the product.
  const created = await bo.send('POST', '/api/product/create', { name: 'Bourbon' });
  expect((await cy.send('GET', `/api/product/${created.body.data.id}`)).body.data.company.id).toBe(1);

  const leave = { companyId: 1, userId: bo.id };
  expect((await bo.send('POST', '/api/company/execute/REMOVE_USER_FROM_COMPANY', leave)).status).toBe(200);
  expect(await companyIds(bo)).toEqual([]);
});
