import { afterAll, beforeAll, expect, test } from 'vitest';
import { added, companyOf, read, type Tenant, tenant } from '../../../../../test/helpers/chain.ts';
import { SENT } from '../../../../../test/helpers/front-end.ts';
import { downloadFile, picture, uploadFile } from '../../../../../test/helpers/images.ts';
import { type LoggedIn, type RunningTrace, runningTrace } from '../../../../../test/helpers/trace.ts';

let trace: RunningTrace;
let admin: LoggedIn;
beforeAll(async () => {
  trace = await runningTrace();
  admin = await trace.loggedIn('SYSTEM_ADMIN');
});
afterAll(() => trace.stop());

const send = async (user: LoggedIn, method: string, path: string, body?: object) => {
  const answer = await user.send(method, `/api/company/${path}`, body);
  return answer.status === 200 ? answer.body.data : [answer.status, answer.body.status, answer.text];
};
const profile = (user: LoggedIn, id: number) => send(user, 'GET', `profile/${id}`);
const wrong = (answer: { body: { validationErrorDetails?: { fieldErrors: object } } }) =>
  Object.keys(answer.body.validationErrorDetails?.fieldErrors ?? {}).sort();
const file = async (user: LoggedIn, kind: 'image' | 'document' = 'image') => {
  const bytes = await picture(8, 8).png().toBuffer();
  return (await uploadFile(trace, user, kind, bytes, `${kind}.png`)).body.data;
};
/** The body of a form as recorded from the front end, with a different logo. */
const form = (method: string, path: string, logo: object) => {
  const sent = SENT.find(form => form.method === method && form.path === path);
  return { ...structuredClone(sent?.body as { id: number | null; logo: object }), logo };
};

test('the forms of the front end create and change a company', async () => {
  const user = await trace.loggedIn();
  const logo = await file(user);
  const created = form('POST', '/api/company/create', logo);
  const { id } = await send(user, 'POST', 'create', created);
  const first = await profile(user, id);
  expect(first).toMatchObject({
    id,
    name: 'Kopanyi',
    abbreviation: 'KOP',
    about: 'About us',
    logo,
    phone: '+250700000000',
    headquarters: { city: 'Kigali', country: { id: 184, code: 'RW', name: 'Rwanda' } },
    mediaLinks: {},
  });
  const changed = { ...form('PUT', '/api/company/profile', logo), id };
  expect(await send(user, 'PUT', 'profile', changed)).toEqual({ id });
  const second = await profile(user, id);
  expect(second).toEqual({ ...first, abbreviation: 'KOPA', displayPrefferedWayOfPayment: true });
  expect(await send(user, 'GET', 'list?limit=10&offset=0&sortBy=name&sort=ASC')).toMatchObject({
    items: [{ id, status: 'ACTIVE', name: 'Kopanyi', logoStorageKey: logo.storageKey }],
  });
});

