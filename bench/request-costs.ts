import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { openPool } from '../src/platform/database/database.ts';
import { SCHEMA } from '../src/trace-backend/app.ts';
import { fillCompanies } from '../test/helpers/many-companies.ts';
import { FILLING, fillProducts } from '../test/helpers/many-products.ts';
import { processorSecondsOf } from '../test/helpers/processor-time.ts';
import { type Context, latencies, type Measured, type Row } from './context.ts';
import { fillRates } from './currency.ts';
import { countMessages } from './message-counter.ts';
import { someIds } from './packets.ts';
import { login, makeAdmin } from './trace.ts';

const CLIENTS = 32;
const COMPANIES = 20_000;
const PRODUCTS = 50_000;

/** A kind of request, and the kind that its rate is compared with. */
interface Kind {
  name: string;
  /** module of bench/requests/ */
  requests: string;
  options: object;
  /** whether it is what the others of its service are compared with */
  isLimit?: boolean;
}

/**
 * What requests cost: statements, round trips, and processor time of Node and PostgreSQL for each, and their rate
 * compared with a route without a statement, or with node:http alone.
 */
export async function requestCostRows(context: Context): Promise<Row[]> {
  return [...(await traceCosts(context)), ...(await packetCosts(context))];
}

async function traceCosts(context: Context): Promise<Row[]> {
  await makeAdmin(context);
  const filler = openPool(context.connection, SCHEMA, 1, FILLING);
  const { owners } = await fillProducts(filler, PRODUCTS, { isWhole: true });
  const { userId } = await fillCompanies(filler, COMPANIES, { isWhole: true });
  const companyId = owners[0] as number;
  await filler.query(
    "INSERT INTO company_users SELECT $1, id, 'COMPANY_ADMIN' FROM users WHERE role = 'SYSTEM_ADMIN' OR id = $2",
    [companyId, userId],
  );
  await filler.query('VACUUM ANALYZE');
  await filler.end();
  await fillRates(context);

  const service = await context.startTrace();
  const cookie = await login(service.port);
  const label = await publishLabel(service.port, cookie);
  await service.stop();
  const accept = 'text/html';
  const trace = { requests: './requests/trace.ts' };
  return costsOf(context, context.startTrace, [
    { name: 'GET /health', ...trace, options: { path: '/health' }, isLimit: true },
    { name: 'profile', ...trace, options: { cookie } },
    { name: 'company by id', requests: './requests/company.ts', options: { cookie, ids: COMPANIES } },
    { name: 'product by id', requests: './requests/product.ts', options: { cookie, ids: PRODUCTS } },
    { name: 'list of companies', ...trace, options: { cookie, path: '/api/company/list?limit=100' } },
    { name: 'list of products', ...trace, options: { cookie, path: '/api/product/list?limit=100' } },
    {
      name: 'product create',
      requests: './requests/product.ts',
      options: { cookie, body: { name: 'Washed Bourbon', description: 'From the hills above the lake' } },
    },
    {
      name: 'product update',
      requests: './requests/product.ts',
      options: { cookie, ids: PRODUCTS, isUpdate: true },
    },
    { name: 'public page of a label', ...trace, options: { path: label, accept } },
    { name: 'public JSON of a label', ...trace, options: { path: label } },
    {
      name: 'conversion',
      ...trace,
      options: { cookie, path: '/api/chain/currency/convert/100/USD/to/RWF' },
    },
  ]);
}

async function packetCosts(context: Context): Promise<Row[]> {
  const filling = await context.startService();
  const observations = { requests: './requests/scouting.ts', options: null };
  await context.load({ ...observations, port: filling.port, connections: CLIENTS });
  const ids = await someIds(context);
  const one = ids.map(id => `/packets/${id}`);
  const pages = ids.slice(0, 200).map(id => `/packets?limit=100&cursor=${id}`);
  const answers = await Promise.all(
    [one[0], pages[0]].map(async path => (await fetch(`http://127.0.0.1:${filling.port}${path}`)).text()),
  );
  await filling.stop();
  const requests = './requests/read.ts';
  const [health, ...reads] = await costsOf(context, context.startService, [
    { name: 'GET /health', requests, options: { paths: ['/health'] }, isLimit: true },
    { name: 'packet by id', requests, options: { paths: one } },
    { name: 'page of 100 packets', requests, options: { paths: pages } },
  ]);
  const limits = await sameBytesRates(context, answers);
  return [
    health as Row,
    ...reads.map((row, n) => ({
      ...row,
      against: { name: 'node:http with the same bytes', ratio: row.value / (limits[n] as number) },
    })),
  ];
}

