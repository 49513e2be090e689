import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { added, companyOf, read, type Tenant, tenant } from '../../../../test/helpers/chain.ts';
import { picture, uploadFile } from '../../../../test/helpers/images.ts';
import { runs } from '../../../../test/helpers/property.ts';
import { type LoggedIn, type RunningTrace, runningTrace } from '../../../../test/helpers/trace.ts';

let trace: RunningTrace;
let kopanyi: Tenant;
let roastery: Tenant;
let admin: LoggedIn;
beforeAll(async () => {
  trace = await runningTrace();
  kopanyi = await tenant(trace, 'Kopanyi');
  roastery = await tenant(trace, 'Roastery');
  admin = await trace.loggedIn('SYSTEM_ADMIN');
});
afterAll(() => trace.stop());

const update = (user: LoggedIn, body: object, headers = {}) =>
  user.send('PUT', '/api/product', body, headers);
const wrong = (fields: object) => ({
  status: 'VALIDATION_ERROR',
  errorMessage: expect.any(String),
  validationErrorDetails: { fieldErrors: fields, fieldReasons: expect.any(Object) },
});

/** Every field of the interface document, with ids as strings, single objects for lists, and unknown fields. */
const whole = () => ({
  id: 99,
  name: 'Washed Bourbon',
  description: 'From the hills above the lake',
  origin: {
    text: 'Nyamasheke',
    locations: [
      {
        address: { village: 'Kibogora', country: { id: 184 } },
        latitude: -2.3264,
        longitude: 29.1421,
        numberOfFarmers: 312,
        pinName: 'Station',
      },
      { address: 'The hill', latitude: 0, longitude: -179.999999, slope: 1e-7 },
    ],
    altitude: { from: 1650.5, to: 1900 },
  },
  process: { production: 'Fully washed', steps: ['pulp', 'ferment', null] },
  responsibility: { laborPolicies: 'None younger than 16' },
  sustainability: { production: 'Shade', packaging: 'Jute', co2Footprint: '1.2 kg', score: -0.001 },
  associatedCompanies: { company: { id: String(roastery.companyId), name: 'x' }, type: 'BUYER' },
  company: { id: String(kopanyi.companyId), name: 'ignored', about: 5 },
  labels: { title: 'Bourbon', language: 'EN', fields: { name: 'Altitude', section: 'Origin', value: 1700 } },
  settings: {
    costBreakdown: true,
    pricingTransparency: { farmer: 4.2, transport: 0.35, big: 12345678901234, ['__proto__']: 1 },
    incomeIncreaseDescription: 'Twelve per cent',
    gdprText: '',
    language: 'EN',
    privacyPolicyText: 'p'.repeat(50_000),
    termsOfUseText: 't',
  },
  knowledgeBlog: false,
  surprise: 'ignored',
});

test('a product is returned as it was sent, including numbers and unknown fields of its parts', async () => {
  const sent = whole();
  const answer = await kopanyi.user.send('POST', '/api/product/create', sent);
  expect([answer.status, answer.body]).toEqual([200, { status: 'OK', data: { id: expect.any(Number) } }]);
  const { id } = answer.body.data;
  const owner = { id: kopanyi.companyId, name: 'Kopanyi' };
  const { surprise, ...parts } = sent;
  expect(await read(kopanyi.user, id)).toEqual({
    ...parts,
    id,
    company: {
      ...owner,
      status: 'ACTIVE',
      mediaLinks: {},
      documents: [],
      certifications: [],
      valueChains: [],
    },
    businessToCustomerSettings: {},
    valueChain: {},
    associatedCompanies: [
      { company: { id: roastery.companyId, name: 'Roastery' }, type: 'BUYER' },
      { company: owner, type: 'OWNER' },
    ],
    labels: [
      {
        id: expect.any(Number),
        productId: id,
        uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
        status: 'UNPUBLISHED',
        title: 'Bourbon',
        language: 'EN',
        fields: [sent.labels.fields],
      },
    ],
    createdAt: expect.any(String),
    updatedAt: expect.any(String),
  });
  expect(surprise).toBe('ignored');
});

