import { afterAll, beforeAll, expect, test } from 'vitest';
import { added, companyOf, read } from '../../../../test/helpers/chain.ts';
import { picture, uploadFile } from '../../../../test/helpers/images.ts';
import { type LoggedIn, type RunningTrace, runningTrace } from '../../../../test/helpers/trace.ts';

let trace: RunningTrace;
let user: LoggedIn;
let companyId: number;
beforeAll(async () => {
  trace = await runningTrace();
  user = await trace.loggedIn();
  companyId = await companyOf(trace, 'Kopanyi', [user]);
});
afterAll(() => trace.stop());

const create = (body: object) => user.send('POST', '/api/product/create', { name: 'Tea', ...body });
const update = async (id: number, body: object) => {
  const answer = await user.send('PUT', '/api/product', { id, ...body });
  expect(answer.status, answer.text).toBe(200);
  return read(user, id);
};
const upload = async () =>
  (await uploadFile(trace, user, 'image', await picture(9, 9).png().toBuffer())).body.data;

test('numbers and booleans sent as texts, at any depth, are stored with their types', async () => {
  const photo = await upload();
  const id = await added(user, {
    name: 'Tea',
    photo: { storageKey: photo.storageKey, id: String(photo.id), size: String(photo.size) },
    origin: {
      locations: [{ latitude: '-2.50', longitude: '29', numberOfFarmers: '007' }],
      altitude: '1650',
    },
    settings: { costBreakdown: 'true', pricingTransparency: { farmer: '4.20', ['__proto__']: '-0.5' } },
    knowledgeBlog: 'false',
    company: { id: String(companyId) },
  });
  expect(await read(user, id)).toMatchObject({
    photo: { id: photo.id, size: photo.size },
    origin: { locations: [{ latitude: -2.5, longitude: 29, numberOfFarmers: 7 }], altitude: '1650' },
    settings: { costBreakdown: true, pricingTransparency: { farmer: 4.2 } },
    knowledgeBlog: false,
    company: { id: companyId },
  });
  const { rows } = await trace.pool.query(
    "SELECT content->'settings'->'pricingTransparency' AS kept FROM products WHERE id = $1",
    [id],
  );
  expect(JSON.stringify(rows[0].kept)).toBe('{"farmer":4.2,"__proto__":-0.5}');

  await user.send('PUT', '/api/user/profile', { discoverable: 'true' });
  expect((await user.send('GET', '/api/user/profile')).body.data.discoverable).toBe(true);
});

test('a text of an integer that a double cannot represent is refused like the number', async () => {
  for (const text of ['9007199254740993', '9007199254740993.0', '-9007199254740993.00']) {
    const { status, body } = await create({ settings: { pricingTransparency: { farmer: text } } });
    expect([text, status]).toEqual([text, 400]);
    expect(Object.keys(body.validationErrorDetails.fieldErrors)).toEqual([
      'settings.pricingTransparency.farmer',
    ]);
  }
  const id = await added(user, {
    name: 'Tea',
    settings: { pricingTransparency: { a: '9007199254740992.0', b: '62149497467408090', c: '007' } },
  });
  expect((await read(user, id)).settings.pricingTransparency).toEqual({
    a: 9007199254740992,
    b: 62149497467408090,
    c: 7,
  });
});

test('other texts for numbers and booleans, and numbers for texts, get 400 with the path', async () => {
  for (const latitude of [
    '1e1',
    '0x10',
    '+5',
    '.5',
    '5.',
    ' 5',
    '5 ',
    '1,5',
    '٣',
    'NaN',
    `${'9'.repeat(400)}`,
  ]) {
    const answer = await create({ origin: { locations: [{ latitude }] } });
    expect([answer.status, Object.keys(answer.body.validationErrorDetails.fieldErrors)], latitude).toEqual([
      400,
      ['origin.locations.0.latitude'],
    ]);
  }
  const wrong: [object, string][] = [
    [{ knowledgeBlog: 'TRUE' }, 'knowledgeBlog'],
    [{ knowledgeBlog: '1' }, 'knowledgeBlog'],
    [{ knowledgeBlog: 1 }, 'knowledgeBlog'],
    [{ description: 5 }, 'description'],
    [{ description: true }, 'description'],
    [{ origin: { locations: [{ numberOfFarmers: '1.5' }] } }, 'origin.locations.0.numberOfFarmers'],
    [{ origin: { locations: [{ latitude: '91' }] } }, 'origin.locations.0.latitude'],
    [{ origin: { locations: [null] } }, 'origin.locations.0'],
    [{ settings: { pricingTransparency: { farmer: true } } }, 'settings.pricingTransparency.farmer'],
    [{ name: null }, 'name'],
    [{ name: '' }, 'name'],
  ];
  for (const [body, path] of wrong) {
    const answer = await create(body);
    expect([answer.status, Object.keys(answer.body.validationErrorDetails.fieldErrors)], path).toEqual([
      400,
      [path],
    ]);
  }
});