/** The rates at which a server of node:http sends these bodies. */
async function sameBytesRates(context: Context, bodies: readonly string[]): Promise<number[]> {
  const { port, stop } = await context.startScript('same-bytes.ts');
  const rates: number[] = [];
  for (const body of bodies) {
    await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body });
    const load = {
      port,
      connections: CLIENTS,
      requests: './requests/read.ts',
      options: { paths: ['/packets'] },
    };
    await context.load({ ...load, seconds: 1 });
    rates.push((await context.load(load)).perSecond);
  }
  await stop();
  return rates;
}

async function costsOf(
  context: Context,
  start: Context['startTrace'],
  kinds: readonly Kind[],
): Promise<Row[]> {
  const service = await start();
  const rows: Row[] = [];
  let limit: { name: string; perSecond: number } | undefined;
  for (const { name, requests, options, isLimit } of kinds) {
    const load = { port: service.port, connections: CLIENTS, requests, options };
    await context.load({ ...load, seconds: 1 });
    const before = await processorTimes(context, service);
    const measured = await context.load(load);
    const after = await processorTimes(context, service);
    const microseconds = (from: number, to: number) => Math.round(((to - from) * 1e6) / measured.answers);
    if (isLimit) limit = { name, perSecond: measured.perSecond };
    rows.push({
      name,
      value: measured.perSecond,
      unit: 'answers/s',
      ...(limit &&
        !isLimit && { against: { name: limit.name, ratio: measured.perSecond / limit.perSecond } }),
      note:
        `${microseconds(before.node, after.node)} µs of Node and ` +
        `${microseconds(before.postgres, after.postgres)} µs of PostgreSQL; ${latencies(measured)}`,
    });
  }
  await service.stop();
  const counts = await countsOf(context, start, kinds);
  return rows.map((row, n) => ({ ...row, note: `${counts[n]}; ${row.note}` }));
}

/** Seconds of processor time that the service and its database have used. */
async function processorTimes({ connection }: Context, { pid }: Measured) {
  // The first line of the socket's lock file is the process id of the server.
  const socket = path.join(connection.host, `.s.PGSQL.${connection.port}`);
  const [server] = (await readFile(`${socket}.lock`, 'utf8')).split('\n');
  return { node: processorSecondsOf(pid), postgres: processorSecondsOf(Number(server)) };
}

/** The database messages of each kind of request, when nothing else is in flight. */
async function countsOf(
  context: Context,
  start: Context['startTrace'],
  kinds: readonly Kind[],
): Promise<string[]> {
  const { connection } = context;
  const counter = await countMessages(connection);
  const { user, password, database } = connection;
  const service = await start({
    DATABASE_URL: `postgres://${user}:${password}@127.0.0.1:${counter.port}/${database}`,
  });
  const counts: string[] = [];
  for (const { requests, options } of kinds) {
    const load = { port: service.port, connections: 1, requests, options, seconds: 1 };
    // The first requests prepare statements, and fill caches.
    await context.load(load);
    const before = counter.count();
    const { answers } = await context.load(load);
    const after = counter.count();
    const each = (from: number, to: number) => ((to - from) / answers).toFixed(1).replace('.0', '');
    counts.push(
      `${each(before.statements, after.statements)} statements in ${each(before.roundTrips, after.roundTrips)} round trips`,
    );
  }
  await service.stop();
  await counter.close();
  return counts;
}

/** Publishes a label of the first product, and returns the path of its public page. */
async function publishLabel(port: number, cookie: string): Promise<string> {
  const post = async (path: string, body: object) => {
    const headers = { cookie, 'content-type': 'application/json' };
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
    return ((await answer.json()) as { data: { id: number; uuid: string } }).data;
  };
  const { id, uuid } = await post('/api/product/label/create', { productId: 1, title: 'Washed Bourbon' });
  await post('/api/product/label/execute/PUBLISH_LABEL', { id });
  return `/api/public/product/label/${uuid}`;
}
