import { afterAll, beforeAll, expect, test } from 'vitest';
import { added, type Tenant, tenant } from '../../../../../test/helpers/chain.ts';
import { picture, uploadFile } from '../../../../../test/helpers/images.ts';
import { type RunningTrace, runningTrace } from '../../../../../test/helpers/trace.ts';

let trace: RunningTrace;
let kopanyi: Tenant;
let stranger: Tenant;
beforeAll(async () => {
  trace = await runningTrace({ TRUST_PROXY: 'true' });
  kopanyi = await tenant(trace, 'Kopanyi');
  stranger = await tenant(trace, 'Stranger');
});
afterAll(() => trace.stop());

const send = (method: string, path: string, body?: object) => kopanyi.user.send(method, path, body);
const execute = (action: string, id: number) => send('POST', `/api/product/label/execute/${action}`, { id });

async function labelled(isPublished = true) {
  const productId = await added(kopanyi.user, { name: 'Tea' });
  const { data: label } = (await send('POST', '/api/product/label/create', { productId, title: 'Tea' })).body;
  if (isPublished) await execute('PUBLISH_LABEL', label.id);
  return { productId, label };
}

/** The form of the front end. */
const form = (labelId: number, number: string, more: object = {}) => ({
  id: null,
  labelId,
  number,
  productionDate: null,
  expiryDate: null,
  locations: [],
  photo: null,
  checkAuthenticity: null,
  traceOrigin: null,
  ...more,
});
const create = (body: object) => send('POST', '/api/product/label_batch/create', body);
const made = async (body: object): Promise<number> => (await create(body)).body.data.id;

test('a batch is created by the form, listed, changed and removed, in the history of the product', async () => {
  const { label, productId } = await labelled();
  const photo = (await uploadFile(trace, kopanyi.user, 'image', await picture(9, 9).png().toBuffer())).body
    .data;
  const first = await made(form(label.id, 'B-001'));
  const locations = [{ latitude: -1.95, longitude: '30.06', pinName: 'Station', numberOfFarmers: '12' }];
  const full = {
    productionDate: '2026-03-01T10:00:00.000Z',
    expiryDate: '2027-03-01',
    locations,
    photo: { storageKey: photo.storageKey },
    checkAuthenticity: 'true',
    traceOrigin: true,
  };
  const second = await made(form(label.id, 'B-002', full));
  const whole = {
    id: second,
    labelId: label.id,
    number: 'B-002',
    productionDate: '2026-03-01',
    expiryDate: '2027-03-01',
    photo,
    locations: [{ latitude: -1.95, longitude: 30.06, pinName: 'Station', numberOfFarmers: 12 }],
    checkAuthenticity: true,
    traceOrigin: true,
  };
  expect((await send('GET', `/api/product/label_batch/${second}`)).body.data).toEqual(whole);
  const list = async (query: string) =>
    (await send('GET', `/api/product/label/${label.id}/batches${query}`)).body.data;
  const bare = { id: first, labelId: label.id, number: 'B-001', locations: [] };
  expect(await list('?limit=10&offset=0&sortBy=number&sort=ASC')).toEqual({
    items: [bare, whole],
    count: 2,
    offset: 0,
    limit: 10,
  });
  expect((await list('?number=b-002')).items).toEqual([whole]);
  expect(await list('?number=COUNT')).toMatchObject({ items: [], count: 0 });

  expect((await create(form(label.id, 'B-001'))).body.validationErrorDetails.fieldErrors).toEqual({
    number: expect.any(String),
  });
  expect((await create(form(label.id, 'B-3', { expiryDate: '2026-02-30' }))).status).toBe(400);
  const change = { ...whole, productId, number: 'B-2', expiryDate: '', photo: '' };
  expect((await send('PUT', '/api/product/label_batch', change)).body).toEqual({ status: 'OK' });
  const { expiryDate, photo: _, ...rest } = whole;
  expect((await send('GET', `/api/product/label_batch/${second}`)).body.data).toEqual({
    ...rest,
    number: 'B-2',
  });
  expect((await send('DELETE', `/api/product/label_batch/${first}`)).status).toBe(200);
  expect((await send('DELETE', `/api/product/label_batch/${first}`)).status).toBe(404);
  const { items } = (await send('GET', `/api/product/${productId}/history?sort=ASC`)).body.data;
  const path = `labels.${label.id}.batches.${second}`;
  expect(items.map((change: { path: string }) => change.path)).toEqual(
    expect.arrayContaining([path, `${path}.number`, `${path}.expiryDate`, `${path}.photo`]),
  );
});

