import { afterAll, beforeAll, expect, test } from 'vitest';
import { added, type Tenant, tenant } from '../../../../test/helpers/chain.ts';
import { waitingSessions } from '../../../../test/helpers/database.ts';
import { eventually } from '../../../../test/helpers/eventually.ts';
import type { Answer } from '../../../../test/helpers/service.ts';
import { ADMIN, type LoggedIn, type RunningTrace, runningTrace } from '../../../../test/helpers/trace.ts';
import { asFinalProduct, findOfProduct } from './final-products.ts';

let trace: RunningTrace;
let kopanyi: Tenant;
let roastery: Tenant;
let stranger: Tenant;
let admin: LoggedIn;
let unit: { id: number };
beforeAll(async () => {
  trace = await runningTrace();
  kopanyi = await tenant(trace, 'Kopanyi');
  roastery = await tenant(trace, 'Roastery');
  stranger = await tenant(trace, 'Stranger');
  admin = await trace.login(ADMIN.username, ADMIN.password);
  const code = { code: 'KG', label: 'kg', weight: '1' };
  const { body } = await admin.send('PUT', '/api/chain/measure-unit-type', code);
  unit = { ...code, ...body.data };
});
afterAll(() => trace.stop());

const send = (method: string, path: string, body?: object) => kopanyi.user.send(method, path, body);

async function labelled() {
  const partner = { company: { id: roastery.companyId }, type: 'ROASTER' };
  const product = {
    name: 'Tea',
    description: 'Black',
    origin: { text: 'Huye' },
    associatedCompanies: [partner],
  };
  const productId = await added(kopanyi.user, product);
  const { data: label } = (await send('POST', '/api/product/label/create', { productId, title: 'Tea' })).body;
  return { productId, label, path: `/api/product/${productId}/finalProduct` };
}

/** The form of the front end. */
const form = (labels: object[], more: object = {}) => ({
  id: null,
  name: 'Roasted 1kg',
  description: 'A bag',
  product: null,
  measurementUnitType: unit,
  labels,
  ...more,
});

test('a final product is created by the form, changed, listed and removed, in the history of the product', async () => {
  const { productId, label, path } = await labelled();
  const { id } = (await send('PUT', path, form([label]))).body.data;
  const base = { id: label.id, productId, status: 'UNPUBLISHED', uuid: label.uuid, title: 'Tea' };
  const whole = {
    id,
    name: 'Roasted 1kg',
    description: 'A bag',
    labels: [base],
    product: { id: productId, name: 'Tea', description: 'Black', origin: { text: 'Huye' } },
    measurementUnitType: { id: unit.id, code: 'KG', label: 'kg', weight: 1 },
  };
  expect((await send('GET', `${path}/${id}`)).body.data).toEqual(whole);
  const page = { items: [whole], count: 1, offset: 0, limit: 10 };
  expect((await send('GET', `${path}/list?limit=10&offset=0`)).body.data).toEqual(page);
  for (const { user, companyId } of [kopanyi, roastery]) {
    const all = await user.send('GET', `/api/final-product/company/${companyId}?limit=1000&offset=0`);
    expect(all.body.data.items).toContainEqual(whole);
  }

  const labels = async (query = '') => (await send('GET', `${path}/${id}/labels${query}`)).body.data;
  expect([await labels(), await labels('?returnUnpublished=true')]).toEqual([[], [base]]);
  await send('POST', '/api/product/label/execute/PUBLISH_LABEL', { id: label.id });
  expect(await labels()).toEqual([{ ...base, status: 'PUBLISHED' }]);

  const change = form([], { id, name: 'Roasted', description: '', measurementUnitType: '' });
  expect((await send('PUT', path, change)).body.data).toEqual({ id });
  const { product } = whole;
  expect((await send('GET', `${path}/${id}`)).body.data).toEqual({
    id,
    name: 'Roasted',
    description: '',
    labels: [],
    product,
  });
  expect((await send('DELETE', `${path}/${id}`)).status).toBe(200);
  expect((await send('DELETE', `${path}/${id}`)).status).toBe(404);
  const { rows } = await trace.pool.query(
    "SELECT action FROM audit WHERE entity = 'product' AND entity_id = $1 AND action LIKE '%FINAL%' ORDER BY id",
    [String(productId)],
  );
  expect(rows.map(({ action }) => action)).toEqual([
    ...['CREATE_FINAL_PRODUCT', 'UPDATE_FINAL_PRODUCT', 'DELETE_FINAL_PRODUCT'],
  ]);
});

test('labels and units in use are not deleted, and the error names what uses them', async () => {
  const { productId, label, path } = await labelled();
  await send('PUT', path, form([label]));
  const refused = await send('DELETE', `/api/product/label/${label.id}`);
  expect([refused.status, refused.body.errorMessage]).toEqual([
    400,
    'the label is in use by the final product "Roasted 1kg"',
  ]);
  const unused = await admin.send('DELETE', `/api/chain/measure-unit-type/${unit.id}`);
  expect([unused.status, unused.body.errorMessage]).toEqual([400, expect.stringContaining('Roasted 1kg')]);
  await send('PUT', '/api/product', { id: productId, labels: [] });
  expect((await send('GET', `/api/product/${productId}/labels`)).body.data).toHaveLength(1);
  expect((await send('DELETE', `/api/product/${productId}`)).status).toBe(200);
});

