import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { downloadFile, picture, uploadFile } from '../../../../test/helpers/images.ts';
import { runs } from '../../../../test/helpers/property.ts';
import { type LoggedIn, type RunningTrace, runningTrace } from '../../../../test/helpers/trace.ts';
import { ACTIONS } from './record/schemas.ts';

let trace: RunningTrace;
let ana: LoggedIn;
let bo: LoggedIn;
beforeAll(async () => {
  trace = await runningTrace();
  [ana, bo] = [await trace.loggedIn(), await trace.loggedIn()];
});
afterAll(() => trace.stop());

const create = (user: LoggedIn, body: object) => user.send('POST', '/api/company/create', body);
const update = (user: LoggedIn, body: object, headers = {}) =>
  user.send('PUT', '/api/company/profile', body, headers);
const read = (user: LoggedIn, id: number) => user.send('GET', `/api/company/profile/${id}`);
/** The fields named in the error of a refused call. */
const wrong = (answer: { status: number; body: { validationErrorDetails?: { fieldErrors: object } } }) => [
  answer.status,
  ...Object.keys(answer.body.validationErrorDetails?.fieldErrors ?? {}).sort(),
];

async function made(user: LoggedIn, body: object = {}): Promise<number> {
  const answer = await create(user, { name: 'Kopanyi', ...body });
  expect(answer.status, answer.text).toBe(200);
  return answer.body.data.id;
}

async function profile(user: LoggedIn, id: number) {
  const answer = await read(user, id);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.data;
}

const logoOf = async (user: LoggedIn, kind: 'image' | 'document' = 'image') => {
  const bytes = await picture(8, 8).png().toBuffer();
  return (await uploadFile(trace, user, kind, bytes, 'logo.png')).body.data;
};

/** Every field of the interface document. */
const whole = (storageKey: string) => ({
  name: 'Kopanyi',
  abbreviation: 'KOP',
  headquarters: {
    address: 'KN 3 Ave',
    city: 'Kigali',
    state: 'Kigali City',
    zip: '00000',
    country: { id: '184' },
  },
  about: 'Washing stations around the lake',
  manager: 'Ana Uwase',
  webPage: 'https://kopanyi.example',
  email: 'info@kopanyi.example',
  logo: { storageKey },
});

/** The fields that every company has. */
const EMPTY = {
  mediaLinks: {},
  documents: [],
  certifications: [],
  valueChains: [],
  companyRoles: [],
  actions: expect.arrayContaining(['VIEW_COMPANY_PROFILE', 'UPDATE_COMPANY_PROFILE']),
  supportsCollectors: false,
};

test('a company is returned as it was sent, with its country, logo and members', async () => {
  const user = await trace.loggedIn();
  const logo = await logoOf(user);
  const sent = whole(logo.storageKey);
  const answer = await create(user, { id: 99, status: 'DEACTIVATED', surprise: 1, ...sent });
  expect([answer.status, answer.body]).toEqual([200, { status: 'OK', data: { id: expect.any(Number) } }]);
  const { id } = answer.body.data;
  const { email, name, surname } = (await user.send('GET', '/api/user/profile')).body.data;
  expect(await profile(user, id)).toEqual({
    ...EMPTY,
    ...sent,
    id,
    status: 'ACTIVE',
    headquarters: { ...sent.headquarters, country: { id: 184, code: 'RW', name: 'Rwanda' } },
    logo,
    users: [
      {
        id: user.id,
        name,
        surname,
        email,
        companyRole: 'COMPANY_ADMIN',
        status: 'ACTIVE',
        role: 'USER',
        language: 'EN',
      },
    ],
  });
  expect((await user.send('GET', '/api/user/profile')).body.data.companyIds).toEqual([id]);
});

test('a company needs only a name; unset fields are absent', async () => {
  const id = await made(ana, { name: 'N' });
  expect(await profile(ana, id)).toEqual({
    ...EMPTY,
    id,
    name: 'N',
    status: 'ACTIVE',
    users: [expect.anything()],
  });
});

