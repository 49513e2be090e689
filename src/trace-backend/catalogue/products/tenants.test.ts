import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { added, companyOf, read, type Tenant, tenant } from '../../../../test/helpers/chain.ts';
import { type LoggedIn, type RunningTrace, runningTrace } from '../../../../test/helpers/trace.ts';

let trace: RunningTrace;
let ours: Tenant;
let theirs: Tenant;
let admin: LoggedIn;
let product: number;
let label: { id: number; uuid: string };
beforeAll(async () => {
  trace = await runningTrace();
  admin = await trace.loggedIn('SYSTEM_ADMIN');
  ours = await tenant(trace, 'Ours');
  theirs = await tenant(trace, 'Theirs');
  product = await added(ours.user, {
    name: 'Our secret',
    origin: { locations: [{ latitude: 1, longitude: 2 }] },
    labels: { title: 'Not yet' },
  });
  label = (await read(ours.user, product)).labels[0];
});
afterAll(() => trace.stop());

/** Every way of asking about a product or a label by an id. */
const asks: ((user: LoggedIn, ids: { product: unknown; label: unknown }) => ReturnType<LoggedIn['send']>)[] =
  [
    (user, ids) => user.send('GET', `/api/product/${ids.product}`),
    (user, ids) => user.send('GET', `/api/product/${ids.product}/history`),
    (user, ids) => user.send('GET', `/api/product/${ids.product}/origin.geojson`),
    (user, ids) => user.send('DELETE', `/api/product/${ids.product}`),
    (user, ids) =>
      user.send('PUT', '/api/product', {
        id: ids.product,
        name: 'Theirs',
        company: { id: theirs.companyId },
      }),
    (user, ids) =>
      user.send('PUT', '/api/product/', { id: ids.product, labels: [{ id: ids.label, title: 'x' }] }),
    (user, ids) => user.send('POST', '/api/product/label/create', { productId: ids.product, title: 'x' }),
    (user, ids) => user.send('PUT', '/api/product/label', { id: ids.label, title: 'x' }),
    (user, ids) => user.send('POST', '/api/product/label/execute/PUBLISH_LABEL', { id: ids.label }),
    (user, ids) => user.send('POST', '/api/product/label/execute/UNPUBLISH_LABEL', { id: ids.label }),
    (user, ids) => user.send('DELETE', `/api/product/label/${ids.label}`),
  ];

test('to another company a product and its labels are answered exactly as ids that nothing has', async () => {
  const before = await read(ours.user, product);
  const nothing = 2_000_000_000;
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...asks), fc.boolean(), fc.boolean(), async (ask, asText, asMember) => {
      const user = asMember ? theirs.user : await trace.loggedIn();
      const id = (value: number) => (asText ? String(value) : value);
      const foreign = await ask(user, { product: id(product), label: id(label.id) });
      const unknown = await ask(user, { product: id(nothing), label: id(nothing) });
      expect([foreign.status, foreign.text]).toEqual([404, unknown.text]);
      expect(unknown.status).toBe(404);
    }),
    { numRuns: 40 },
  );
  expect(await read(ours.user, product)).toEqual(before);
  expect(JSON.stringify((await theirs.user.send('GET', '/api/product/list')).body)).not.toContain('secret');
  expect((await trace.send('GET', `/api/public/product/label/${label.uuid}`)).status).toBe(404);
});

test("ids of others inside a body of one's own change nothing of theirs", async () => {
  const before = await read(ours.user, product);
  const own = await added(theirs.user, {
    id: product,
    name: 'Their own',
    labels: { id: label.id, uuid: label.uuid },
  });
  expect(own).not.toBe(product);
  const body = {
    id: own,
    labels: [
      { id: label.id, title: 'x' },
      { uuid: label.uuid, title: 'y' },
    ],
  };
  expect((await theirs.user.send('PUT', '/api/product', body)).status).toBe(200);
  const labels = (await read(theirs.user, own)).labels as { id: number; uuid: string }[];
  expect(labels).toHaveLength(2);
  for (const { id, uuid } of labels) expect([id, uuid]).not.toEqual([label.id, label.uuid]);

  const moved = await theirs.user.send('PUT', '/api/product', { id: own, company: { id: ours.companyId } });
  const lost = await theirs.user.send('PUT', '/api/product', { id: own, company: { id: 2_000_000_000 } });
  expect([moved.status, moved.text]).toEqual([400, lost.text]);
  expect(await read(ours.user, product)).toEqual(before);
  const list = await theirs.user.send('GET', `/api/product/list?companyId=${ours.companyId}`);
  expect(list.body.data).toMatchObject({ items: [], count: 0 });
});

test('a list holds what its reader may see: of their companies, of partners, of their own; each once', async () => {
  const trader = await trace.loggedIn();
  const companies = [await companyOf(trace, 'A', [trader]), await companyOf(trace, 'B', [trader])];
  const own = await added(trader, { name: 'list own' });
  const first = await added(trader, { name: 'list Áccent', company: { id: companies[0] } });
  const both = companies.map(id => ({ company: { id }, type: 'TRADER' }));
  const shared = await added(ours.user, { name: 'list shared', associatedCompanies: both });
  await added(ours.user, { name: 'list hidden' });

  const ids = async (user: LoggedIn, query: string, path = 'list') => {
    const { body } = await user.send('GET', `/api/product/${path}?${query}`);
    const found = (body.data.items as { id: number }[]).map(({ id }) => id);
    expect(body.data.count).toBeGreaterThanOrEqual(found.length);
    return found;
  };
  expect(await ids(trader, '')).toEqual([shared, first, own]);
  expect(await ids(trader, 'sort=ASC')).toEqual([own, first, shared]);
  expect(await ids(trader, 'sortBy=name&sort=ASC')).toEqual([own, shared, first]);
  expect(await ids(trader, 'sortBy=updatedAt&limit=1&offset=1')).toEqual([first]);
  const count = async (query: string) =>
    (await trader.send('GET', `/api/product/list?${query}`)).body.data.count;
  for (const query of ['', 'limit=1', 'limit=3', 'limit=2&offset=2', 'offset=3', 'limit=3&offset=3']) {
    expect(await count(query), query).toBe(3);
  }
  expect(await ids(trader, `companyId=${ours.companyId}`)).toEqual([shared]);
  expect(await ids(trader, `query=${encodeURIComponent('A\u0301CC')}`)).toEqual([first]);
  expect(await ids(trader, 'query=hidden')).toEqual([]);
  expect(await ids(trader, 'query=%25')).toEqual([]);
  expect(await ids(admin, 'query=LIST', 'admin/list')).toHaveLength(4);
  expect(await ids(admin, 'query=s', 'admin/list')).toContain(product);
  expect(await ids(admin, '')).toEqual([]);
  expect(await ids(trader, 'sortBy=content')).toEqual(await ids(trader, 'sortBy=id'));
});