test('units and labels must exist, and labels must belong to the product', async () => {
  const { path } = await labelled();
  const other = await labelled();
  for (const [body, field] of [
    [form([other.label]), 'labels.0.id'],
    [form([], { measurementUnitType: { id: 999_999 } }), 'measurementUnitType.id'],
    [form([], { name: null }), 'name'],
  ] as const) {
    const answer = await send('PUT', path, body);
    expect([answer.status, Object.keys(answer.body.validationErrorDetails.fieldErrors)]).toEqual([
      400,
      [field],
    ]);
  }
});

test("another tenant's final products do not exist; partners only read them", async () => {
  const { path, label } = await labelled();
  const { id } = (await send('PUT', path, form([label]))).body.data;
  expect((await roastery.user.send('GET', `${path}/${id}`)).status).toBe(200);
  expect((await roastery.user.send('PUT', path, form([]))).status).toBe(403);
  for (const [method, at, body] of [
    ['GET', `${path}/${id}`, undefined],
    ['GET', `${path}/list`, undefined],
    ['GET', `${path}/${id}/labels`, undefined],
    ['PUT', path, form([], { id })],
    ['DELETE', `${path}/${id}`, undefined],
    ['GET', `/api/final-product/company/${kopanyi.companyId}`, undefined],
  ] as const) {
    expect((await stranger.user.send(method, at, body)).status, `${method} ${at}`).toBe(404);
  }
  const own = await labelled();
  expect((await send('GET', `${own.path}/${id}`)).status).toBe(404);
});

test('the second writer of the same version of a final product is refused', async () => {
  const { label, path, productId } = await labelled();
  const { id } = (await send('PUT', path, form([label]))).body.data;
  const read = async () => {
    const { headers, body } = await send('GET', `${path}/${id}`);
    expect(body.data).not.toHaveProperty('version');
    return headers.get('etag') as string;
  };
  const write = (method: string, body: object | undefined, tag: string) =>
    kopanyi.user.send(method, body ? path : `${path}/${id}`, body, { 'if-match': tag });
  const tag = await read();
  const statuses = await Promise.all(
    [1, 2, 3].map(async n => (await write('PUT', { id, name: `Bag ${n}` }, tag)).status),
  );
  expect(statuses.sort()).toEqual([200, 412, 412]);
  expect((await write('DELETE', undefined, tag)).status).toBe(412);
  const now = await read();
  expect([tag, now]).toEqual(['"1"', '"2"']);
  await write('PUT', { id, name: 'Bag', labels: [] }, now);
  await write('PUT', { id, name: 'Bag', labels: [] }, '"3"');
  expect(await read()).toBe('"3"');
  const history = (await send('GET', `/api/product/${productId}/history?limit=100`)).body.data.items;
  expect(history.map((each: { path: string }) => each.path).join(' ')).not.toContain('.version');
  expect((await write('DELETE', undefined, '"3"')).status).toBe(200);
});

/** Deletes a product during a request: after the request has read the final products, if it reads them first. */
async function deletedMeanwhile(productId: number, request: () => Promise<Answer>): Promise<Answer> {
  const other = await trace.pool.connect();
  await other.query('BEGIN; LOCK TABLE products IN ACCESS EXCLUSIVE MODE');
  await other.query('DELETE FROM products WHERE id = $1', [productId]);
  const answer = request();
  await eventually(() => waitingSessions(trace.pool));
  await other.query('COMMIT');
  other.release();
  return answer;
}

test('a final product is never listed without its product, even during its deletion', async () => {
  const { productId, label, path } = await labelled();
  await send('PUT', path, form([label]));
  const kept = await labelled();
  const { id } = (await send('PUT', kept.path, form([kept.label]))).body.data;
  const list = () => send('GET', `/api/final-product/company/${kopanyi.companyId}?limit=1000`);
  const { status, body } = await deletedMeanwhile(productId, list);
  expect(status).toBe(200);
  const items: { id: number; product?: object }[] = body.data.items;
  expect(items.filter(({ product }) => product === undefined)).toEqual([]);
  expect(items.map(item => item.id)).toContain(id);
});

test('a final product whose product is deleted after its own row was read is not found', async () => {
  const { productId, label, path } = await labelled();
  const { id } = (await send('PUT', path, form([label]))).body.data;
  const found = await findOfProduct(trace.pool, productId, id);
  expect((await send('DELETE', `/api/product/${productId}`)).status).toBe(200);
  await expect(asFinalProduct(trace.pool, found, 'EN')).rejects.toMatchObject({ code: 'not_found' });
});