test('fields beyond limits and formats are refused, each with its path', async () => {
  const long = (length: number) => '🌱'.repeat(length);
  const fits = {
    ...{
      name: long(255),
      abbreviation: long(255),
      manager: long(255),
      webPage: long(255),
      about: long(2000),
    },
    email: `${'a'.repeat(64)}@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(59)}.ex`,
    headquarters: { address: long(255), city: long(255), state: long(255), zip: long(50) },
  };
  expect(fits.email).toHaveLength(255);
  expect(await profile(ana, await made(ana, fits))).toMatchObject(fits);
  const tooLong = {
    ...{
      name: long(256),
      abbreviation: long(256),
      manager: long(256),
      webPage: long(256),
      about: long(2001),
    },
    email: `x${fits.email}`,
    headquarters: { address: long(256), city: long(256), state: long(256), zip: long(51) },
  };
  const paths = ['address', 'city', 'state', 'zip'].map(field => `headquarters.${field}`);
  const all = ['abbreviation', 'about', 'email', ...paths, 'manager', 'name', 'webPage'];
  expect(wrong(await create(ana, tooLong))).toEqual([400, ...all]);
  const types = {
    name: 1,
    abbreviation: true,
    manager: [],
    webPage: {},
    about: 2,
    email: 3,
    logo: 'x',
    headquarters: { address: 4, city: 5, state: 6, zip: 7, country: 'RW' },
  };
  expect(wrong(await create(ana, types))).toEqual([400, ...[...all, 'headquarters.country', 'logo'].sort()]);
  for (const name of [undefined, null, '', ' \n']) {
    expect(wrong(await create(ana, { name })), String(name)).toEqual([400, 'name']);
  }
  for (const email of ['nobody', 'a@b', 'a b@example.org', '@example.org']) {
    expect(wrong(await create(ana, { name: 'N', email })), email).toEqual([400, 'email']);
  }
});

test('a country is selected by its id, its id as a string, or its alpha-2 code', async () => {
  const countryOf = (country: unknown) => create(ana, { name: 'N', headquarters: { country } });
  const rwanda = { id: 184, code: 'RW', name: 'Rwanda' };
  for (const country of [{ id: 184 }, { id: '184' }, { id: 'RW' }, { id: 'rw' }, { code: 'RW' }, rwanda]) {
    const answer = await countryOf(country);
    const { headquarters } = await profile(ana, answer.body.data.id);
    expect(headquarters, JSON.stringify(country)).toEqual({ country: rwanda });
  }
  for (const id of [0, 250, -1, 1.5, '0', '250', 'XX', '', '1.0e2', ' ', true, [184]]) {
    expect(wrong(await countryOf({ id })), JSON.stringify(id)).toEqual([400, 'headquarters.country.id']);
  }
  expect(wrong(await countryOf({}))).toEqual([400, 'headquarters.country.id']);
  for (const code of ['XX', '184', '']) {
    expect(wrong(await countryOf({ code })), code).toEqual([400, 'headquarters.country.code']);
  }
});

test('the 249 countries of ISO 3166-1 are open to everybody, all at once or page by page', async () => {
  const { data } = (await trace.send('GET', '/api/common/countries')).body;
  expect(data).toMatchObject({ count: 249, offset: 0, limit: 500 });
  const ids = data.items.map(({ id }: { id: number }) => id);
  expect(ids).toEqual(Array.from({ length: 249 }, (_, index) => index + 1));
  expect(new Set(data.items.map(({ code }: { code: string }) => code)).size).toBe(249);
  expect(data.items.every(({ code }: { code: string }) => /^[A-Z]{2}$/.test(code))).toBe(true);
  expect(data.items[0]).toEqual({ id: 1, code: 'AF', name: 'Afghanistan' });
  expect(data.items[248]).toEqual({ id: 249, code: 'ZW', name: 'Zimbabwe' });
  const search = async (text: string) =>
    (await trace.send('GET', `/api/common/countries?queryString=${text}`)).body.data.items;
  expect(await search('rwan')).toEqual([data.items[183]]);
  expect((await search('rw')).map(({ code }: { code: string }) => code)).toEqual(['NO', 'RW']);
  expect(await search('atlantis')).toEqual([]);
  const page = (await trace.send('GET', '/api/common/countries?limit=2&offset=248')).body.data;
  expect(page).toEqual({ items: [data.items[248]], count: 249, offset: 248, limit: 2 });
});