test('the public label has the number of batches, and anybody checks one by its number and dates', async () => {
  const { label } = await labelled();
  const locations = [{ latitude: 1, longitude: 2, pinName: 'Hill' }];
  const dates = { productionDate: '2026-03-01', expiryDate: '2027-03-01' };
  await made(form(label.id, 'A', { ...dates, checkAuthenticity: true }));
  await made(form(label.id, 'O', { ...dates, locations, traceOrigin: true }));
  await made(form(label.id, 'N', { ...dates, locations }));
  const base = '/api/public/product/label';
  const get = async (path: string) => (await trace.send('GET', path)).body.data;
  expect(await get(`${base}/${label.uuid}`)).toMatchObject({
    numberOfBatches: 3,
    checkAuthenticityCount: 1,
    traceOriginCount: 1,
  });
  const isAuthentic = (query: string) => get(`${base}/${label.uuid}/verify_batch_authenticity?${query}`);
  expect(await isAuthentic('number=A&productionDate=2026-03-01&expiryDate=2027-03-01')).toBe(true);
  for (const wrong of [
    'number=A&productionDate=2026-03-01',
    'number=A&productionDate=2026-03-02&expiryDate=2027-03-01',
    'number=N&productionDate=2026-03-01&expiryDate=2027-03-01',
    'number=X',
    '',
  ]) {
    expect(await isAuthentic(wrong), wrong).toBe(false);
  }
  const origin = (number: string) => get(`${base}/${label.uuid}/verify_batch_origin?number=${number}`);
  expect([await origin('O'), await origin('N'), await origin('X')]).toEqual([locations, [], []]);

  const batch = (number: string) => get(`/api/public/product/label_batch/${label.uuid}/${number}`);
  expect(await batch('A')).toEqual({
    id: expect.any(Number),
    labelId: label.id,
    number: 'A',
    locations: [],
    checkAuthenticity: true,
  });
  expect(await batch('O')).toMatchObject({ ...dates, locations });
  expect(await batch('N')).toMatchObject({ ...dates, locations: [] });
  expect(await batch('X')).toBeUndefined();

  await execute('UNPUBLISH_LABEL', label.id);
  for (const path of [
    `${base}/${label.uuid}/verify_batch_authenticity?number=A`,
    `${base}/${label.uuid}/verify_batch_origin?number=O`,
    `/api/public/product/label_batch/${label.uuid}/O`,
  ]) {
    expect((await trace.send('GET', path)).status, path).toBe(404);
  }
});

test('visits and checks are counted once per address, in the statistics of the label, and limited', async () => {
  const { label } = await labelled();
  await made(form(label.id, 'A', { checkAuthenticity: true }));
  const from = (ip: string) => ({ 'x-forwarded-for': ip });
  const check = (number: string, ip: string) =>
    trace.send(
      'GET',
      `/api/public/product/label/${label.uuid}/verify_batch_authenticity?number=${number}`,
      undefined,
      from(ip),
    );
  for (const ip of ['192.0.2.1', '192.0.2.1', '192.0.2.2']) await check('A', ip);
  await check('X', '192.0.2.1');
  await trace.send(
    'GET',
    `/api/public/product/label/${label.uuid}/verify_batch_origin?number=A`,
    undefined,
    from('192.0.2.1'),
  );
  for (const ip of ['192.0.2.1', '192.0.2.1', '192.0.2.2']) {
    await trace.send('GET', `/api/public/product/label/${label.uuid}`, undefined, from(ip));
  }
  const statistics = await send('GET', `/api/product/label/analytics/${label.uuid}`);
  expect(statistics.body.data).toEqual({
    visits: 2,
    visitsCountries: { unknown: 2 },
    visitsLocations: { unknown: 2 },
    authTrue: 2,
    authFalse: 1,
    authCountries: { unknown: 3 },
    authLocations: { unknown: 3 },
    originTrue: 0,
    originFalse: 1,
    originCountries: { unknown: 1 },
    originLocations: { unknown: 1 },
  });
  const statuses = await Promise.all(Array.from({ length: 61 }, () => check('A', '192.0.2.9')));
  expect(statuses.map(({ status }) => status).filter(status => status === 429)).toHaveLength(1);
  expect((await stranger.user.send('GET', `/api/product/label/analytics/${label.uuid}`)).status).toBe(404);
});

test("another tenant's batches do not exist", async () => {
  const { label } = await labelled();
  const id = await made(form(label.id, 'A'));
  const { user } = stranger;
  for (const [method, path, body] of [
    ['GET', `/api/product/label_batch/${id}`, undefined],
    ['DELETE', `/api/product/label_batch/${id}`, undefined],
    ['PUT', '/api/product/label_batch', { id, number: 'Mine' }],
    ['POST', '/api/product/label_batch/create', form(label.id, 'B')],
    ['GET', `/api/product/label/${label.id}/batches`, undefined],
  ] as const) {
    expect((await user.send(method, path, body)).status, `${method} ${path}`).toBe(404);
  }
});
