import type pg from 'pg';
import { openPool, transaction } from '../src/platform/database/database.ts';
import { SCHEMA } from '../src/trace-backend/app.ts';
import { insertAudit } from '../src/trace-backend/base/audit/store.ts';
import { openLists } from '../src/trace-backend/base/lists/lists.ts';
import { findMembers, setMember } from '../src/trace-backend/catalogue/companies/members/members-store.ts';
import { emptyProfile } from '../src/trace-backend/catalogue/companies/record/profile.ts';
import {
  type CompanySort,
  findCompany,
  insertCompany,
  listCompanies,
} from '../src/trace-backend/catalogue/companies/record/store.ts';
import { findUsers } from '../src/trace-backend/identity/users/store.ts';
import { FILLING, fillCompanies } from '../test/helpers/many-companies.ts';
import { type Context, latencies, type Row } from './context.ts';
import { perSecond } from './products.ts';
import { login, makeAdmin } from './trace.ts';

const COMPANIES = 100_000;
const CLIENTS = 32;
const NEW = { name: 'Kopanyi', abbreviation: 'KOP' };

/** Companies among a hundred thousand, each row compared with only its statements through a pool of the same size. */
export async function companyRows(context: Context): Promise<Row[]> {
  await makeAdmin(context);
  const pool = openPool(context.connection, SCHEMA, 10);
  const filler = openPool(context.connection, SCHEMA, 1, FILLING);
  const { userId } = await fillCompanies(filler, COMPANIES, { isWhole: true });
  await filler.end();
  const { port, stop } = await context.startTrace();
  const cookie = await login(port);
  const lists = openLists();
  const list = (query: string | undefined, sortBy: CompanySort) => () =>
    listCompanies(pool, lists, { query }, { limit: 100, offset: 0, sortBy, sort: 'DESC' });

  const all = '/api/company/admin/list';
  const results: Row[] = [];
  for (const [name, options, alone] of [
    ['read by id', { ids: COMPANIES }, n => read(pool, 1 + (n % COMPANIES))],
    ['list of all, by name', { path: `${all}?sortBy=name` }, list(undefined, 'name')],
    ['search that finds 10', { path: `${all}?query=7777` }, list('7777', 'id')],
    ['search that finds 11,000', { path: `${all}?query=kivu` }, list('kivu', 'id')],
    ['create', { body: NEW }, () => create(pool, userId)],
  ] as [string, object, (n: number) => Promise<unknown>][]) {
    const load = { port, connections: CLIENTS, requests: './requests/company.ts' };
    await context.load({ ...load, options: { cookie, ...options }, seconds: 1 });
    const measured = await context.load({ ...load, options: { cookie, ...options } });
    const statements = await perSecond(context.seconds, alone);
    results.push({
      name: `companies, ${name}`,
      value: measured.perSecond,
      unit: 'answers/s',
      against: { name: 'its statements alone', ratio: measured.perSecond / statements },
      note: latencies(measured),
    });
  }
  await pool.end();
  await stop();
  return results;
}

/** The statements of reading a company. */
async function read(pool: pg.Pool, id: number): Promise<unknown> {
  const [, members] = await Promise.all([findCompany(pool, id), findMembers(pool, id)]);
  return findUsers(
    pool,
    members.map(({ userId }) => userId),
  );
}

/** The statements of creating a company. */
async function create(pool: pg.Pool, userId: number): Promise<void> {
  const at = new Date();
  await transaction(pool, async database => {
    const id = await insertCompany(database, { ...emptyProfile(NEW.name), ...NEW }, userId, at);
    await setMember(database, id, { userId, role: 'COMPANY_ADMIN' });
    const event = { action: 'CREATE_COMPANY', entity: 'company', entityId: String(id) };
    await insertAudit(database, { at, userId, ...event, address: '', details: { name: NEW.name } });
  });
}