test('unknown fields keep any JSON as it was sent, also after other changes', async () => {
  const part = fc.dictionary(
    fc.string({ minLength: 1 }).map(name => `our ${name}`),
    fc.jsonValue(),
  );
  const parts = fc.record({ origin: part, process: part, settings: part, sustainability: part });
  await fc.assert(
    fc.asyncProperty(parts, async sent => {
      // As JSON, which has no negative zero.
      const body = JSON.parse(JSON.stringify(sent));
      const fresh = await added(kopanyi.user, { name: 'Tea', ...body });
      await update(kopanyi.user, { id: fresh, process: { production: 'x' }, origin: { text: null } });
      const product = await read(kopanyi.user, fresh);
      expect(product.origin).toEqual(body.origin);
      expect(product.process).toEqual({ ...body.process, production: 'x' });
      expect(product.sustainability).toEqual(body.sustainability);
      expect(product.settings).toEqual({ pricingTransparency: {}, ...body.settings });
    }),
    { numRuns: runs(50) },
  );
});

test('sending a product back as it was read changes nothing, at both paths', async () => {
  const id = await added(kopanyi.user, whole());
  const before = await kopanyi.user.send('GET', `/api/product/${id}`);
  for (const path of ['/api/product', '/api/product/']) {
    const answer = await kopanyi.user.send('PUT', path, before.body.data);
    expect([answer.status, answer.body]).toEqual([200, { status: 'OK', data: { id } }]);
  }
  const after = await kopanyi.user.send('GET', `/api/product/${id}`);
  expect(after.body).toEqual(before.body);
  expect(after.headers.get('etag')).toBe('"1"');
});

test('omitted and null fields stay, an empty text clears, a sent list replaces the previous one', async () => {
  const id = await added(kopanyi.user, whole());
  const before = await read(kopanyi.user, id);
  await update(kopanyi.user, { id: String(id), name: 'Natural Bourbon', origin: { text: 'Rusizi' } });
  expect(await read(kopanyi.user, id)).toEqual({
    ...before,
    name: 'Natural Bourbon',
    origin: { ...before.origin, text: 'Rusizi' },
    updatedAt: expect.any(String),
  });

  const labels = [before.labels[0], { title: 'A second one' }];
  const locations = [{ pinName: 'Only this' }];
  await update(kopanyi.user, {
    id,
    description: '',
    process: '',
    responsibility: null,
    origin: { text: '', locations },
    settings: { pricingTransparency: { farmer: 5 } },
    associatedCompanies: [],
    labels,
  });
  const { process, ...rest } = before;
  expect(process).toBeDefined();
  expect(await read(kopanyi.user, id)).toEqual({
    ...rest,
    name: 'Natural Bourbon',
    description: '',
    origin: { text: '', altitude: before.origin.altitude, locations },
    settings: { ...before.settings, pricingTransparency: { farmer: 5 } },
    associatedCompanies: [{ company: { id: kopanyi.companyId, name: 'Kopanyi' }, type: 'OWNER' }],
    labels: [before.labels[0], expect.objectContaining({ title: 'A second one', fields: [] })],
    updatedAt: expect.any(String),
  });

  const unchanged = await read(kopanyi.user, id);
  await update(kopanyi.user, { id, name: null, labels: null, associatedCompanies: null });
  expect(await read(kopanyi.user, id)).toEqual(unchanged);
  await update(kopanyi.user, { id, labels: '', associatedCompanies: '' });
  expect(await read(kopanyi.user, id)).toMatchObject({
    labels: [],
    associatedCompanies: [{ type: 'OWNER' }],
  });
  expect((await update(kopanyi.user, { id, name: '' })).body).toEqual(wrong({ name: expect.any(String) }));
});

