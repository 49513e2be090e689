import { afterAll, beforeAll, expect, test } from 'vitest';
import { bodyCheck } from '../src/platform/http/validation.ts';
import { readBody } from '../src/trace-backend/base/contract/reading.ts';
import { filledPath, type Operation, operationsOf } from './helpers/definition.ts';
import { DECLARED, differences, keyOf, LACKING, SENT } from './helpers/front-end.ts';
import { picture, uploadFile } from './helpers/images.ts';
import { type MailServer, mailServer, tokenIn } from './helpers/mail-server.ts';
import { companyForm, labelFields, productForm } from './helpers/product-forms.ts';
import { ADMIN, type LoggedIn, PASSWORD, type RunningTrace, runningTrace } from './helpers/trace.ts';

let mail: MailServer;
let trace: RunningTrace;
let admin: LoggedIn;
let ours: Map<string, Operation>;
beforeAll(async () => {
  mail = await mailServer();
  trace = await runningTrace({ SMTP_URL: mail.url, TRACE_FRONTEND_URL: 'https://front.example' });
  admin = await trace.login(ADMIN.username, ADMIN.password);
  ours = new Map(
    (await operationsOf(trace.send, '/v3/api-docs')).map(operation => [keyOf(operation), operation]),
  );
});
afterAll(async () => {
  await trace.stop();
  await mail.stop();
});

test('the operations that the INATrace front end declares are served as declared, except those in lacking.json', () => {
  const lacking = new Set(LACKING);
  const broken: string[] = [];
  const done: string[] = [];
  const why: string[] = [];
  for (const declared of DECLARED) {
    const key = keyOf(declared);
    const differing = differences(declared, ours.get(key));
    if (!lacking.has(key)) broken.push(...differing.map(difference => `${key}: ${difference}`));
    else if (differing.length === 0) done.push(key);
    else why.push(`${key}: ${differing.join('; ')}`);
  }
  const compatible = DECLARED.length - why.length;
  console.info(`front end: ${compatible}/${DECLARED.length} operations compatible (compatible/declared)`);
  if (process.env.FRONT_END_DIFFERENCES) console.info(why.join('\n'));
  expect(broken).toEqual([]);
  expect(done, 'compatible: remove them from test/fixtures/front-end/lacking.json').toEqual([]);
});

test('requests that the front end was seen to send to compatible operations are valid', async () => {
  const lacking = new Set(LACKING);
  for (const sent of SENT.filter(operation => !lacking.has(keyOf(operation)))) {
    const { method, queries = [], body } = sent;
    const operation = ours.get(keyOf(sent)) as Operation;
    for (const query of queries) {
      const { status, text } = await admin.send(method, filledPath(sent, '1') + query);
      expect(status, `${method} ${sent.path}${query} ${text}`).not.toBe(400);
    }
    if (body === undefined) continue;
    const schema = operation.body['application/json'];
    const check = () => bodyCheck(schema)(readBody(structuredClone(body), schema));
    // What a cut body lacks came after the cut.
    if (sent.cut) expect(problemOf(check), keyOf(sent)).toMatch(/^$| is required$/);
    else expect(check, keyOf(sent)).not.toThrow();
  }
});

