import type { Sql } from 'sql-template-tag';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LoggedIn, type RunningTrace, runningTrace } from '../../../../test/helpers/trace.ts';
import { listUsers } from '../../identity/users/store.ts';
import { listAudit } from '../audit/store.ts';
import { openLists } from './lists.ts';

interface Item {
  id: number;
}

let trace: RunningTrace;
let admin: LoggedIn;
beforeAll(async () => {
  trace = await runningTrace();
  admin = await trace.loggedIn('SYSTEM_ADMIN');
  for (let n = 0; n < 8; n++) await trace.loggedIn(n % 2 === 0 ? 'USER' : 'REGIONAL_ADMIN');
});
afterAll(() => trace.stop());

async function get(path: string, query: string, who = admin) {
  const { status, body } = await who.send('GET', `/api/${path}?${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data;
}

/** The ids of a list, page by page. */
async function walked(path: string, query: string): Promise<number[]> {
  const ids: number[] = [];
  let items: Item[];
  do {
    const after = ids.length === 0 ? '' : `&after=${ids.at(-1)}`;
    ({ items } = await get(path, `requestType=FETCH&limit=3&${query}${after}`));
    ids.push(...items.map(({ id }) => id));
  } while (items.length > 0);
  return ids;
}

test('a list read page by page after the last item is complete, in every order and with filters', async () => {
  const orders = ['id', 'email', 'name', 'surname', 'status', 'role'].flatMap(sortBy =>
    ['ASC', 'DESC'].map(sort => `sortBy=${sortBy}&sort=${sort}`),
  );
  for (const query of [...orders, 'role=REGIONAL_ADMIN', 'status=ACTIVE&query=example']) {
    const whole = (await get('user/admin/list', query)).items.map(({ id }: Item) => id);
    expect(whole.length, query).toBeGreaterThan(3);
    expect(await walked('user/admin/list', query), query).toEqual(whole);
  }
  const before = (await get('audit/list', 'limit=1')).items[0].id;
  const whole = (await get('audit/list', 'action=LOGIN')).items.map(({ id }: Item) => id);
  expect((await walked('audit/list', 'action=LOGIN')).filter(id => id <= before)).toEqual(whole);
});

test('new items move no item to the next page, and a count is returned only on demand', async () => {
  const [first, second] = (await get('user/admin/list', 'limit=2')).items;
  await trace.loggedIn();
  const page = await get('user/admin/list', `limit=1&after=${first.id}`);
  expect(page).toEqual({ items: [second], offset: 0, limit: 1 });
  const { count } = await get('user/admin/list', `requestType=COUNT&after=${first.id}`);
  expect(count).toBe((await get('user/admin/list', 'limit=1')).count);
  const { status, body } = await admin.send('GET', '/api/user/admin/list?after=last');
  expect([status, Object.keys(body.validationErrorDetails.fieldErrors)]).toEqual([400, ['after']]);
});

test('paging after a hidden user does not disclose their position', async () => {
  const [caller, stranger] = [await trace.loggedIn(), await trace.loggedIn()];
  const query = (after: number) => `sortBy=email&sort=ASC&after=${after}`;
  const everyone = (await get('user/list', 'sortBy=email&sort=ASC', caller)).items;
  expect(everyone.map(({ id }: Item) => id)).toEqual([caller.id]);
  for (const sort of ['ASC', 'DESC']) {
    const found = await get('user/list', `sortBy=email&sort=${sort}&after=${stranger.id}`, caller);
    expect(found.items).toEqual([]);
  }
  expect((await get('user/list', query(caller.id), caller)).items).toEqual([]);
});

test('a page after an entry is read by an index, in its order', async () => {
  await trace.pool.query(`
    INSERT INTO audit (at, user_id, action, entity, entity_id, address, details)
    SELECT now(), n % 100, 'ACTION_' || n % 50, 'thing', n % 200, '', '{}' FROM generate_series(1, 20000) AS n`);
  await trace.pool.query(`
    INSERT INTO users (email, email_key, password, name, surname, language, status, role, created_at)
    SELECT n || '@many', n || '@many', '', 'Ana', 'U', 'EN', CASE WHEN n < 200 THEN 'UNCONFIRMED' ELSE 'ACTIVE' END,
      'USER', now() FROM generate_series(1, 20000) AS n`);
  await trace.pool.query('ANALYZE audit, users');
  const page = {
    limit: 50,
    offset: 0,
    sortBy: 'id',
    sort: 'DESC',
    requestType: 'FETCH',
    after: 15_000,
  } as const;
  const seen: Sql[] = [];
  const database = {
    query: async (statement: Sql) => {
      seen.push(statement);
      return trace.pool.query(statement);
    },
  } as unknown as typeof trace.pool;
  const lists = openLists();
  const filters = [{}, { userId: 7 }, { action: 'ACTION_7' }, { entity: 'thing', entityId: '7' }];
  for (const filter of filters) await listAudit(database, lists, filter, page);
  for (const filter of [{}, { status: 'UNCONFIRMED' }, { role: 'SYSTEM_ADMIN' }] as const)
    await listUsers(database, lists, filter, page);
  expect(seen).toHaveLength(7);
  for (const { text, values } of seen) {
    const { rows } = await trace.pool.query(`EXPLAIN ${text}`, values);
    const plan = rows.map(row => row['QUERY PLAN']).join('\n');
    expect(plan).toMatch(/Index( Only)? Scan/);
    expect(plan).not.toMatch(/Seq Scan|Sort/);
  }
});