test('a change replaces sent fields: omitted and null fields stay, an empty text clears', async () => {
  const user = await trace.loggedIn();
  const logo = await logoOf(user);
  const sent = whole(logo.storageKey);
  const id = await made(user, sent);
  const before = await profile(user, id);
  const change = async (body: object) => {
    const answer = await update(user, { id, ...body });
    expect([answer.status, answer.body], answer.text).toEqual([200, { status: 'OK', data: { id } }]);
    return profile(user, id);
  };

  expect(await change({})).toEqual(before);
  expect(await change({ about: 'New', email: '' })).toEqual({ ...before, about: 'New', email: '' });
  const city = await change({ headquarters: { city: 'Huye', zip: '', state: null, country: { id: 'BI' } } });
  expect(city.headquarters).toEqual({
    address: 'KN 3 Ave',
    city: 'Huye',
    state: 'Kigali City',
    zip: '',
    country: expect.objectContaining({ code: 'BI' }),
  });
  expect(await change({ headquarters: { country: null }, logo: null, name: null, about: null })).toEqual(
    city,
  );
  expect((await change({ headquarters: { country: '' } })).headquarters.country).toBeUndefined();
  const cleared = await change({ abbreviation: '', about: '', headquarters: '', manager: '', logo: '' });
  expect(cleared).toMatchObject({ abbreviation: '', about: '', manager: '', webPage: before.webPage });
  expect([cleared.headquarters, cleared.logo]).toEqual([undefined, undefined]);
  expect(wrong(await update(user, { id, name: '' }))).toEqual([400, 'name']);
  // A company can be sent back as it was read.
  await change({ ...before, name: 'Kopanyi 2' });
  expect(await profile(user, id)).toEqual({ ...before, name: 'Kopanyi 2' });
});

test('without an id a change applies to the only company that its sender administers', async () => {
  const user = await trace.loggedIn();
  const none = await update(user, { about: 'x' });
  expect(wrong(none)).toEqual([400, 'id']);
  const first = await made(user);
  const foreign = await made(ana);
  await trace.pool.query("INSERT INTO company_users VALUES ($1, $2, 'MANAGER')", [foreign, user.id]);
  for (const id of [undefined, null, first, String(first)]) {
    const answer = await update(user, { id, about: `by ${id}` });
    expect(answer.body.data).toEqual({ id: first });
    expect((await profile(user, first)).about).toBe(`by ${id}`);
  }
  const second = await made(user);
  const several = await update(user, { about: 'x' });
  expect(wrong(several)).toEqual([400, 'id']);
  expect(several.body.errorMessage).toMatch(/^id is required: you are the COMPANY_ADMIN of 2 companies/);
  const admin = await trace.loggedIn('SYSTEM_ADMIN');
  await admin.send('POST', '/api/company/execute/DEACTIVATE_COMPANY', { companyId: second });
  expect((await update(user, { about: 'x' })).body.data).toEqual({ id: first });
});

test('If-Match refuses a change of another version than was read', async () => {
  const id = await made(ana);
  const tagOf = async () => (await read(ana, id)).headers.get('etag') as string;
  const first = await tagOf();
  expect((await update(ana, { id, about: '1' }, { 'if-match': first })).status).toBe(200);
  const lost = await update(ana, { id, about: '2' }, { 'if-match': first });
  expect([lost.status, lost.body.status]).toEqual([412, 'INVALID_REQUEST']);
  expect((await profile(ana, id)).about).toBe('1');
  for (const tag of [`"0", ${await tagOf()}`, '*']) {
    expect((await update(ana, { id, about: tag }, { 'if-match': tag })).status).toBe(200);
  }
  const second = await tagOf();
  await update(ana, { id, about: '*' });
  expect(await tagOf(), 'a change that changes nothing').toBe(second);
});

test('one of many concurrent changes to a version wins; without a version none is lost', async () => {
  const id = await made(ana);
  const tag = (await read(ana, id)).headers.get('etag') as string;
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, n) => update(ana, { id, about: `${n}` }, { 'if-match': tag })),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(412)]);
  const fields = { abbreviation: 'a', about: 'b', manager: 'c', webPage: 'd' };
  const parts = Object.entries({ ...fields, headquarters: { city: 'e' } });
  await Promise.all(parts.map(part => update(ana, { id, ...Object.fromEntries([part]) })));
  await Promise.all(
    ['address', 'state', 'zip'].map(part => update(ana, { id, headquarters: { [part]: 'f' } })),
  );
  expect(await profile(ana, id)).toMatchObject({
    ...fields,
    headquarters: { address: 'f', city: 'e', state: 'f', zip: 'f' },
  });
});

