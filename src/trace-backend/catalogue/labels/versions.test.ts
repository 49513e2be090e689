import { afterAll, beforeAll, expect, test } from 'vitest';
import { added, type Tenant, tenant } from '../../../../test/helpers/chain.ts';
import { type RunningTrace, runningTrace } from '../../../../test/helpers/trace.ts';

let trace: RunningTrace;
let kopanyi: Tenant;
beforeAll(async () => {
  trace = await runningTrace();
  kopanyi = await tenant(trace, 'Kopanyi');
});
afterAll(() => trace.stop());

const LABEL = '/api/product/label';
const BATCH = '/api/product/label_batch';
const send = (method: string, path: string, body?: object, tag?: string) =>
  kopanyi.user.send(method, path, body, tag === undefined ? {} : { 'if-match': tag });
const tagOf = async (path: string) => (await send('GET', path)).headers.get('etag') as string;

async function labelled() {
  const productId = await added(kopanyi.user, { name: 'Tea', description: 'Green' });
  const created = await send('POST', `${LABEL}/create`, { productId, title: 'Tea' });
  expect(created.headers.get('etag')).toBe('"1"');
  return { productId, id: created.body.data.id as number };
}

test('the second writer of the same version of a label is refused, whatever each changes', async () => {
  const writes = (id: number) =>
    [
      ['PUT', LABEL, { id, title: 'First' }],
      ['PUT', `${LABEL}/content`, { labelId: id, description: 'First' }],
      ['PUT', `${LABEL}/values`, { id, fields: [{ name: 'note', value: 'First' }] }],
      ['POST', `${LABEL}/execute/PUBLISH_LABEL`, { id }],
      ['DELETE', `${LABEL}/${id}`, undefined],
    ] as const;
  type Write = ReturnType<typeof writes>[number];
  const count = writes(0).length;
  for (let first = 0; first < count - 1; first++) {
    for (let second = 0; second < count; second++) {
      if (first === second) continue;
      const { id } = await labelled();
      const tag = await tagOf(`${LABEL}/${id}`);
      const write = (index: number, read: string) => {
        const [method, path, body] = writes(id)[index] as Write;
        return send(method, path, body, read);
      };
      const names = `${first}, then ${second}`;
      expect((await write(first, tag)).status, names).toBe(200);
      const lost = await write(second, tag);
      expect([lost.status, lost.body.status], names).toEqual([412, 'INVALID_REQUEST']);
      expect(await tagOf(`${LABEL}/${id}`)).toBe('"2"');
      expect((await write(second, '"2"')).status, names).toBe(200);
    }
  }
});

test('each answer about a label has its version, which only its changes increase', async () => {
  const { id, productId } = await labelled();
  const paths = [
    `${LABEL}/${id}`,
    `${LABEL}/content/${id}`,
    `${LABEL}/values/${id}`,
    `${LABEL}/${id}/documents`,
  ];
  const tags = async () => new Set(await Promise.all(paths.map(tagOf)));
  const saved = await send('PUT', '/api/company/profile', {
    id: kopanyi.companyId,
    documents: [{ type: 'FILE', category: 'PRODUCTION_RECORD', name: 'Drying' }],
  });
  expect(saved.status, saved.text).toBe(200);
  const [document] = (await send('GET', `${LABEL}/${id}/documents`)).body.data;
  const documents = [{ id: document.id, active: true }];
  const { uuid } = (await send('GET', `${LABEL}/${id}`)).body.data;
  let version = 1;
  for (const [method, path, body] of [
    ['PUT', LABEL, { id, title: 'Green tea' }],
    ['PUT', `${LABEL}/content`, { labelId: id, name: 'Green tea' }],
    ['PUT', `${LABEL}/values`, { id, fields: [{ name: 'note', value: 'Fine' }] }],
    ['PUT', `${LABEL}/${id}/documents`, documents],
    ['PUT', '/api/product', { id: productId, labels: [{ id, uuid, title: 'Tea of Kopanyi' }] }],
    ['POST', `${LABEL}/execute/PUBLISH_LABEL`, { id }],
    ['POST', `${LABEL}/execute/UNPUBLISH_LABEL`, { id }],
  ] as const) {
    const answer = await send(method, path, body);
    expect(answer.status, `${method} ${path} ${answer.text}`).toBe(200);
    version += 1;
    expect(await tags(), path).toEqual(new Set([`"${version}"`]));
    if (path === LABEL) expect(answer.headers.get('etag')).toBe(`"${version}"`);
    await send(method, path, body);
    expect(await tags(), `${path} again`).toEqual(new Set([`"${version}"`]));
  }
  const stale = await send('PUT', `${LABEL}/${id}/documents`, [], '"1"');
  expect(stale.status).toBe(412);
  await send('PUT', '/api/product', { id: productId, description: 'Black' });
  await send('POST', `${BATCH}/create`, { labelId: id, number: 'B-1' });
  expect(await tags()).toEqual(new Set([`"${version}"`]));
});

