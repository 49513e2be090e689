import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../../test/helpers/database.ts';
import { FILLING, fillProducts } from '../../../../test/helpers/many-products.ts';
import { openPool } from '../../../platform/database/database.ts';
import type { Page } from '../../base/contract/schemas.ts';
import { openLists } from '../../base/lists/lists.ts';
import { foldName } from '../../base/lists/search.ts';
import { gatherStatement, walkStatement } from '../../base/lists/store.ts';
import { listProducts, listSource, type ProductFilter, type ProductSort } from './record/store.ts';

const COUNT = 200_000;

let database: TestDatabase;
let pool: pg.Pool;
let owner: ProductFilter['reader'];
let buyer: ProductFilter['reader'];
let companyId: number;
beforeAll(async () => {
  database = await testDatabase();
  pool = openPool(database.connection, 'trace_backend', 1, FILLING);
  const filled = await fillProducts(pool, COUNT);
  companyId = filled.owners[7] as number;
  owner = { userId: 0, companyIds: [companyId] };
  buyer = { userId: 0, companyIds: [filled.buyer] };
}, 300_000);
afterAll(async () => {
  await pool.end();
  await database.drop();
});

interface Node {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: Node[];
}

/** The rows of each table that a statement reads, and the kind of access. */
async function look(statement: { text: string; values: unknown[] }) {
  const { rows } = await pool.query({
    text: `EXPLAIN (ANALYZE, FORMAT JSON) ${statement.text}`,
    values: statement.values,
  });
  const seen = { kinds: new Set<string>(), rows: 0 };
  const visit = (node: Node): void => {
    if (node['Relation Name'] || node['Node Type'] === 'Bitmap Index Scan') {
      seen.kinds.add(`${node['Node Type']} ${node['Relation Name'] ?? ''}`.trim());
      seen.rows += (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
    }
    node.Plans?.forEach(visit);
  };
  visit(rows[0]['QUERY PLAN'][0].Plan);
  return seen;
}

const page = (sortBy: ProductSort = 'id', sort: 'ASC' | 'DESC' = 'DESC'): Page<ProductSort> => ({
  limit: 100,
  offset: 0,
  sortBy,
  sort,
});

/** Filters with whether their reader sees few products and, of those that find many, the rows of a walk to them. */
const FILTERS: [() => ProductFilter, { few?: boolean; many?: boolean }][] = [
  [() => ({}), { many: true }],
  [() => ({ companyId }), {}],
  [() => ({ query: 'yirgacheffe lot 1577' }), {}],
  [() => ({ query: '咖啡 huye' }), {}],
  [() => ({ query: 'ú' }), { many: true }],
  [() => ({ query: 'yirgacheffe' }), { many: true }],
  [() => ({ query: 'nowhere' }), {}],
  [() => ({ reader: owner }), { few: true }],
  [() => ({ reader: owner, query: 'lot 7' }), { few: true }],
  [() => ({ reader: buyer }), { many: true }],
  [() => ({ reader: buyer, query: 'yirgacheffe' }), {}],
  [() => ({ reader: buyer, query: 'lot 1570' }), {}],
  [() => ({ reader: buyer, companyId }), {}],
];
const lists = openLists();

async function sourceOf(filter: ProductFilter, sortBy: ProductSort, few = false) {
  const { query } = filter;
  const tokens = query === undefined ? [] : await lists.ngramsFor(pool, 'products', foldName(query));
  return listSource(filter, sortBy, few, tokens);
}

test('among 200,000 products a page reads few rows, for every caller and order', async () => {
  for (const [filter, { few, many }] of FILTERS) {
    for (const sortBy of ['id', 'name', 'updatedAt'] as const) {
      for (const sort of ['ASC', 'DESC'] as const) {
        const source = await sourceOf(filter(), sortBy, few);
        const gathered = await look(gatherStatement(source, page(sortBy, sort), 10_001));
        const name = JSON.stringify([filter(), sortBy, sort, [...gathered.kinds], gathered.rows]);
        expect(gathered.rows, name).toBeLessThan(100_000);
        if (!many) {
          expect(
            [...gathered.kinds].filter(kind => kind.startsWith('Seq Scan')),
            name,
          ).toEqual([]);
          continue;
        }
        const walked = await look(walkStatement(source, page(sortBy, sort), 10_000));
        expect([...walked.kinds, walked.rows].join(), name).not.toMatch(/Seq Scan/);
        expect(walked.rows, name).toBeLessThan(50_000);
      }
    }
  }
});

test('a page far down is found by reading only the index', async () => {
  await pool.query('VACUUM products');
  for (const sortBy of ['id', 'name', 'updatedAt'] as const) {
    for (const filter of [{}, { query: 'lot' }]) {
      const source = await sourceOf(filter, sortBy);
      const { kinds, rows } = await look(walkStatement(source, { ...page(sortBy), offset: 150_000 }));
      const name = JSON.stringify([sortBy, filter, [...kinds]]);
      expect([...kinds].toSorted(), name).toEqual(['Index Only Scan products', 'Index Scan products']);
      expect(rows, name).toBeLessThan(151_000);
    }
  }
});

test("a list of a company's products reads only the rows of the page", async () => {
  await pool.query('VACUUM product_companies');
  const source = await sourceOf({ reader: owner }, 'id', true);
  const { kinds, rows } = await look(gatherStatement(source, page(), 10_001));
  expect(kinds).toContain('Index Only Scan product_companies');
  expect(rows).toBeLessThanOrEqual(COUNT / 1000 + 100);
});

test('a search finds the rows of its page again without an index', async () => {
  const source = await sourceOf({ query: 'yirgacheffe lot 1577' }, 'id');
  const { kinds } = await look(gatherStatement(source, page(), 10_001));
  expect([...kinds].toSorted()).toEqual([
    'Bitmap Heap Scan products',
    'Bitmap Index Scan',
    'Tid Scan products',
  ]);
});

test('a rare part of a name is found by only its rarest tokens', async () => {
  const source = await sourceOf({ query: 'arabica huye lot 1577' }, 'id');
  const { rows } = await look(gatherStatement(source, page(), 10_001));
  expect(rows).toBeLessThan(2_000);
});

test('all plans of a list find the same rows', async () => {
  for (const [filter, { few }] of FILTERS) {
    for (const sortBy of ['id', 'name', 'updatedAt'] as const) {
      for (const offset of [0, 150]) {
        const source = await sourceOf(filter(), sortBy, few);
        const wanted = { ...page(sortBy, 'ASC'), offset };
        const name = JSON.stringify([filter(), sortBy, offset]);
        const { rows: walked } = await pool.query(walkStatement(source, wanted));
        const { rows: gathered } = await pool.query(gatherStatement(source, wanted));
        const listed = await listProducts(pool, lists, filter(), wanted);
        const ids = (rows: { id: number | null }[]) => rows.map(({ id }) => id).filter(id => id !== null);
        expect(ids(gathered), name).toEqual(ids(walked));
        expect(ids(listed.items), name).toEqual(ids(walked));
      }
    }
  }
}, 240_000);

test('a count is exact up to 10,000 and on request; otherwise it is an estimate, never below the end of the page', async () => {
  for (const [filter] of FILTERS) {
    const name = JSON.stringify(filter());
    const exact = await listProducts(pool, lists, filter(), { ...page(), requestType: 'COUNT' });
    expect(exact.items).toEqual([]);
    for (let again = 0; again < 2; again++) {
      const { count } = await listProducts(pool, lists, filter(), page());
      if (exact.count <= 10_000) expect(count, name).toBe(exact.count);
      else expect(Math.abs(count / exact.count - 1), name).toBeLessThan(0.3);
    }
  }
  const { items, count } = await listProducts(pool, lists, {}, { ...page(), offset: COUNT - 50 });
  expect([items.length, count]).toEqual([50, COUNT]);
  const beyond = await listProducts(pool, lists, {}, { ...page(), offset: 900_000 });
  expect([beyond.items.length, beyond.count]).toEqual([0, 900_000]);
}, 240_000);

test('a page whose items are at the far end of the order is found as well', async () => {
  const far = await listProducts(pool, lists, { query: 'oolong' }, page('name', 'DESC'));
  const near = await listProducts(pool, lists, { query: 'oolong' }, page('name', 'ASC'));
  expect([far.items.length, near.items.length]).toEqual([100, 100]);
  expect(far.items.every(({ name }) => name.startsWith('Oolong'))).toBe(true);
  expect(near.items[0]?.name).not.toBe(far.items[0]?.name);
  // So few rows that the whole order is not searched for them.
  const source = await sourceOf({ query: 'lot 2' }, 'name');
  const { rows } = await pool.query(walkStatement(source, { ...page('name'), offset: 10_990 }));
  const last = await listProducts(pool, lists, { query: 'lot 2' }, { ...page('name'), offset: 10_990 });
  expect(last.items.map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
  expect(rows).toHaveLength(100);
});