test('the fields of each part change one by one: omitted ones stay, and an empty text clears only one', async () => {
  const sent = whole();
  const parts = {
    origin: sent.origin,
    process: { ...sent.process, steps: ['pulp'] },
    responsibility: { ...sent.responsibility, audits: 2 },
    sustainability: sent.sustainability,
    settings: sent.settings,
  };
  const id = await added(kopanyi.user, { name: 'Tea', ...parts });
  const expected: Record<string, Record<string, unknown>> = structuredClone(parts);
  for (const [part, fields] of Object.entries(parts)) {
    await update(kopanyi.user, { id, [part]: { ours: part } });
    expected[part] = { ...expected[part], ours: part };
    expect(await read(kopanyi.user, id), part).toMatchObject(expected);
    for (const [field, value] of Object.entries(fields)) {
      if (typeof value !== 'string') continue;
      await update(kopanyi.user, { id, [part]: { [field]: '' } });
      const { [field]: _, ...others } = expected[part] as Record<string, unknown>;
      // A language cannot be an empty text.
      expected[part] = field === 'language' ? others : { ...others, [field]: '' };
      expect((await read(kopanyi.user, id))[part], `${part}.${field}`).toEqual(expected[part]);
    }
  }
});

test("the owner is the named company, otherwise the creator's only company, otherwise the creator", async () => {
  const [alone, two, system] = [
    await trace.loggedIn(),
    await trace.loggedIn(),
    await trace.loggedIn('SYSTEM_ADMIN'),
  ];
  const [first, second] = [await companyOf(trace, 'First', [two]), await companyOf(trace, 'Second', [two])];
  const company = async (user: LoggedIn, body: object) =>
    (await read(user, await added(user, { name: 'Tea', ...body }))).company;
  expect(await company(kopanyi.user, {})).toMatchObject({ id: kopanyi.companyId, name: 'Kopanyi' });
  expect(await company(kopanyi.user, { company: {} })).toMatchObject({ id: kopanyi.companyId });
  expect(await company(two, {})).toBeUndefined();
  expect(await company(two, { company: { id: second } })).toMatchObject({ id: second, name: 'Second' });
  expect(await company(alone, { company: null })).toBeUndefined();
  expect(await company(system, { company: { id: first } })).toMatchObject({ id: first, name: 'First' });

  const closed = await companyOf(trace, 'Closed', [two], 'DEACTIVATED');
  for (const [user, id] of [
    [kopanyi.user, roastery.companyId],
    [kopanyi.user, 2_000_000],
    [two, closed],
    [system, closed],
    [system, 2_000_000],
  ] as const) {
    const answer = await user.send('POST', '/api/product/create', { name: 'Tea', company: { id } });
    expect([answer.status, answer.body]).toEqual([
      400,
      wrong({ 'company.id': 'company.id is not an active company of yours' }),
    ]);
  }

  const own = await added(two, { name: 'Tea' });
  expect((await update(two, { id: own, company: { id: first } })).status).toBe(200);
  expect((await update(two, { id: own, company: { id: second } })).status).toBe(200);
  expect(await read(two, own)).toMatchObject({
    company: { id: second },
    associatedCompanies: [{ company: { id: second }, type: 'OWNER' }],
  });
  expect((await update(two, { id: own, company: null })).status).toBe(200);
  expect(await read(two, own)).toMatchObject({ company: { id: second } });
});

test('any active company can be associated, once per role, and its members can only read', async () => {
  const closed = await companyOf(trace, 'Shut', [], 'DEACTIVATED');
  const sent = (ids: number[]) => ids.map(id => ({ company: { id }, type: 'ROASTER' }));
  const refused = await kopanyi.user.send('POST', '/api/product/create', {
    name: 'Tea',
    associatedCompanies: sent([roastery.companyId, closed, 2_000_000]),
  });
  expect(refused.body).toEqual(
    wrong({
      'associatedCompanies.1.company.id': 'associatedCompanies.1.company.id is not an active company',
      'associatedCompanies.2.company.id': 'associatedCompanies.2.company.id is not an active company',
    }),
  );
  const id = await added(kopanyi.user, {
    name: 'Tea',
    associatedCompanies: sent([roastery.companyId, roastery.companyId]),
  });
  const { associatedCompanies } = await read(roastery.user, id);
  expect(associatedCompanies).toHaveLength(2);
  const answers = [
    await update(roastery.user, { id, name: 'Ours' }),
    await roastery.user.send('DELETE', `/api/product/${id}`),
    await roastery.user.send('GET', `/api/product/${id}/history`),
    await roastery.user.send('POST', '/api/product/label/create', { productId: id, title: 'x' }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403]);

  await trace.pool.query("UPDATE companies SET status = 'DEACTIVATED' WHERE id = $1", [roastery.companyId]);
  expect((await roastery.user.send('GET', `/api/product/${id}`)).status).toBe(404);
  expect((await update(kopanyi.user, { id, description: 'x', associatedCompanies })).status).toBe(200);
  await trace.pool.query("UPDATE companies SET status = 'ACTIVE' WHERE id = $1", [roastery.companyId]);
});