test('one of several concurrent writers of a version succeeds, for labels and batches', async () => {
  const { id: labelId } = await labelled();
  const { id } = (await send('POST', `${BATCH}/create`, { labelId, number: 'B-1' })).body.data;
  const once = [200, 412, 412, 412];
  const statuses = async (write: (n: number) => Promise<{ status: number }>) =>
    (await Promise.all([1, 2, 3, 4].map(write))).map(({ status }) => status).sort();
  expect(await statuses(n => send('PUT', LABEL, { id: labelId, title: `Tea ${n}` }, '"1"'))).toEqual(once);
  expect(await statuses(n => send('PUT', BATCH, { id, number: `B-${n + 1}` }, '"1"'))).toEqual(once);
  expect(await tagOf(`${BATCH}/${id}`)).toBe('"2"');
  await send('PUT', BATCH, { id, traceOrigin: true });
  await send('PUT', BATCH, { id, traceOrigin: true });
  expect(await tagOf(`${BATCH}/${id}`)).toBe('"3"');
  expect((await send('DELETE', `${BATCH}/${id}`, undefined, '"2"')).status).toBe(412);
  expect((await send('GET', `${BATCH}/${id}`)).body.data).not.toHaveProperty('version');
  expect((await send('DELETE', `${BATCH}/${id}`, undefined, '"3"')).status).toBe(200);
});

test("the case of a batch's number is ignored for uniqueness and searches", async () => {
  const { id: labelId } = await labelled();
  const create = (number: string) => send('POST', `${BATCH}/create`, { labelId, number, traceOrigin: true });
  const { id } = (await create('lot-7é')).body.data;
  const other = (await create('lot-8')).body.data.id;
  for (const refused of [await create('LOT-7É'), await send('PUT', BATCH, { id: other, number: 'Lot-7é' })]) {
    expect([refused.status, Object.keys(refused.body.validationErrorDetails.fieldErrors)]).toEqual([
      400,
      ['number'],
    ]);
  }
  expect((await send('PUT', BATCH, { id, number: 'Lot-7É' })).status).toBe(200);
  const { uuid } = (await send('POST', `${LABEL}/execute/PUBLISH_LABEL`, { id: labelId })).body.data;
  const found = async (number: string) =>
    (await trace.send('GET', `/api/public/product/label_batch/${uuid}/${encodeURIComponent(number)}`)).body
      .data?.id;
  expect([await found('lot-7é'), await found('LOT-7É'), await found('lot-7')]).toEqual([id, id, undefined]);
});

test('older batches with numbers that differ only in case stay, can be changed, and are found by exact match first', async () => {
  const { id: labelId } = await labelled();
  const { id } = (await send('POST', `${BATCH}/create`, { labelId, number: 'lot-7' })).body.data;
  const { rows } = await trace.pool.query(
    `INSERT INTO label_batches (label_id, number, locations, created_at, updated_at)
     VALUES ($1, 'LOT-7', '[]', now(), now()) RETURNING id`,
    [labelId],
  );
  const twin = rows[0].id;
  for (const each of [id, twin]) {
    const number = each === id ? 'lot-7' : 'LOT-7';
    expect((await send('PUT', BATCH, { id: each, number, traceOrigin: true })).status).toBe(200);
  }
  expect((await send('PUT', BATCH, { id: twin, number: 'lot-7' })).status).toBe(400);
  const { uuid } = (await send('POST', `${LABEL}/execute/PUBLISH_LABEL`, { id: labelId })).body.data;
  const found = async (number: string) =>
    (await trace.send('GET', `/api/public/product/label_batch/${uuid}/${number}`)).body.data.id;
  expect([await found('lot-7'), await found('LOT-7'), await found('Lot-7')]).toEqual([id, twin, id]);
});