/** The message of the error that something throws; empty if it throws none. */
function problemOf(action: () => unknown): string {
  try {
    action();
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

/** The body that the front end was seen to send, with some of its fields changed. */
function recorded(method: string, path: string, change: object = {}): object {
  const sent = SENT.find(operation => operation.method === method && operation.path === path);
  expect(sent?.body, `${method} ${path}`).toBeTypeOf('object');
  return { ...structuredClone(sent?.body as object), ...change };
}

/** Registers with the recorded forms, up to a login. */
async function registered(email: string): Promise<LoggedIn> {
  const post = (path: string, change: object) =>
    trace.send('POST', `/api/user/${path}`, recorded('POST', `/api/user/${path}`, change));
  const { body } = await post('register', { email, password: PASSWORD });
  const token = tokenIn((await mail.mailsTo(email))[0]);
  expect((await post('confirm_email', { token })).body.data.status).toBe('CONFIRMED_EMAIL');
  expect((await post('login', { username: email, password: PASSWORD })).status).toBe(401);
  const activation = recorded('POST', '/api/user/admin/execute/{action}', { id: body.data.id });
  const activated = await admin.send('POST', '/api/user/admin/execute/ACTIVATE_USER', activation);
  expect(activated.body.data.status).toBe('ACTIVE');
  return trace.login(email, PASSWORD);
}

/** The data of an answer that has to be good. */
async function data(user: Pick<LoggedIn, 'send'>, method: string, path: string, body?: object) {
  const answer = await user.send(method, path, body);
  expect(answer.status, `${method} ${path} ${answer.text}`).toBe(200);
  return answer.body.data;
}

test('from registration to a company with a logo and users, with the forms of the front end; another tenant sees nothing', async () => {
  const [ana, bo, other] = [
    await registered('ana@people.example'),
    await registered('bo@people.example'),
    await registered('other@people.example'),
  ];
  await data(ana, 'PUT', '/api/user/profile', recorded('PUT', '/api/user/profile', { name: 'Ana-Maria' }));
  const edited = recorded('PUT', '/api/user/admin/profile', { id: ana.id });
  await data(admin, 'PUT', '/api/user/admin/profile', edited);
  expect(await data(ana, 'GET', '/api/user/profile')).toMatchObject({ surname: 'Uwase-M', companyIds: [] });

  const png = await picture(40, 20).png().toBuffer();
  const logo = (await uploadFile(trace, ana, 'image', png, 'logo.png')).body.data;
  const form = recorded('POST', '/api/company/create', { logo });
  const { id } = await data(ana, 'POST', '/api/company/create', form);
  const profile = `/api/company/profile/${id}`;
  const change = recorded('PUT', '/api/company/profile', { id, logo });
  expect(await data(ana, 'PUT', '/api/company/profile', change)).toEqual({ id });
  expect(await data(ana, 'GET', `${profile}?language=EN`)).toMatchObject({
    id,
    abbreviation: 'KOPA',
    displayPrefferedWayOfPayment: true,
    logo,
    mediaLinks: {},
    headquarters: { city: 'Kigali', country: { code: 'RW' } },
  });
  expect(await data(ana, 'GET', '/api/user/profile')).toMatchObject({
    companyIds: [id],
    companyIdsAdmin: [id],
  });

  const execute = (by: LoggedIn, action: string, more: object = {}) => {
    const body = recorded('POST', '/api/company/execute/{action}', { companyId: String(id), ...more });
    return data(by, 'POST', `/api/company/execute/${action}`, body);
  };
  const users = async () =>
    (await data(ana, 'GET', `${profile}/users`)).map(
      ({ id: userId, companyRole, pending }: { id: number; companyRole: string; pending?: true }) => [
        userId,
        companyRole,
        pending,
      ],
    );
  await execute(ana, 'ADD_USER_TO_COMPANY', { userId: bo.id });
  const own = [ana.id, 'COMPANY_ADMIN', undefined];
  expect(await users()).toEqual([own, [bo.id, 'COMPANY_USER', true]]);
  await execute(bo, 'ACCEPT_INVITATION');
  await execute(ana, 'SET_USER_COMPANY_ROLE', { userId: bo.id, companyUserRole: 'MANAGER' });
  expect(await users()).toEqual([own, [bo.id, 'MANAGER', undefined]]);
  await execute(ana, 'REMOVE_USER_FROM_COMPANY', { userId: bo.id });
  await execute(admin, 'ADD_USER_TO_COMPANY', { userId: bo.id, companyUserRole: 'ACCOUNTANT' });
  expect(await users()).toEqual([own, [bo.id, 'ACCOUNTANT', undefined]]);

  await checkRecordedLists(ana, id);
  await checkHidden(other, id);
  const { items } = await data(admin, 'GET', `/api/audit/list?entity=company&entityId=${id}&sort=ASC`);
  expect(items.map(({ action }: { action: string }) => action)).toEqual([
    'CREATE_COMPANY',
    'UPDATE_COMPANY',
    'ADD_USER_TO_COMPANY',
    'ACCEPT_INVITATION',
    'SET_USER_COMPANY_ROLE',
    'REMOVE_USER_FROM_COMPANY',
    'ADD_USER_TO_COMPANY',
  ]);
});

/** The lists that the front end was seen to ask for. */
async function checkRecordedLists(user: LoggedIn, companyId: number) {
  for (const [path, by] of [
    ['/api/company/list', user],
    ['/api/company/admin/list', admin],
    ['/api/user/list', user],
    ['/api/user/admin/list', admin],
  ] as const) {
    const queries =
      SENT.find(operation => operation.method === 'GET' && operation.path === path)?.queries ?? [];
    expect(queries.length).toBeGreaterThan(0);
    for (const query of queries) {
      const page = await data(by, 'GET', path + query);
      if (!query.includes('COUNT')) expect(Array.isArray(page.items), path + query).toBe(true);
      if (!query.includes('FETCH')) expect(page.count, path + query).toBeTypeOf('number');
    }
  }
  const named = await data(admin, 'GET', '/api/company/admin/list?name=kopan&status=ACTIVE');
  expect(named.items.map(({ id }: { id: number }) => id)).toEqual([companyId]);
  expect((await data(admin, 'GET', '/api/company/admin/list?status=REGISTERED')).items).toEqual([]);
}

/** Users cannot see other people's companies. */
async function checkHidden(stranger: LoggedIn, companyId: number) {
  expect(await data(stranger, 'GET', '/api/company/list')).toMatchObject({ items: [], count: 0 });
  const listed = await data(stranger, 'GET', '/api/user/list');
  expect(listed.items.map(({ id }: { id: number }) => id)).toEqual([stranger.id]);
  for (const path of ['profile/X', 'profile/X/name', 'profile/X/users', 'profile/X/onboardingState']) {
    for (const id of [companyId, 1_234_567]) {
      const { status, body } = await stranger.send('GET', `/api/company/${path.replace('X', String(id))}`);
      expect([status, body], path).toEqual([
        404,
        { status: 'NOT_FOUND', errorMessage: "company not found, or you don't have access" },
      ]);
    }
  }
  for (const path of [`${companyId}/connected-companies`, `associations/${companyId}`]) {
    expect((await stranger.send('GET', `/api/company/${path}`)).status).toBe(404);
  }
  const change = await stranger.send('PUT', '/api/company/profile', { id: companyId, name: 'Mine' });
  expect(change.status).toBe(404);
}

/** Registers, confirms by the mail and is activated by the administrator. */
async function joined(email: string): Promise<LoggedIn> {
  const password = 'a password of mine';
  const form = { name: 'Ana', surname: 'Uwase', email, password, condition: true };
  const { id } = await data(trace, 'POST', '/api/user/register', form);
  const [first] = await mail.mailsTo(email);
  expect(first?.raw.replaceAll('=\n', '')).toContain('https://front.example/confirm-email/');
  await data(trace, 'POST', '/api/user/confirm_email', { token: tokenIn(first) });
  await data(admin, 'POST', '/api/user/admin/execute/ACTIVATE_USER', { id });
  return trace.login(email, password);
}

const upload = async (user: LoggedIn) =>
  (await uploadFile(trace, user, 'image', await picture(90, 90).jpeg().toBuffer())).body.data;

/** A user with a company, a value chain, a product with a photo and pins, and a published label of it. */
async function labelled(email: string, name: string) {
  const user = await joined(email);
  const logo = await upload(user);
  const form = { ...companyForm(0), id: null, name, logo };
  const { id: companyId } = await data(user, 'POST', '/api/company/create', form);
  const code = { code: `TYPE_${companyId}`, label: 'Washing station' };
  const { id: facilityTypeId } = await data(admin, 'PUT', '/api/chain/facility-type', code);
  const chain = {
    id: null,
    name: `${name}'s coffee`,
    description: 'From cherry to cup',
    valueChainStatus: null,
    facilityTypes: [{ id: facilityTypeId, ...code }],
    measureUnitTypes: [],
    processingEvidenceTypes: [],
    processingEvidenceFields: [],
    semiProducts: [],
  };
  const { id: valueChainId } = await data(admin, 'PUT', '/api/chain/value-chain', chain);
  const photo = await upload(user);
  const profile = await data(user, 'GET', `/api/company/profile/${companyId}`);
  const product = productForm(profile, photo.storageKey);
  const valueChain = await data(user, 'GET', `/api/chain/value-chain/${valueChainId}`);
  const { id: productId } = await data(user, 'POST', '/api/product/create', { ...product, valueChain });
  const fields = labelFields([
    'name',
    'photo',
    'origin',
    'process.production',
    'company.name',
    'company.logo',
  ]);
  const label = { productId: String(productId), title: 'Spring', language: 'EN', fields };
  const { id: labelId } = await data(user, 'POST', '/api/product/label/create', label);
  const current = await data(user, 'GET', `/api/product/label/${labelId}`);
  const content = await data(user, 'GET', `/api/product/label/content/${labelId}`);
  await data(user, 'PUT', '/api/product/label', { ...current, fields, title: 'Spring' });
  await data(user, 'PUT', '/api/product/label/content', { ...content, description: 'Label text' });
  await data(user, 'PUT', `/api/product/label/${labelId}/documents`, [] as object);
  await data(user, 'POST', '/api/product/label/execute/PUBLISH_LABEL', current);
  return { user, companyId, valueChainId, productId, labelId, uuid: current.uuid, logo, photo };
}

test('from a registration to the page of a consumer and their feedback; a second tenant sees nothing of it', async () => {
  const ours = await labelled('ana@example.org', 'Kopanyi');
  const { uuid, labelId, productId, companyId } = ours;
  const product = await data(ours.user, 'GET', `/api/product/${productId}`);
  expect(product).toMatchObject({
    company: { id: companyId, name: 'Kopanyi' },
    valueChain: { id: ours.valueChainId, name: "Kopanyi's coffee" },
  });

  const page = await data(trace, 'GET', `/api/public/product/label/${uuid}`);
  const values = new Map(
    page.fields.map(({ name, value }: { name: string; value: unknown }) => [name, value]),
  );
  expect([...values.keys()]).toEqual([
    'name',
    'photo',
    'origin',
    'journeyMarkers',
    'process.production',
    'company.name',
    'company.logo',
  ]);
  expect(values.get('company.logo')).toMatchObject({ storageKey: ours.logo.storageKey });
  expect(values.get('journeyMarkers')).toHaveLength(2);
  await data(trace, 'GET', '/api/public/stock-order/EMPTY?withHistory=true');
  const photo = await trace.send('GET', page.photo);
  expect([photo.status, photo.headers.get('content-type')]).toEqual([200, 'image/jpeg']);
  const feedback = { feedback: 'Nice', email: 'joy@example.org', gdprConsent: true };
  await data(trace, 'POST', `/api/public/product/label/feedback/${uuid}`, feedback);
  const list = `/api/public/product/label/feedback/list/${uuid}`;
  expect((await data(ours.user, 'GET', list)).items).toMatchObject([feedback]);

  const theirs = await labelled('ben@example.org', 'Roastery');
  const own = await data(theirs.user, 'GET', '/api/product/list');
  expect(own.items.map(({ id }: { id: number }) => id)).toEqual([theirs.productId]);
  for (const path of [
    `/api/company/profile/${companyId}`,
    `/api/product/${productId}`,
    `/api/product/${productId}/labels`,
    `/api/product/${productId}/finalProduct/list`,
    `/api/product/knowledgeBlog/list/${productId}`,
    `/api/product/label/${labelId}`,
    `/api/product/label/content/${labelId}`,
    `/api/product/label/${labelId}/batches`,
    `/api/product/label/${labelId}/documents`,
    `/api/product/label/${labelId}/instructions`,
    `/api/product/label/analytics/${uuid}`,
    `/api/final-product/company/${companyId}`,
  ]) {
    expect((await theirs.user.send('GET', path)).status, path).toBe(404);
  }
  const seen = await data(theirs.user, 'GET', list);
  expect(JSON.stringify(seen)).not.toContain('joy@example.org');
  const { storageKey } = ours.photo;
  const body = { id: theirs.productId, photo: { storageKey } };
  const refused = await theirs.user.send('PUT', '/api/product', body);
  expect(refused.status).toBe(400);
});
