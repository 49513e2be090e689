import { afterAll, beforeAll, expect, test } from 'vitest';
import { added, read, type Tenant, tenant } from './helpers/chain.ts';
import { type JsonSchema, operationsOf } from './helpers/definition.ts';
import { type RunningTrace, runningTrace } from './helpers/trace.ts';

let trace: RunningTrace;
let kopanyi: Tenant;
beforeAll(async () => {
  trace = await runningTrace();
  kopanyi = await tenant(trace, 'Kopanyi');
});
afterAll(() => trace.stop());

const send = (method: string, path: string, body?: object) => kopanyi.user.send(method, path, body);

/** Keys that a record cannot have. */
const REFUSED = ['', 'a\nb', 'a\rb', 'a\u2028b', 'a\u2029b', '\u0085', 'a\tb', '\u007f', 'x'.repeat(256)];
/** Keys that it can have. */
const TAKEN = ['farmer', 'Größe (m²)', 'x'.repeat(255), ' ', '__proto__', 'toString', '🌱'];

const record = (keys: readonly string[], value: unknown) => {
  const made = {};
  for (const key of keys) Object.defineProperty(made, key, { value, enumerable: true, configurable: true });
  return made;
};

async function publishedLabel(): Promise<{ id: number; uuid: string }> {
  const productId = await added(kopanyi.user, { name: 'Tea' });
  const { data } = (await send('POST', '/api/product/label/create', { productId })).body;
  await send('POST', '/api/product/label/execute/PUBLISH_LABEL', { id: data.id });
  return data;
}

/** Everything that takes a record: its path, a value that it takes, one that it does not, and how it is sent and read. */
async function records() {
  const label = await publishedLabel();
  const company = async () =>
    (await send('GET', `/api/company/profile/${kopanyi.companyId}`)).body.data.mediaLinks;
  const product = await added(kopanyi.user, { name: 'Tea' });
  const feedback = '/api/public/product/label/feedback';
  return [
    {
      path: 'mediaLinks',
      right: 'https://media.example',
      wrong: { x: 1 },
      send: (mediaLinks: object) => send('PUT', '/api/company/profile', { name: 'Kopanyi', mediaLinks }),
      read: company,
    },
    {
      path: 'settings.pricingTransparency',
      right: 4.2,
      wrong: { x: 1 },
      send: (pricingTransparency: object) =>
        send('PUT', '/api/product', { id: product, settings: { pricingTransparency } }),
      read: async () => (await read(kopanyi.user, product)).settings.pricingTransparency,
    },
    {
      path: 'company.mediaLinks',
      right: 'https://media.example',
      wrong: { x: 1 },
      send: (mediaLinks: object) =>
        send('PUT', '/api/product/label/content', { labelId: label.id, company: { mediaLinks } }),
      read: async () =>
        (await send('GET', `/api/product/label/content/${label.id}`)).body.data.company.mediaLinks,
    },
    {
      path: 'questionnaireAnswers',
      right: 'Better',
      wrong: { x: 1 },
      send: (questionnaireAnswers: object) =>
        trace.send('POST', `${feedback}/${label.uuid}`, { questionnaireAnswers }),
      read: async () =>
        (await send('GET', `${feedback}/list/${label.uuid}`)).body.data.items[0].questionnaireAnswers,
    },
  ];
}

test('a key of a record is one line of 1 to 255 characters, and its value is checked whatever the key', async () => {
  for (const { path, right, wrong, ...target } of await records()) {
    for (const key of REFUSED) {
      const { status, body } = await target.send(record([key], right));
      expect([path, key, status]).toEqual([path, key, 400]);
      expect(Object.keys(body.validationErrorDetails.fieldErrors)).toEqual([path]);
      expect(body.errorMessage).toBe(
        `${path}: the key ${JSON.stringify(key).slice(0, 40)} must be one line of 1 to 255 characters`,
      );
    }
    for (const key of TAKEN) {
      const { status, body } = await target.send(record([key], wrong));
      expect([path, key, status]).toEqual([path, key, 400]);
      expect(body.errorMessage).toContain(path);
    }
    const whole = record(TAKEN, right);
    const { status, text } = await target.send(whole);
    expect([path, status, text]).toEqual([path, 200, expect.any(String)]);
    expect(Object.entries(await target.read()).sort(), path).toEqual(Object.entries(whole).sort());
  }
});

test('records that were stored before keys were checked are read completely', async () => {
  const links = { 'a\nb': 'https://media.example/1', 'a\u2028b': 'https://media.example/2' };
  await trace.pool.query('UPDATE companies SET media_links = $1 WHERE id = $2', [links, kopanyi.companyId]);
  const { body } = await send('GET', `/api/company/profile/${kopanyi.companyId}`);
  expect(body.data.mediaLinks).toEqual(links);
});

test('the path of a field in a refusal keeps any characters', async () => {
  const settings = { pricingTransparency: { farmer: 'x' }, 'a\nb': 1 };
  const locations = [{ 'a\nb': 1, latitude: 'north' }];
  const { body } = await send('POST', '/api/product/create', {
    name: 'Tea',
    settings,
    origin: { locations },
  });
  expect(Object.keys(body.validationErrorDetails.fieldErrors).sort()).toEqual([
    'origin.locations.0.latitude',
    'settings.pricingTransparency.farmer',
  ]);
});

test('the value of a label field is checked whatever the key of a record in its name', async () => {
  const { id } = await publishedLabel();
  const change = (name: string, value: unknown) =>
    send('PUT', '/api/product/label/values', { id, fields: [{ name, section: 's', value }] });
  for (const name of [
    'company.mediaLinks.',
    'company.mediaLinks.a\nb',
    'settings.pricingTransparency.a\rb',
  ]) {
    expect([name, (await change(name, 1)).status]).toEqual([name, 400]);
  }
  expect((await change('settings.pricingTransparency.__proto__', { x: 1 })).status).toBe(400);
  expect((await change('settings.pricingTransparency.__proto__', 4)).status).toBe(200);
  const { settings } = (await send('GET', `/api/product/label/content/${id}`)).body.data;
  expect(Object.entries(settings.pricingTransparency)).toEqual([['__proto__', 4]]);
});

test('no record of the definition describes its keys by a pattern alone, and every record of a body limits them', async () => {
  const found: string[] = [];
  const look = (schema: JsonSchema, path: string, isSent: boolean) => {
    if (typeof schema !== 'object' || schema === null) return;
    expect(schema.patternProperties, path).toBeUndefined();
    const isRecord = typeof schema.additionalProperties === 'object';
    if (isRecord && isSent) {
      found.push(path);
      expect(schema.propertyNames, path).toMatchObject({ minLength: 1, maxLength: 255 });
      expect(schema.maxProperties, path).toBeTypeOf('number');
    }
    for (const [key, value] of Object.entries(schema)) look(value, `${path}/${key}`, isSent);
  };
  for (const { method, path, body, responses } of await operationsOf(trace.send, '/v3/api-docs')) {
    look(body, `${method} ${path}`, true);
    look(responses, `${method} ${path}`, false);
  }
  expect(found.length).toBeGreaterThan(4);
});
