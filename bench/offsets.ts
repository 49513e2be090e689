import { openPool } from '../src/platform/database/database.ts';
import { SCHEMA } from '../src/trace-backend/app.ts';
import { fillCompanies } from '../test/helpers/many-companies.ts';
import { FILLING, fillProducts } from '../test/helpers/many-products.ts';
import type { Context, Row } from './context.ts';
import { login, makeAdmin } from './trace.ts';

const ROWS = 100_000;
const OFFSET = 99_900;

/** The last page of lists of a hundred thousand rows, for one client. */
export async function offsetRows(context: Context): Promise<Row[]> {
  await makeAdmin(context);
  const filler = openPool(context.connection, SCHEMA, 1, FILLING);
  await fillCompanies(filler, ROWS);
  await fillProducts(filler, ROWS);
  await filler.query('VACUUM ANALYZE');
  await filler.end();
  const { port, stop } = await context.startTrace();
  const cookie = await login(port);
  const rows: Row[] = [];
  for (const [list, sortBy, filter] of [
    ['product', 'id', ''],
    ['product', 'name', ''],
    ['product', 'name', '&query=lot'],
    ['company', 'id', ''],
    ['company', 'name', ''],
  ] as const) {
    const path = `/api/${list}/admin/list?sortBy=${sortBy}&limit=100&offset=${OFFSET}${filter}`;
    const load = { port, connections: 1, requests: './requests/company.ts', options: { cookie, path } };
    await context.load({ ...load, seconds: 1 });
    const { p50, p95, p99, answers } = await context.load(load);
    rows.push({
      name: `${list} list by ${sortBy}${filter && ', filtered'}, offset 99,900 of 100,000: p95`,
      value: p95,
      unit: 'ms',
      note: `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, ${answers} pages`,
    });
  }
  await stop();
  return rows;
}
