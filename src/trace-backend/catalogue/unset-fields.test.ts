import { Ajv } from 'ajv';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { added, read, type Tenant, tenant } from '../../../test/helpers/chain.ts';
import { definitionOf, type JsonSchema } from '../../../test/helpers/definition.ts';
import { type RunningTrace, runningTrace } from '../../../test/helpers/trace.ts';

let trace: RunningTrace;
let kopanyi: Tenant;
let definition: JsonSchema;
beforeAll(async () => {
  trace = await runningTrace();
  kopanyi = await tenant(trace, 'Kopanyi');
  definition = await definitionOf(trace.send, '/v3/api-docs');
});
afterAll(() => trace.stop());

const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
const send = (method: string, path: string, body?: object) => kopanyi.user.send(method, path, body);

/** Reads something, and checks the answer against the definition. */
async function readAsDefined(path: string, operation: string) {
  const answer = await send('GET', path);
  expect(answer.status, answer.text).toBe(200);
  const { schema } = definition.paths[operation].get.responses['200'].content['application/json'];
  const validate = ajv.compile(schema);
  validate(answer.body);
  expect([path, validate.errors]).toEqual([path, null]);
  return answer.body.data;
}

const LOCATION = { latitude: '', longitude: '', numberOfFarmers: '', countryCode: '', pinName: 'Station' };
const EMPTY_DOCUMENT = { id: '', size: '', name: 'Form' };
const PLOT = { geoid: '', geometry: '', areaInHectares: '', address: { village: 'Kibogora', country: '' } };
/** A product with every field cleared that can be cleared inside a list or a document. */
const product = () => ({
  name: 'Tea',
  photo: EMPTY_DOCUMENT,
  origin: { locations: [{ ...LOCATION, ...PLOT, slope: null }] },
  journeyMarkers: [{ latitude: '', longitude: 30 }],
  settings: { incomeIncreaseDocument: EMPTY_DOCUMENT, costBreakdown: '', language: '' },
  businessToCustomerSettings: { productFont: EMPTY_DOCUMENT, orderQuality: '', tabQuality: '' },
  dataSharingAgreements: [{ description: 'x', document: '' }, { document: EMPTY_DOCUMENT }],
  process: { production: 'Washed', steps: ['pulp', null, { ferment: null }] },
});

test('fields cleared inside a list or a document of a product are absent, and unknown fields stay', async () => {
  const id = await added(kopanyi.user, product());
  const answer = await readAsDefined(`/api/product/${id}`, '/api/product/{id}');
  expect(answer).toMatchObject({
    photo: { name: 'Form' },
    origin: { locations: [{ pinName: 'Station', address: { village: 'Kibogora' }, slope: null }] },
    journeyMarkers: [{ longitude: 30 }],
    settings: { incomeIncreaseDocument: { name: 'Form' } },
    process: { steps: ['pulp', null, { ferment: null }] },
  });
  const { rows } = await trace.pool.query('SELECT content FROM products WHERE id = $1', [id]);
  expect(rows[0].content.origin.locations).toEqual([
    { pinName: 'Station', address: { village: 'Kibogora' }, slope: null },
  ]);
  const { data: label } = (await send('POST', '/api/product/label/create', { productId: id })).body;
  const content = { labelId: label.id, ...product(), dataSharingAgreements: undefined };
  expect((await send('PUT', '/api/product/label/content', content)).status).toBe(200);
  const copied = await readAsDefined(
    `/api/product/label/content/${label.id}`,
    '/api/product/label/content/{id}',
  );
  expect(copied.origin.locations).toEqual(rows[0].content.origin.locations);
});

test('fields that an earlier version stored as null are absent, too', async () => {
  const id = await added(kopanyi.user, { name: 'Tea' });
  const stored = {
    origin: { locations: [{ latitude: null, longitude: 5 }] },
    journeyMarkers: [{ latitude: null }],
  };
  await trace.pool.query('UPDATE products SET content = $1 WHERE id = $2', [stored, id]);
  expect(await readAsDefined(`/api/product/${id}`, '/api/product/{id}')).toMatchObject({
    origin: { locations: [{ longitude: 5 }] },
    journeyMarkers: [{}],
  });
  expect((await read(kopanyi.user, id)).origin.locations[0]).not.toHaveProperty('latitude');
});

test('fields cleared inside a location of a batch are absent', async () => {
  const productId = await added(kopanyi.user, { name: 'Tea' });
  const { data: label } = (await send('POST', '/api/product/label/create', { productId })).body;
  const body = { labelId: label.id, number: 'B-1', traceOrigin: true, photo: EMPTY_DOCUMENT };
  const locations = [{ ...LOCATION, address: { village: 'Kibogora', country: '' } }];
  const created = await send('POST', '/api/product/label_batch/create', { ...body, locations });
  expect(created.status, created.text).toBe(200);
  const { id } = created.body.data;
  const expected = [{ pinName: 'Station', address: { village: 'Kibogora' } }];
  const path = '/api/product/label_batch/{id}';
  expect((await readAsDefined(path.replace('{id}', id), path)).locations).toEqual(expected);
  await trace.pool.query('UPDATE label_batches SET locations = $1 WHERE id = $2', [
    JSON.stringify([{ latitude: null, pinName: 'Station' }]),
    id,
  ]);
  expect((await readAsDefined(path.replace('{id}', id), path)).locations).toEqual([{ pinName: 'Station' }]);
});

test('documents and certifications of companies leave out cleared fields', async () => {
  const documents = [{ type: '', category: '', id: '', document: '', name: 'Film' }];
  const certifications = [{ id: '', certificate: '', type: 'Organic' }];
  const id = kopanyi.companyId;
  const changed = await send('PUT', '/api/company/profile', { id, documents, certifications });
  expect(changed.status, changed.text).toBe(200);
  const path = '/api/company/profile/{id}';
  const { data: company } = { data: await readAsDefined(path.replace('{id}', String(id)), path) };
  expect(company.documents).toEqual([{ id: expect.any(Number), name: 'Film' }]);
  expect(company.certifications).toEqual([{ id: expect.any(Number), type: 'Organic' }]);
});

test("only a text, a number or a boolean is accepted as the value of a label's field", async () => {
  const productId = await added(kopanyi.user, { name: 'Tea' });
  const fields = [{ name: 'Altitude', section: 'Origin', value: 1700 }];
  const { data: label } = (await send('POST', '/api/product/label/create', { productId, fields })).body;
  const give = (value: unknown) =>
    send('PUT', '/api/product/label/values', {
      id: label.id,
      fields: [
        { name: 'process.production', value: 'Washed' },
        { name: 'Altitude', value },
      ],
    });
  for (const value of [{ from: 1 }, [1], ['x'], {}, [], 'x'.repeat(10_001)]) {
    const { status, body } = await give(value);
    expect([value, status]).toEqual([value, 400]);
    expect(Object.keys(body.validationErrorDetails.fieldErrors)).toEqual(['fields.1.value']);
  }
  for (const value of ['high', '', 1700.5, true, null, undefined]) {
    expect((await give(value)).status).toBe(200);
    await readAsDefined(`/api/product/label/${label.id}`, '/api/product/label/{id}');
    await readAsDefined(`/api/product/${productId}`, '/api/product/{id}');
  }
  expect((await readAsDefined(`/api/product/label/${label.id}`, '/api/product/label/{id}')).fields).toEqual([
    { name: 'Altitude', section: 'Origin', value: true },
  ]);
});