test('every field of a company is stored and returned, also as the front end sends it', async () => {
  const user = await trace.loggedIn();
  const [logo, photo, record] = [await file(user), await file(user), await file(user, 'document')];
  const fields = {
    name: 'Kopanyi',
    headquarters: {
      address: 'KN 3 Ave',
      city: 'Kigali',
      state: 'Kigali',
      zip: '0000',
      cell: 'Kibenga',
      sector: 'Mbazi',
      village: 'Rwezamenyo',
      otherAddress: 'by the lake',
      hondurasFarm: 'Finca',
      hondurasVillage: 'Aldea',
      hondurasMunicipality: 'Marcala',
      hondurasDepartment: 'La Paz',
    },
    phone: '+250700000000',
    interview: 'https://video.example/1',
    mediaLinks: { facebook: 'https://facebook.example/k', youtube: '' },
    displayPrefferedWayOfPayment: true,
    purchaseProofDocumentMultipleFarmers: false,
    allowBeycoIntegration: true,
    logo,
  };
  const documents = [
    { type: 'LINK', category: 'VIDEO', name: 'Harvest', link: 'https://video.example/2' },
    { type: 'FILE', category: 'MEET_THE_FARMER', name: 'Joy', quote: 'We grow', document: photo },
    { type: 'FILE', category: 'PRODUCTION_RECORD', description: 'of 2026', document: record },
  ];
  const certifications = [
    { type: 'ORGANIC', description: 'EU', validity: '2027-12-31', certificate: record },
  ];
  const currency = { code: 'RWF', label: 'Rwandan Franc', enabled: true };
  const { id } = await send(user, 'POST', 'create', {
    ...fields,
    documents,
    certifications,
    currency,
    displayPrefferedWayOfPayment: 'true',
    allowBeycoIntegration: 'true',
    headquarters: { ...fields.headquarters, country: null },
  });
  const company = await profile(user, id);
  const withId = (parts: object[]) => parts.map(part => ({ ...part, id: expect.any(Number) }));
  expect(company).toMatchObject({
    ...fields,
    currency: { code: 'RWF', label: 'Rwandan Franc' },
    documents: withId(documents),
    certifications: withId(certifications),
  });
  expect(company.documents).toHaveLength(3);
  const { documents: _, certifications: _c, logo: _l, interview: _i, ...brief } = company;
  expect(brief).toMatchObject(await send(user, 'GET', `profile/${id}/name`));

  // A company can be sent back as it was read; an entry with its id stays the same entry.
  expect(await send(user, 'PUT', 'profile', company)).toEqual({ id });
  expect(await profile(user, id)).toEqual(company);
  const [video, farmer] = company.documents;
  const reordered = [{ ...farmer, name: 'Joy M.' }, { name: 'New' }, { ...video, link: null }];
  await send(user, 'PUT', 'profile', { id, documents: reordered, mediaLinks: '', currency: '' });
  const after = await profile(user, id);
  expect(after.documents).toEqual([
    { ...farmer, name: 'Joy M.' },
    { id: expect.any(Number), name: 'New' },
    { id: video.id, type: 'LINK', category: 'VIDEO', name: 'Harvest' },
  ]);
  expect(after.mediaLinks).toEqual({});
  expect(after).not.toHaveProperty('currency');
  expect(after.certifications).toEqual(company.certifications);
  const { body } = await admin.send(
    'GET',
    `/api/audit/list?entity=company&entityId=${id}&action=UPDATE_COMPANY`,
  );
  expect(body.data.items[0].details.fields).toEqual(['currency', 'mediaLinks', 'documents']);
});

test("a company's files belong to its members", async () => {
  const [owner, stranger] = [await tenant(trace, 'One'), await tenant(trace, 'Other')];
  const record = await file(owner.user, 'document');
  const place = `document/${record.storageKey}`;
  const documents = [{ name: 'Record', document: record }];
  const refused = await stranger.user.send('PUT', '/api/company/profile', {
    id: stranger.companyId,
    documents,
  });
  expect([refused.status, wrong(refused)]).toEqual([400, ['documents.0.document.storageKey']]);
  const certifications = [{ certificate: { storageKey: 'unknown' } }];
  const unknown = await owner.user.send('PUT', '/api/company/profile', {
    id: owner.companyId,
    certifications,
  });
  expect(wrong(unknown)).toEqual(['certifications.0.certificate.storageKey']);
  await send(owner.user, 'PUT', 'profile', { id: owner.companyId, documents });
  const colleague = await trace.loggedIn();
  await trace.pool.query("INSERT INTO company_users VALUES ($1, $2, 'MANAGER')", [
    owner.companyId,
    colleague.id,
  ]);
  expect((await downloadFile(trace, colleague, place)).status).toBe(200);
  expect((await downloadFile(trace, stranger.user, place)).status).toBe(404);
  await send(owner.user, 'PUT', 'profile', { id: owner.companyId, documents: [] });
  expect((await downloadFile(trace, colleague, place)).status).toBe(404);
  // Ids of another company's documents are new entries here.
  await send(owner.user, 'PUT', 'profile', { id: owner.companyId, documents });
  const [{ id }] = (await profile(owner.user, owner.companyId)).documents;
  await send(stranger.user, 'PUT', 'profile', { id: stranger.companyId, documents: [{ id, name: 'Mine' }] });
  expect((await profile(owner.user, owner.companyId)).documents).toMatchObject([{ id, name: 'Record' }]);
  expect((await profile(stranger.user, stranger.companyId)).documents[0].id).not.toBe(id);
});