test('every wrong field is named with its path', async () => {
  const long = (length: number) => 'x'.repeat(length + 1);
  const cases: [string, object, string?][] = [
    ['name', { name: '' }],
    ['name', { name: ' ' }],
    ['name', { name: 5 }],
    ['name', { name: long(255) }],
    ['name', { name: undefined }],
    ['description', { description: long(2000) }],
    ['description', { description: 1 }],
    ['knowledgeBlog', { knowledgeBlog: 'yes' }],
    ['photo', { photo: 'key' }],
    ['photo.storageKey', { photo: { storageKey: 5 } }],
    ['origin', { origin: [] }],
    ['origin.text', { origin: { text: long(2000) } }],
    ['origin.locations', { origin: { locations: {} } }],
    ['origin.locations.1.latitude', { origin: { locations: [{}, { latitude: 90.1 }] } }],
    ['origin.locations.0.latitude', { origin: { locations: [{ latitude: '1e1' }] } }],
    ['origin.locations.0.longitude', { origin: { locations: [{ longitude: -180.1 }] } }],
    ['origin.locations.0.numberOfFarmers', { origin: { locations: [{ numberOfFarmers: 1.5 }] } }],
    ['origin.locations.0.pinName', { origin: { locations: [{ pinName: long(255) }] } }],
    ['origin.locations.0.geoid', { origin: { locations: [{ geoid: 'x' }] } }],
    ['origin.locations.0.geometry.type', { origin: { locations: [{ geometry: { coordinates: [1] } }] } }],
    ['process.production', { process: { production: long(2000) } }],
    ['responsibility.laborPolicies', { responsibility: { laborPolicies: true } }],
    ['sustainability.production', { sustainability: { production: long(1000) } }],
    ['sustainability.packaging', { sustainability: { packaging: long(1000) } }],
    ['sustainability.co2Footprint', { sustainability: { co2Footprint: long(255) } }],
    ['settings.costBreakdown', { settings: { costBreakdown: 0 } }],
    ['settings.pricingTransparency', { settings: { pricingTransparency: [] } }],
    ['settings.currency', { settings: { currency: 'francs' } }],
    ['settings.currency', { settings: { currency: 'QQQ' } }],
    ['settings.pricingTransparency.farmer', { settings: { pricingTransparency: { farmer: '4,2' } } }],
    ['settings.incomeIncreaseDescription', { settings: { incomeIncreaseDescription: long(2000) } }],
    ['settings.gdprText', { settings: { gdprText: long(2000) } }],
    ['settings.language', { settings: { language: 'not a language' } }],
    ['settings.privacyPolicyText', { settings: { privacyPolicyText: long(50_000) } }],
    ['settings.termsOfUseText', { settings: { termsOfUseText: long(50_000) } }],
    ['company', { company: 5 }],
    ['company.id', { company: { id: 'x' } }],
    ['associatedCompanies', { associatedCompanies: 5 }],
    ['associatedCompanies.type', { associatedCompanies: { company: { id: 1 }, type: 'FRIEND' } }],
    ['associatedCompanies.0.type', { associatedCompanies: [{ company: { id: 1 } }] }],
    ['associatedCompanies.0.company', { associatedCompanies: [{ type: 'BUYER' }] }],
    ['associatedCompanies.0.company.id', { associatedCompanies: [{ company: {}, type: 'BUYER' }] }],
    ['labels', { labels: 'x' }],
    ['labels.title', { labels: { title: 5 } }],
    ['labels.0.language', { labels: [{ language: 'x' }] }],
    ['labels.0.fields.1.value', { labels: [{ fields: [{ value: 1 }, { value: {} }] }] }],
  ];
  const id = await added(kopanyi.user, { name: 'Tea' });
  for (const [path, body] of cases) {
    const created = await kopanyi.user.send('POST', '/api/product/create', { name: 'Tea', ...body });
    const sentence = expect.stringMatching(path);
    expect([path, created.status, created.body]).toEqual([path, 400, wrong({ [path]: sentence })]);
    if (path === 'name') continue;
    const updated = await update(kopanyi.user, { id, ...body });
    expect([path, updated.body]).toEqual([path, created.body]);
  }
  expect((await update(kopanyi.user, { name: 'x' })).body).toEqual(wrong({ id: 'id is required' }));
  expect(await read(kopanyi.user, id)).toMatchObject({ name: 'Tea' });
});

