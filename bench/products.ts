import type pg from 'pg';
import { type Database, openPool, transaction } from '../src/platform/database/database.ts';
import { SCHEMA } from '../src/trace-backend/app.ts';
import { insertAudit } from '../src/trace-backend/base/audit/store.ts';
import type { Page } from '../src/trace-backend/base/contract/schemas.ts';
import { openLists } from '../src/trace-backend/base/lists/lists.ts';
import { insertChanges } from '../src/trace-backend/catalogue/products/history/changes-store.ts';
import {
  findProduct,
  insertProduct,
  listProducts,
  type ProductFilter,
  type ProductSort,
  setAssociations,
} from '../src/trace-backend/catalogue/products/record/store.ts';
import { FILLING, fillProducts } from '../test/helpers/many-products.ts';
import { type Context, latencies, type Row } from './context.ts';
import { login, makeAdmin } from './trace.ts';

const PRODUCTS = 500_000;
const CLIENTS = 32;
const NEW = { name: 'Washed Bourbon', description: 'From the hills above the lake' };

/** Products among half a million, each row compared with only its statements through a pool of the same size. */
export async function productRows(context: Context): Promise<Row[]> {
  await makeAdmin(context);
  const filler = openPool(context.connection, SCHEMA, 1, FILLING);
  const { owners } = await fillProducts(filler, PRODUCTS, { isWhole: true });
  await filler.query('VACUUM ANALYZE');
  const companyId = owners[0] as number;
  const { rows } = await filler.query<{ id: number }>(
    "INSERT INTO company_users SELECT $1, id, 'COMPANY_ADMIN' FROM users WHERE role = 'SYSTEM_ADMIN' RETURNING user_id AS id",
    [companyId],
  );
  await filler.end();
  const userId = rows[0]?.id as number;

  const { port, stop } = await context.startTrace();
  const cookie = await login(port);
  const pool = openPool(context.connection, SCHEMA, 10);
  const page = (sortBy: ProductSort): Page<ProductSort> => ({ limit: 100, offset: 0, sortBy, sort: 'DESC' });
  const reader = { userId, companyIds: [companyId] };
  const list = (filter: ProductFilter, sortBy: ProductSort) => () =>
    listProducts(pool, lists, filter, page(sortBy));

  const lists = openLists();
  const results: Row[] = [];
  for (const [name, options, alone] of [
    ['read by id', { cookie, ids: PRODUCTS }, n => findProduct(pool, 1 + (n % PRODUCTS))],
    ['list of a company with 500', { cookie, path: '/api/product/list' }, list({ reader }, 'id')],
    ['list of all, by name', { cookie, path: '/api/product/admin/list?sortBy=name' }, list({}, 'name')],
    [
      'search that finds 250',
      { cookie, path: '/api/product/admin/list?query=lot%201577' },
      list({ query: 'lot 1577' }, 'id'),
    ],
    ['create', { cookie, body: NEW }, () => create(pool, companyId, userId)],
  ] as [string, object, (n: number) => Promise<unknown>][]) {
    const load = { port, connections: CLIENTS, requests: './requests/product.ts', options };
    await context.load({ ...load, seconds: 1 });
    const measured = await context.load(load);
    const statements = await perSecond(context.seconds, alone);
    results.push({
      name: `products, ${name}`,
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

/** The statements of creating a product. */
async function create(pool: pg.Pool, companyId: number, userId: number): Promise<void> {
  const { name, ...content } = NEW;
  const at = new Date();
  await transaction(pool, async (database: Database) => {
    const id = await insertProduct(database, {
      name,
      companyId,
      valueChainId: null,
      content,
      createdBy: userId,
      createdAt: at,
    });
    await setAssociations(database, id, [{ companyId, type: 'OWNER' }]);
    await insertChanges(database, { productId: id, version: 1, at, userId }, [{ path: '' }]);
    const event = {
      action: 'CREATE_PRODUCT',
      entity: 'product',
      entityId: String(id),
      address: '',
      details: {},
    };
    await insertAudit(database, { at, userId, ...event });
  });
}

export async function perSecond(seconds: number, work: (n: number) => Promise<unknown>): Promise<number> {
  const began = performance.now();
  const end = began + seconds * 1000;
  let count = 0;
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      while (performance.now() < end) await work(count++ * 7919);
    }),
  );
  return (count * 1000) / (performance.now() - began);
}