test('fields of a company beyond their limits are refused, each with its path', async () => {
  const user = await trace.loggedIn();
  const body = {
    name: 'N',
    phone: 'x'.repeat(256),
    mediaLinks: { facebook: 5 },
    headquarters: { cell: 'x'.repeat(256) },
    documents: [{ type: 'FILM', category: 'VIDEO', quote: 'x'.repeat(2001) }],
    allowBeycoIntegration: 'perhaps',
  };
  expect(wrong(await user.send('POST', '/api/company/create', body))).toEqual([
    'allowBeycoIntegration',
    'documents.0.quote',
    'documents.0.type',
    'headquarters.cell',
    'mediaLinks.facebook',
    'phone',
  ]);
  const many = await user.send('POST', '/api/company/create', {
    name: 'N',
    certifications: Array(101).fill({}),
  });
  expect(wrong(many)).toEqual(['certifications']);
  // A company can always choose the euro, even without imported rates.
  for (const code of ['RWF', 'KES', 'UGX']) {
    const { id } = await send(user, 'POST', 'create', { name: 'N', currency: { code } });
    expect((await profile(user, id)).currency).toMatchObject({ code, enabled: true });
  }
  const inEuro = await user.send('POST', '/api/company/create', { name: 'N', currency: { code: 'EUR' } });
  expect(inEuro.status, inEuro.text).toBe(200);
  const currency = await user.send('POST', '/api/company/create', { name: 'N', currency: { code: 'ZZZ' } });
  expect(wrong(currency)).toEqual(['currency.code']);
});

test('a company has the actions of its reader, and its roles in products', async () => {
  const { user, companyId } = await tenant(trace, 'Grower');
  const colleague = await trace.loggedIn();
  await trace.pool.query("INSERT INTO company_users VALUES ($1, $2, 'MANAGER')", [companyId, colleague.id]);
  const association = { company: { id: companyId }, type: 'ASSOCIATION' };
  await added(user, { name: 'Tea', associatedCompanies: [association] });
  const manage = ['UPDATE_COMPANY_PROFILE', 'ADD_USER_TO_COMPANY', 'SET_USER_COMPANY_ROLE'];
  const all = ['VIEW_COMPANY_PROFILE', ...manage, 'REMOVE_USER_FROM_COMPANY'];
  const mine = await profile(user, companyId);
  expect([mine.actions, mine.companyRoles]).toEqual([all, ['ASSOCIATION', 'OWNER']]);
  expect((await profile(colleague, companyId)).actions).toEqual(['VIEW_COMPANY_PROFILE']);
  const seen = await profile(admin, companyId);
  expect(seen.actions).toEqual([...all, 'DEACTIVATE_COMPANY', 'MERGE_TO_COMPANY']);
});

test('only members read the users, name, state and partners of a company', async () => {
  const grower = await tenant(trace, 'Grower 2');
  const roaster = await tenant(trace, 'Roaster 2');
  const club = await companyOf(trace, 'Club', []);
  const stranger = await tenant(trace, 'Stranger');
  const state = () => send(grower.user, 'GET', `profile/${grower.companyId}/onboardingState`);
  const nothing = { hasCreatedFacility: false, hasCreatedProcessingAction: false, hasAddedFarmers: false };
  expect(await state()).toEqual({ id: grower.companyId, hasCreatedProduct: false, ...nothing });
  const associate = (id: number, type: string) => ({ company: { id }, type });
  await added(grower.user, {
    name: 'Tea',
    associatedCompanies: [associate(roaster.companyId, 'ROASTER'), associate(club, 'ASSOCIATION')],
  });
  expect(await state()).toMatchObject({ hasCreatedProduct: true });
  const invited = await trace.loggedIn();
  const invitation = { companyId: grower.companyId, userId: invited.id, companyUserRole: 'ACCOUNTANT' };
  await send(grower.user, 'POST', 'execute/ADD_USER_TO_COMPANY', invitation);
  expect(await send(grower.user, 'GET', `profile/${grower.companyId}/users`)).toEqual([
    {
      id: grower.user.id,
      email: grower.user.email,
      name: 'Ana',
      surname: 'Uwase',
      status: 'ACTIVE',
      role: 'USER',
      language: 'EN',
      companyRole: 'COMPANY_ADMIN',
    },
    { id: invited.id, companyRole: 'ACCOUNTANT', pending: true },
  ]);
  const names = ({ items }: { items: { name: string }[] }) => items.map(({ name }) => name).sort();
  const connected = (of: Tenant, by = of.user) =>
    send(by, 'GET', `${of.companyId}/connected-companies?limit=1000&offset=0`);
  expect(names(await connected(grower))).toEqual(['Club', 'Roaster 2']);
  expect(names(await connected(roaster))).toEqual(['Club', 'Grower 2']);
  expect(names(await send(grower.user, 'GET', `associations/${grower.companyId}`))).toEqual(['Club']);
  expect(await connected(stranger)).toMatchObject({ items: [], count: 0 });
  const count = `${grower.companyId}/connected-companies?requestType=COUNT`;
  expect(await send(grower.user, 'GET', count)).toEqual({ count: 2, offset: 0, limit: 100 });
  for (const path of ['', '/name', '/users', '/onboardingState']) {
    const [theirs, none] = [
      await send(stranger.user, 'GET', `profile/${grower.companyId}${path}`),
      await send(stranger.user, 'GET', `profile/1234567${path}`),
    ];
    expect(theirs).toEqual(none);
  }
  for (const path of [`${grower.companyId}/connected-companies`, `associations/${grower.companyId}`]) {
    expect((await send(stranger.user, 'GET', path))[0]).toBe(404);
  }
});

