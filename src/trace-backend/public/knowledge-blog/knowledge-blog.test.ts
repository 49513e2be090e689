import { afterAll, beforeAll, expect, test } from 'vitest';
import { added, type Tenant, tenant } from '../../../../test/helpers/chain.ts';
import { uploadFile } from '../../../../test/helpers/images.ts';
import { type RunningTrace, runningTrace } from '../../../../test/helpers/trace.ts';

let trace: RunningTrace;
let kopanyi: Tenant;
let stranger: Tenant;
beforeAll(async () => {
  trace = await runningTrace();
  kopanyi = await tenant(trace, 'Kopanyi');
  stranger = await tenant(trace, 'Stranger');
});
afterAll(() => trace.stop());

const send = (method: string, path: string, body?: object) => kopanyi.user.send(method, path, body);
const PATH = '/api/product/knowledgeBlog';

/** The form of the front end. */
const form = (more: object = {}) => ({
  type: '',
  content: '<p>Content</p>',
  date: null,
  documents: [],
  summary: '<p>Abstract</p>',
  title: 'How we pay',
  youtubeUrl: null,
  ...more,
});

test('entries are added by the form, listed, changed, and recorded in the history of the product', async () => {
  const productId = await added(kopanyi.user, { name: 'Tea' });
  const paper = (await uploadFile(trace, kopanyi.user, 'document', Buffer.from('%PDF-1.4'))).body.data;
  expect((await send('POST', `${PATH}/${productId}`, form())).body).toEqual({ status: 'OK' });
  const more = { title: 'Altitude', type: 'QUALITY', date: '2026-03-01', documents: [paper] };
  await send('POST', `${PATH}/${productId}`, form(more));
  const list = async (query: string) => (await send('GET', `${PATH}/list/${productId}${query}`)).body.data;
  const { items } = await list('?limit=10&offset=0&sortBy=title&sort=ASC');
  const [second, first] = items;
  expect(items).toEqual([
    { id: expect.any(Number), type: 'QUALITY', title: 'Altitude', date: '2026-03-01' },
    { id: expect.any(Number), title: 'How we pay' },
  ]);
  expect((await list('?type=QUALITY')).items).toEqual([second]);
  expect((await list('?requestType=COUNT')).count).toBe(2);
  expect((await send('GET', `${PATH}/${second.id}`)).body.data).toEqual({
    ...second,
    content: '<p>Content</p>',
    summary: '<p>Abstract</p>',
    documents: [paper],
  });
  const change = form({ id: first.id, type: 'FAIRNESS', title: 'What we pay', date: '', content: '' });
  expect((await send('PUT', PATH, change)).body).toEqual({ status: 'OK' });
  expect((await send('GET', `${PATH}/${first.id}`)).body.data).toEqual({
    id: first.id,
    type: 'FAIRNESS',
    title: 'What we pay',
    content: '',
    summary: '<p>Abstract</p>',
    documents: [],
  });
  const { rows } = await trace.pool.query(
    'SELECT path FROM product_changes WHERE product_id = $1 ORDER BY id',
    [productId],
  );
  expect(rows.map(({ path }) => path)).toContain(`knowledgeBlogs.${first.id}.title`);
  for (const body of [form({ title: null }), form({ type: 'GOSSIP' }), form({ date: '2026-13-01' })]) {
    expect((await send('POST', `${PATH}/${productId}`, body)).status).toBe(400);
  }
});

test('entries are public with a published label of the product, unless its knowledgeBlog is false', async () => {
  const productId = await added(kopanyi.user, { name: 'Tea', labels: { title: 'Tea' } });
  await send('POST', `${PATH}/${productId}`, form());
  const { id } = (await send('GET', `${PATH}/list/${productId}`)).body.data.items[0];
  const look = async () => (await trace.send('GET', `/api/public/product/knowledgeBlog/${id}`)).status;
  expect(await look()).toBe(404);
  const [label] = (await send('GET', `/api/product/${productId}/labels`)).body.data;
  await send('POST', '/api/product/label/execute/PUBLISH_LABEL', { id: label.id });
  expect(await look()).toBe(200);
  await send('PUT', '/api/product', { id: productId, knowledgeBlog: false });
  expect(await look()).toBe(404);
});

test("another tenant's blog does not exist", async () => {
  const productId = await added(kopanyi.user, { name: 'Tea' });
  await send('POST', `${PATH}/${productId}`, form());
  const { id } = (await send('GET', `${PATH}/list/${productId}`)).body.data.items[0];
  for (const [method, path, body] of [
    ['GET', `${PATH}/${id}`, undefined],
    ['GET', `${PATH}/list/${productId}`, undefined],
    ['PUT', PATH, form({ id })],
    ['POST', `${PATH}/${productId}`, form()],
  ] as const) {
    expect((await stranger.user.send(method, path, body)).status, `${method} ${path}`).toBe(404);
  }
});

test('the second writer of the same version of an entry is refused', async () => {
  const productId = await added(kopanyi.user, { name: 'Tea' });
  await send('POST', `${PATH}/${productId}`, form());
  const [{ id }] = (await send('GET', `${PATH}/list/${productId}`)).body.data.items;
  const read = async () => {
    const { headers, body } = await send('GET', `${PATH}/${id}`);
    expect(body.data).not.toHaveProperty('version');
    return headers.get('etag') as string;
  };
  const write = (body: object, tag: string) =>
    kopanyi.user.send('PUT', PATH, { id, ...body }, { 'if-match': tag });
  const tag = await read();
  const statuses = await Promise.all(
    [1, 2, 3].map(async n => (await write({ title: `Title ${n}` }, tag)).status),
  );
  expect(statuses.sort()).toEqual([200, 412, 412]);
  const now = await read();
  expect([tag, now]).toEqual(['"1"', '"2"']);
  await write({ summary: 'Same' }, now);
  await write({ summary: 'Same' }, '"3"');
  expect(await read()).toBe('"3"');
  const history = (await send('GET', `/api/product/${productId}/history?limit=100`)).body.data.items;
  expect(history.map(({ path }: { path: string }) => path).join(' ')).not.toContain('.version');
});
