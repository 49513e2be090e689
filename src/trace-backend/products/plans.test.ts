import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../test/helpers/database.ts';
import { fillProducts } from '../../../test/helpers/many-products.ts';
import { openPool } from '../../platform/postgres/database.ts';
import type { Page } from '../contract/schemas.ts';
import {
  countStatement,
  listProducts,
  type ProductFilter,
  type ProductSort,
  pageStatement,
} from './store.ts';

let database: TestDatabase;
let pool: pg.Pool;
let owner: ProductFilter['reader'];
let buyer: ProductFilter['reader'];
let companyId: number;
beforeAll(async () => {
  database = await testDatabase();
  pool = openPool(database.connection, 'trace_backend', 1);
  const filled = await fillProducts(pool, 500_000);
  companyId = filled.owners[7] as number;
  owner = { userId: 0, companyIds: [companyId] };
  buyer = { userId: 0, companyIds: [filled.buyer] };
}, 120_000);
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

/** How many rows of which tables a statement goes through, and how it finds them. */
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

test('among half a million products a page is found by indexes, whoever asks and however it is sorted', async () => {
  const filters: [ProductFilter, boolean][] = [
    [{}, false],
    [{ companyId }, false],
    [{ query: 'yirgacheffe lot 1577' }, false],
    [{ query: '咖啡 huye' }, false],
    [{ query: 'ú' }, false],
    [{ query: 'nowhere' }, false],
    [{ reader: owner }, true],
    [{ reader: owner, query: 'lot 7' }, true],
    [{ reader: buyer }, false],
    [{ reader: buyer, query: 'yirgacheffe' }, false],
    [{ reader: buyer, query: 'lot 1570' }, false],
    [{ reader: buyer, companyId }, false],
  ];
  for (const [filter, few] of filters) {
    for (const sortBy of ['id', 'name', 'updatedAt'] as const) {
      for (const sort of ['ASC', 'DESC'] as const) {
        const { kinds, rows } = await look(pageStatement(filter, page(sortBy, sort), few));
        const name = JSON.stringify([filter, sortBy, sort, [...kinds], rows]);
        expect(
          [...kinds].filter(kind => kind.startsWith('Seq Scan')),
          name,
        ).toEqual([]);
        expect(rows, name).toBeLessThan(150_000);
      }
    }
  }
});

test('they are counted by indexes, too, where not all of them count', async () => {
  for (const [filter, few] of [
    [{ companyId }, false],
    [{ query: 'yirgacheffe lot 1577' }, false],
    [{ reader: owner }, true],
    [{ reader: owner, query: 'lot 7' }, true],
    [{ reader: buyer }, false],
  ] as [ProductFilter, boolean][]) {
    const { kinds } = await look(countStatement(filter, few));
    expect(
      [...kinds].filter(kind => kind.startsWith('Seq Scan')),
      JSON.stringify(filter),
    ).toEqual([]);
  }
});

test('both ways to a list find the same', async () => {
  const all = await listProducts(pool, { reader: buyer, query: 'JIMMA LOT 1' }, page('name', 'ASC'));
  expect(all.count).toBeGreaterThan(1000);
  expect(all.items.length).toBe(100);
  for (const sortBy of ['id', 'name', 'updatedAt'] as const) {
    for (const filter of [{ reader: owner }, { reader: owner, query: 'lot' }]) {
      const [one, other] = await Promise.all(
        [true, false].map(async few => {
          const { rows } = await pool.query(pageStatement(filter, page(sortBy), few));
          const count = await pool.query(countStatement(filter, few));
          return { rows, count: count.rows };
        }),
      );
      expect(one).toEqual(other);
      expect(one?.rows.length).toBe(100);
    }
  }
});
