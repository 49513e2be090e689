import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FILLING, fillCompanies } from '../../../../test/helpers/many-companies.ts';
import { fillProducts } from '../../../../test/helpers/many-products.ts';
import { runs } from '../../../../test/helpers/property.ts';
import { type LoggedIn, type RunningTrace, runningTrace } from '../../../../test/helpers/trace.ts';
import { openPool } from '../../../platform/database/database.ts';
import { ngramsOf } from '../../base/lists/search.ts';

/** More rows than are counted exactly, so that pages are found by the indexes. */
const COUNT = 12_000;
/** A suffix that makes names longer than their part in the indexes. */
const PREFIX = 'a long name '.repeat(9);

let trace: RunningTrace;
let admin: LoggedIn;
let trader: LoggedIn;
beforeAll(async () => {
  trace = await runningTrace();
  admin = await trace.loggedIn('REGIONAL_ADMIN');
  trader = await trace.loggedIn();
  const pool = openPool(trace.connection, 'trace_backend', 1, FILLING);
  const { buyer } = await fillProducts(pool, COUNT);
  await fillCompanies(pool, COUNT);
  for (const table of ['products', 'companies']) {
    await pool.query(
      `UPDATE ${table} SET name = $1 || name, folded = $1 || folded, tokens = tokens || $2::text[] WHERE id % 12 > 0`,
      [PREFIX, ngramsOf(PREFIX)],
    );
  }
  await pool.query(`INSERT INTO product_companies SELECT id, $1, 'TRADER', 3 FROM products`, [buyer]);
  await pool.query("INSERT INTO company_users (company_id, user_id, role) VALUES ($1, $2, 'COMPANY_USER')", [
    buyer,
    trader.id,
  ]);
  await pool.query('VACUUM ANALYZE');
  await pool.end();
}, 120_000);
afterAll(() => trace.stop());

/** The condition of each filter, on the text that is searched. */
const LISTS = [
  { path: 'product/admin/list', table: 'products', user: () => admin, queries: ['', 'lot', 'name a'] },
  { path: 'product/list', table: 'products', user: () => trader, queries: ['', 'lot'] },
  { path: 'company/admin/list', table: 'companies', user: () => admin, queries: ['', 'name a', '\n'] },
] as const;
const KEYS = { id: 'id', name: 'left(folded, 100) COLLATE "C"', updatedAt: 'updated_at', status: 'status' };

/** Every list with its items by the plain statement: path, user, query, all ids in order. */
async function plainLists() {
  const all: { path: string; user: LoggedIn; query: Record<string, string>; ids: number[] }[] = [];
  for (const { path, table, user, queries } of LISTS) {
    for (const sortBy of ['id', 'name', table === 'products' ? 'updatedAt' : 'status'] as const) {
      for (const query of queries) {
        const sort = all.length % 2 ? 'ASC' : 'DESC';
        const { rows } = await trace.pool.query(
          `SELECT id FROM ${table} WHERE strpos(folded, $1) > 0 ORDER BY ${KEYS[sortBy]} ${sort}, id ${sort}`,
          [query],
        );
        all.push({ path, user: user(), query: { query, sortBy, sort }, ids: rows.map(({ id }) => id) });
      }
    }
  }
  return all;
}

async function page(list: Awaited<ReturnType<typeof plainLists>>[number], limit: number, offset: number) {
  const text = new URLSearchParams({ ...list.query, limit: String(limit), offset: String(offset) });
  const { status, body } = await list.user.send('GET', `/api/${list.path}?${text}`);
  expect(status, `${list.path}?${text} ${JSON.stringify(body)}`).toBe(200);
  const ids: number[] = body.data.items.map(({ id }: { id: number }) => id);
  return { ids, count: body.data.count as number, name: `${list.path}?${text}` };
}

test('pages of long lists are the slices of the plain list, for every filter and order', async () => {
  for (const list of await plainLists()) {
    const name = JSON.stringify([list.path, list.query]);
    expect(list.ids.length, name).toBeGreaterThan(10_000);
    const seen: number[] = [];
    for (let offset = 0; offset < list.ids.length; offset += 1000) {
      const { ids, count } = await page(list, 1000, offset);
      seen.push(...ids);
      expect(count, name).toBeGreaterThanOrEqual(seen.length);
      if (ids.length < 1000) expect(count, name).toBe(list.ids.length);
    }
    expect(seen, name).toEqual(list.ids);
  }
}, 240_000);

test('a page at any offset has the items of the plain list there', async () => {
  const all = await plainLists();
  const most = Math.max(...all.map(({ ids }) => ids.length));
  const any = fc.record({
    of: fc.nat({ max: all.length - 1 }),
    limit: fc.integer({ min: 1, max: 120 }),
    offset: fc.oneof(fc.nat({ max: most + 10 }), fc.integer({ min: 10_990, max: most + 10 })),
  });
  await fc.assert(
    fc.asyncProperty(any, async ({ of, limit, offset }) => {
      const list = all[of] as (typeof all)[number];
      const { ids, count, name } = await page(list, limit, offset);
      expect(ids, name).toEqual(list.ids.slice(offset, offset + limit));
      if (ids.length > 0) expect(count, name).toBeGreaterThanOrEqual(offset + ids.length);
    }),
    { numRuns: runs(100) },
  );
}, 240_000);