test('null means absent and changes nothing; in unknown fields it is kept', async () => {
  const { storageKey } = await upload();
  const id = await added(user, {
    name: 'Tea',
    description: 'Black',
    photo: { storageKey },
    origin: { text: 'Nyamasheke', locations: [{ latitude: 1, longitude: 2, pinName: null }] },
    settings: { language: 'EN', pricingTransparency: { farmer: 1, transport: null } },
    knowledgeBlog: true,
    associatedCompanies: [{ company: { id: companyId }, type: 'PRODUCER' }],
    labels: [{ title: 'Tea', language: 'EN' }],
  });
  const before = await read(user, id);
  expect(before.origin.locations).toEqual([{ latitude: 1, longitude: 2 }]);
  expect(before.settings.pricingTransparency).toEqual({ farmer: 1 });
  const nothing = { name: null, description: null, photo: null, knowledgeBlog: null, company: null };
  const inside = { origin: { text: null, locations: null }, settings: { language: null } };
  const lists = { associatedCompanies: null, labels: null, process: null };
  expect(await update(id, { ...nothing, ...inside, ...lists })).toEqual(before);
  const { origin } = await update(id, { origin: { ours: null } });
  expect(origin).toEqual({ ...before.origin, ours: null });
  const label = { id: before.labels[0].id, title: null, language: null, fields: null };
  const changed = await user.send('PUT', '/api/product/label', label);
  expect(changed.body.data).toEqual(before.labels[0]);
  expect((await user.send('PUT', '/api/user/profile', { name: null })).status).toBe(200);
  expect((await user.send('GET', '/api/user/profile')).body.data.name).toBe('Ana');
});

test('an empty text clears every field that can be cleared', async () => {
  const { storageKey } = await upload();
  const id = await added(user, {
    name: 'Tea',
    description: 'Black',
    photo: { storageKey },
    process: { production: 'Dried', ours: 1 },
    settings: { language: 'EN', costBreakdown: true, gdprText: 'x', pricingTransparency: { farmer: 1 } },
    knowledgeBlog: true,
    labels: [{ title: 'Tea' }],
  });
  const settings = { language: '', costBreakdown: '', gdprText: '', pricingTransparency: '' };
  const cleared = { description: '', photo: '', knowledgeBlog: '', labels: '', process: '' };
  const product = await update(id, { ...cleared, settings });
  expect(product).toMatchObject({ description: '', settings: { gdprText: '' }, labels: [] });
  expect(product.settings).toEqual({ gdprText: '', pricingTransparency: {} });
  for (const field of ['photo', 'knowledgeBlog', 'process']) expect(product).not.toHaveProperty(field);

  const body = {
    id: companyId,
    about: 'x',
    logo: { storageKey },
    headquarters: { city: 'Huye', country: { id: 1 } },
  };
  expect((await user.send('PUT', '/api/company/profile', body)).status).toBe(200);
  const profile = async () => (await user.send('GET', `/api/company/profile/${companyId}`)).body.data;
  expect(await profile()).toMatchObject({ about: 'x', logo: { storageKey }, headquarters: { city: 'Huye' } });
  const empty = { id: companyId, about: '', logo: '', email: '', headquarters: { city: '', country: '' } };
  expect((await user.send('PUT', '/api/company/profile', empty)).status).toBe(200);
  const after = await profile();
  expect(after).toMatchObject({ about: '', email: '', headquarters: { city: '' } });
  expect([after.logo, after.headquarters.country]).toEqual([undefined, undefined]);
});