test('a logo is an image that its sender may use; members of the company may then read it', async () => {
  const bo = await trace.loggedIn();
  const logo = await logoOf(ana);
  const where = `image/${logo.storageKey}`;
  const unknown = [logo.storageKey, '4f8a2c1e-9b7d-4e55-8a3f-0c6d1b2e7f90', 'x', ''];
  for (const storageKey of [...unknown, (await logoOf(bo, 'document')).storageKey]) {
    const answer = await create(bo, { name: 'N', logo: { storageKey } });
    expect(wrong(answer), storageKey).toEqual([400, 'logo.storageKey']);
  }
  expect(wrong(await create(bo, { name: 'N', logo: {} }))).toEqual([400, 'logo.storageKey']);
  expect((await bo.send('GET', '/api/company/list')).body.data.count).toBe(0);

  const id = await made(ana, { logo: { storageKey: logo.storageKey.toUpperCase() } });
  expect((await profile(ana, id)).logo).toEqual(logo);
  expect((await downloadFile(trace, bo, where)).status).toBe(404);
  const member = { companyId: id, userId: bo.id };
  await ana.send('POST', '/api/company/execute/ADD_USER_TO_COMPANY', member);
  expect((await downloadFile(trace, bo, where)).status).toBe(404);
  await bo.send('POST', '/api/company/execute/ACCEPT_INVITATION', { companyId: id });
  expect((await downloadFile(trace, bo, where)).status).toBe(200);
  await update(ana, { id, logo: '' });
  expect((await downloadFile(trace, bo, where)).status).toBe(404);
  const { rows } = await trace.pool.query('SELECT unused_since FROM images WHERE id = $1', [logo.id]);
  expect(rows[0].unused_since).toBeInstanceOf(Date);
});

test('the audit records who changed which fields of which company', async () => {
  const admin = await trace.loggedIn('SYSTEM_ADMIN');
  const id = await made(ana);
  await update(ana, { id, name: 'Kopanyi', about: 'x', headquarters: { city: 'Huye', country: { id: 1 } } });
  await update(ana, { id, about: 'x' });
  await update(ana, { id, name: '' });
  await admin.send('POST', '/api/company/execute/DEACTIVATE_COMPANY', { companyId: id });
  const { body } = await admin.send('GET', `/api/audit/list?entity=company&entityId=${id}&sort=ASC`);
  const entries = body.data.items.map((entry: Record<string, unknown>) => [
    entry.action,
    entry.userId,
    entry.details,
  ]);
  expect(entries).toEqual([
    ['CREATE_COMPANY', ana.id, { name: 'Kopanyi' }],
    ['UPDATE_COMPANY', ana.id, { fields: ['about', 'headquarters.city', 'headquarters.country'] }],
    ['DEACTIVATE_COMPANY', admin.id, { status: ['ACTIVE', 'DEACTIVATED'] }],
  ]);
});

const named = (by: LoggedIn, query: Record<string, string>) =>
  by.send('GET', `/api/company/names?${new URLSearchParams(query)}`);

test('every user finds active companies by part of their name, with only id and name', async () => {
  const ids = [
    await made(ana, { name: 'Äpfel & Söhne' }),
    await made(ana, { name: 'Café Ñandú' }),
    await made(ana, { name: 'Nandu Traders' }),
  ];
  const found = await named(bo, { name: 'ÑAN' });
  expect([found.status, found.body.data]).toEqual([200, [{ id: ids[1], name: 'Café Ñandú' }]]);
  const both = (await named(bo, { name: 'ndu' })).body.data.map(({ id }: { id: number }) => id);
  expect(both).toEqual([ids[2]]);
  expect((await named(bo, { name: 'äpfel & s' })).body.data).toEqual([{ id: ids[0], name: 'Äpfel & Söhne' }]);
  const system = await trace.loggedIn('SYSTEM_ADMIN');
  await system.send('POST', '/api/company/execute/DEACTIVATE_COMPANY', { companyId: ids[0] });
  expect((await named(ana, { name: 'äpfel' })).body.data).toEqual([]);
});

test('an answer has up to 20 companies, by name, and fewer on demand', async () => {
  for (let n = 10; n < 32; n++) await made(ana, { name: `Many ${n}` });
  const names = async (query: Record<string, string>) =>
    (await named(bo, query)).body.data.map(({ name }: { name: string }) => name);
  expect(await names({ name: 'many' })).toEqual(Array.from({ length: 20 }, (_, n) => `Many ${n + 10}`));
  expect(await names({ name: 'many', limit: '2' })).toEqual(['Many 10', 'Many 11']);
});