test('a change of an outdated version is refused, so that nobody overwrites unseen changes', async () => {
  const id = await added(kopanyi.user, { name: 'Tea' });
  const ifMatch = (tag: string) => ({ 'if-match': tag });
  const answers = await Promise.all(
    ['One', 'Two', 'Three'].map(name => update(kopanyi.user, { id, name }, ifMatch('"1"'))),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412]);
  expect(answers.find(({ status }) => status === 412)?.body.status).toBe('INVALID_REQUEST');
  const { headers } = await kopanyi.user.send('GET', `/api/product/${id}`);
  expect(headers.get('etag')).toBe('"2"');
  expect((await update(kopanyi.user, { id, name: 'Four' }, ifMatch('W/"2"'))).status).toBe(412);
  expect((await update(kopanyi.user, { id, name: 'Four' }, ifMatch('*'))).status).toBe(200);
  expect((await update(kopanyi.user, { id, name: 'Five' }, ifMatch('"2", "3"'))).status).toBe(200);
  expect((await kopanyi.user.send('DELETE', `/api/product/${id}`, undefined, ifMatch('"3"'))).status).toBe(
    412,
  );
  expect((await kopanyi.user.send('DELETE', `/api/product/${id}`, undefined, ifMatch('"4"'))).status).toBe(
    200,
  );
});

test('concurrent changes without a version are all made, one after the other', async () => {
  const id = await added(kopanyi.user, { name: 'Tea' });
  const parts = ['process', 'responsibility', 'sustainability', 'settings', 'origin'];
  await Promise.all(parts.map(part => update(kopanyi.user, { id, [part]: { note: part } })));
  const product = await read(kopanyi.user, id);
  for (const part of parts) expect(product[part]).toMatchObject({ note: part });
});

test('photos and documents are named only by storage key, and readable for readers of the product', async () => {
  const bytes = await picture(40, 20).jpeg().toBuffer();
  const image = (await uploadFile(trace, kopanyi.user, 'image', bytes)).body.data;
  const paper = (await uploadFile(trace, kopanyi.user, 'document', Buffer.from('%PDF-1.4'))).body.data;
  const id = await added(kopanyi.user, {
    name: 'Tea',
    photo: { storageKey: image.storageKey, name: 'another name', credit: 'Ana' },
    settings: { incomeIncreaseDocument: { storageKey: paper.storageKey } },
    associatedCompanies: { company: { id: roastery.companyId }, type: 'BUYER' },
  });
  const product = await read(kopanyi.user, id);
  expect(product.photo).toEqual({ ...image, credit: 'Ana' });
  expect(product.settings.incomeIncreaseDocument).toEqual(paper);
  const list = (await kopanyi.user.send('GET', '/api/product/list?limit=1')).body.data;
  expect(list.items[0]).toMatchObject({ id, photo: image });

  const look = (user: LoggedIn) => user.send('GET', `/api/common/image/${image.storageKey}`);
  expect((await look(roastery.user)).status).toBe(200);
  const stranger = await tenant(trace, 'Stranger');
  expect((await look(stranger.user)).status).toBe(404);

  for (const storageKey of [
    image.storageKey,
    paper.storageKey,
    '7a0e6e0c-52b6-4f0e-9a5b-0e4f3f6f3c11',
    'x',
  ]) {
    const answer = await stranger.user.send('POST', '/api/product/create', {
      name: 'Tea',
      photo: { storageKey },
    });
    expect(answer.body).toEqual(wrong({ 'photo.storageKey': expect.stringMatching(/^photo.storageKey/) }));
  }
  await update(kopanyi.user, { id, photo: '' });
  expect((await read(kopanyi.user, id)).photo).toBeUndefined();
  expect((await look(roastery.user)).status).toBe(404);
});