test('merging moves users, products and roles to the other company, with history, and closes the first', async () => {
  const [from, into] = [await tenant(trace, 'Small'), await tenant(trace, 'Large')];
  const both = await trace.loggedIn();
  const member = 'INSERT INTO company_users (company_id, user_id, role) VALUES ($1, $2, $3)';
  await trace.pool.query(member, [from.companyId, both.id, 'COMPANY_ADMIN']);
  await trace.pool.query(member, [into.companyId, both.id, 'ACCOUNTANT']);
  const invited = await trace.loggedIn();
  await send(from.user, 'POST', 'execute/ADD_USER_TO_COMPANY', {
    companyId: from.companyId,
    userId: invited.id,
  });
  const owned = await added(from.user, { name: 'Tea' });
  const shared = await added(into.user, {
    name: 'Coffee',
    associatedCompanies: ['PRODUCER', 'TRADER'].map(type => ({ company: { id: from.companyId }, type })),
  });
  const before = await read(into.user, shared);
  const merge = (by: LoggedIn, otherCompanyId: unknown) =>
    by.send('POST', '/api/company/execute/MERGE_TO_COMPANY', { companyId: from.companyId, otherCompanyId });
  expect((await merge(from.user, into.companyId)).status).toBe(403);
  const closed = await companyOf(trace, 'Closed', [], 'DEACTIVATED');
  for (const other of [undefined, from.companyId, 1_234_567, closed]) {
    expect(wrong(await merge(admin, other)), String(other)).toEqual(['otherCompanyId']);
  }
  expect((await merge(admin, String(into.companyId))).status).toBe(200);

  expect(await profile(admin, from.companyId)).toMatchObject({ status: 'DEACTIVATED', users: [] });
  const users = await send(into.user, 'GET', `profile/${into.companyId}/users`);
  expect(users.map(({ id, companyRole }: { id: number; companyRole: string }) => [id, companyRole])).toEqual([
    [from.user.id, 'COMPANY_ADMIN'],
    [into.user.id, 'COMPANY_ADMIN'],
    [both.id, 'ACCOUNTANT'],
  ]);
  expect((await invited.send('GET', '/api/company/invitation/list')).body.data.count).toBe(0);
  const tea = await read(into.user, owned);
  expect(tea.company.id).toBe(into.companyId);
  expect(tea.associatedCompanies).toMatchObject([{ company: { id: into.companyId }, type: 'OWNER' }]);
  const coffee = await read(into.user, shared);
  const roles = coffee.associatedCompanies.map(
    ({ company, type }: { company: { id: number }; type: string }) => [company.id, type],
  );
  expect(roles).toEqual([
    [into.companyId, 'PRODUCER'],
    [into.companyId, 'TRADER'],
    [into.companyId, 'OWNER'],
  ]);
  const history = async (id: number) =>
    (await into.user.send('GET', `/api/product/${id}/history?sort=ASC`)).body.data.items.slice(1);
  expect(await history(owned)).toMatchObject([
    { path: 'company.id', before: from.companyId, after: into.companyId, version: 2, user: { id: admin.id } },
    { path: 'associatedCompanies', version: 2 },
  ]);
  expect(await history(shared)).toMatchObject([
    {
      path: 'associatedCompanies',
      before: before.associatedCompanies.map(
        ({ company, type }: { company: { id: number }; type: string }) => ({
          company: { id: company.id },
          type,
        }),
      ),
    },
  ]);
  const { body } = await admin.send('GET', `/api/audit/list?entity=company&action=MERGE_TO_COMPANY`);
  const details = { from: from.companyId, into: into.companyId, users: 2, products: 2 };
  expect(body.data.items).toMatchObject([
    { entityId: String(into.companyId), userId: admin.id, details },
    { entityId: String(from.companyId), userId: admin.id, details },
  ]);
});