test('a search without a name or with too high a limit is refused with its field; visitors are refused, too', async () => {
  for (const [query, field] of [
    [{}, 'name'],
    [{ name: '' }, 'name'],
    [{ name: 'x'.repeat(256) }, 'name'],
    [{ name: 'x', limit: '21' }, 'limit'],
    [{ name: 'x', limit: '0' }, 'limit'],
  ] as const) {
    const { status, body } = await named(ana, query as Record<string, string>);
    expect([status, Object.keys(body.validationErrorDetails.fieldErrors)]).toEqual([400, [field]]);
  }
  expect((await trace.send('GET', '/api/company/names?name=x')).status).toBe(401);
});

/** An id that no company has. */
const UNKNOWN = 1_234_567;

interface Attempt {
  method: string;
  path: string;
  body?: object;
}

/** Every request with the id of another tenant's company, at every position of an id. */
const attempt = fc.record({
  route: fc.constantFrom('read', 'update', ...ACTIONS),
  asText: fc.boolean(),
  about: fc.option(fc.string({ maxLength: 20, unit: 'grapheme' }), { nil: undefined }),
  logo: fc.option(fc.constantFrom({ storageKey: 'x' }, { storageKey: '' }), { nil: undefined }),
  userId: fc.constantFrom('ana', 'bo', 'nobody', undefined),
  companyUserRole: fc.constantFrom('COMPANY_ADMIN', 'MANAGER', undefined),
  ifMatch: fc.constantFrom(undefined, '*', '"1"', '"7"'),
});
type Try = typeof attempt extends fc.Arbitrary<infer Value> ? Value : never;

function requestOf({ route, asText, about, logo, userId, companyUserRole }: Try, companyId: number): Attempt {
  const id = asText ? String(companyId) : companyId;
  if (route === 'read') return { method: 'GET', path: `/api/company/profile/${companyId}` };
  if (route === 'update') {
    return { method: 'PUT', path: '/api/company/profile', body: { id, name: 'Mine', about, logo } };
  }
  const users = { ana: ana.id, bo: bo.id, nobody: UNKNOWN };
  const body = { companyId: id, userId: userId && users[userId as keyof typeof users], companyUserRole };
  return { method: 'POST', path: `/api/company/execute/${route}`, body };
}

const everything = async () => {
  const { rows } = await trace.pool.query(
    'SELECT * FROM companies LEFT JOIN company_users ON company_id = companies.id ORDER BY companies.id, user_id',
  );
  return rows;
};

test('every request of a stranger with the id of a company gets the answer of an unknown id', async () => {
  const theirs = await made(ana, { name: 'Theirs', about: 'a secret' });
  await made(bo, { name: 'Ours' });
  const before = await everything();
  await fc.assert(
    fc.asyncProperty(attempt, async tried => {
      const headers: Record<string, string> = tried.ifMatch ? { 'if-match': tried.ifMatch } : {};
      const send = async (companyId: number) => {
        const { method, path, body } = requestOf(tried, companyId);
        return bo.send(method, path, body, headers);
      };
      const [foreign, unknown] = [await send(theirs), await send(UNKNOWN)];
      expect([foreign.status, foreign.body]).toEqual([unknown.status, unknown.body]);
      expect([403, 404]).toContain(foreign.status);
      // Refused by the role, before the id is read.
      const isForAdmins = /ACTIVATE_COMPANY$|^MERGE_TO_COMPANY$/.test(tried.route);
      if (!isForAdmins) expect(foreign.body.status).toBe('NOT_FOUND');
      expect(foreign.headers.get('etag')).toBe(unknown.headers.get('etag'));
    }),
    { numRuns: runs(150) },
  );
  expect(await everything()).toEqual(before);
});

test('malformed ids are not found, and searches find no companies of others', async () => {
  const theirs = await made(ana, { name: 'Theirs' });
  for (const id of ['0', '-1', '1e0', '2147483648', '99999999999', `${theirs}.0`, `%20${theirs}`, 'x']) {
    expect((await bo.send('GET', `/api/company/profile/${id}`)).status, id).toBe(404);
  }
  for (const query of ['query=Theirs', 'query=e', 'status=ACTIVE', 'sortBy=name', 'offset=0']) {
    const { items } = (await bo.send('GET', `/api/company/list?${query}`)).body.data;
    expect(
      items.map(({ id }: { id: number }) => id),
      query,
    ).not.toContain(theirs);
  }
  expect((await bo.send('GET', '/api/company/admin/list')).status).toBe(403);
});