let count = 0;
async function valueChain(): Promise<number> {
  const code = { code: `TYPE_${++count}`, label: 'Station' };
  const { id } = (await admin.send('PUT', '/api/chain/facility-type', code)).body.data;
  const body = { name: `Coffee ${count}`, description: 'Cherry', facilityTypes: [{ id, ...code }] };
  const answer = await admin.send('PUT', '/api/chain/value-chain', body);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.data.id;
}
const change = (id: number, body: object) => kopanyi.user.send('PUT', '/api/product/', { id, ...body });

test('a product has a value chain, which stays when omitted and is cleared by an empty text', async () => {
  const [first, second] = [await valueChain(), await valueChain()];
  const whole = (await kopanyi.user.send('GET', `/api/chain/value-chain/${first}`)).body.data;
  const id = await added(kopanyi.user, { name: 'Tea', valueChain: whole });
  const product = await read(kopanyi.user, id);
  expect(product.valueChain).toEqual({
    id: first,
    name: 'Coffee 1',
    description: 'Cherry',
    valueChainStatus: 'ENABLED',
  });
  for (const body of [{}, { valueChain: null }, { valueChain: {} }, product]) await change(id, body);
  const unchanged = await kopanyi.user.send('GET', `/api/product/${id}`);
  expect([unchanged.headers.get('etag'), unchanged.body.data]).toEqual(['"1"', product]);

  await change(id, { valueChain: { id: String(second) } });
  expect((await read(kopanyi.user, id)).valueChain).toMatchObject({ id: second });
  await change(id, { valueChain: '' });
  expect((await read(kopanyi.user, id)).valueChain).toEqual({});
  const { items } = (await kopanyi.user.send('GET', `/api/product/${id}/history?sort=ASC`)).body.data;
  expect(items).toMatchObject([
    { path: '' },
    { path: 'valueChain.id', before: first, after: second },
    { path: 'valueChain', before: { id: second } },
  ]);
});

test('only enabled value chains can be chosen, and one in use is not deleted', async () => {
  const [used, disabled] = [await valueChain(), await valueChain()];
  const id = await added(kopanyi.user, { name: 'Green tea', valueChain: { id: used } });
  await admin.send('POST', `/api/chain/value-chain/${disabled}/disable`);
  for (const unknown of [disabled, 999_999]) {
    const answer = await change(id, { valueChain: { id: unknown } });
    expect([answer.status, Object.keys(answer.body.validationErrorDetails.fieldErrors)]).toEqual([
      400,
      ['valueChain.id'],
    ]);
  }
  const refused = await admin.send('DELETE', `/api/chain/value-chain/${used}`);
  expect([refused.status, refused.body.errorMessage]).toEqual([400, expect.stringContaining('Green tea')]);
  await admin.send('POST', `/api/chain/value-chain/${used}/disable`);
  expect((await change(id, { name: 'Tea', valueChain: { id: used } })).status).toBe(200);
});

let ours: Tenant;
let theirs: Tenant;
let product: number;
let label: { id: number; uuid: string };
beforeAll(async () => {
  ours = await tenant(trace, 'Ours');
  theirs = await tenant(trace, 'Theirs');
  product = await added(ours.user, {
    name: 'Our secret',
    origin: { locations: [{ latitude: 1, longitude: 2 }] },
    labels: { title: 'Not yet' },
  });
  label = (await read(ours.user, product)).labels[0];
});

/** Every request with the id of a product or a label. */
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

test('another company gets the same answers for a product and its labels as for unknown ids', async () => {
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
    { numRuns: runs(40) },
  );
  expect(await read(ours.user, product)).toEqual(before);
  expect(JSON.stringify((await theirs.user.send('GET', '/api/product/list')).body)).not.toContain('secret');
  expect((await trace.send('GET', `/api/public/product/label/${label.uuid}`)).status).toBe(404);
});

test('ids of other tenants inside a body change nothing of theirs', async () => {
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

test('a list has the products that its reader may see: of their companies, of partners, and their own; each once', async () => {
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
