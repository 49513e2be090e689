import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningService, runningService } from './helpers/service.ts';
import { ADMIN, type RunningTrace, runningTrace } from './helpers/trace.ts';
import { bearer } from './helpers/user-registry.ts';

/** Searches: they change nothing, so the scope read is enough. */
const SEARCHES = new Set(['POST /chat/query', 'POST /graph/materialize']);
/** Administrators' routes outside /admin/. */
const ADMINISTRATION = [
  'GET /api/user/regional-admin/list',
  'GET /api/audit/list',
  'GET /api/audit/actions',
  'GET /api/administration/settings',
  'GET /api/administration/jobs',
  'GET /api/administration/metrics',
  'GET /api/administration/backups',
  'GET /api/administration/failed-mails',
  'POST /api/administration/failed-mails/replay',
  'DELETE /api/administration/failed-mails/{id}',
  'GET /api/chain/currency/budget',
  'GET /api/chain/currency/import/ecb',
  'POST /api/chain/currency/import/ecb',
  'PUT /api/chain/currency-type/{code}/enable',
  'PUT /api/chain/currency-type/{code}/disable',
  ...[
    '/api/chain/facility-type',
    '/api/chain/measure-unit-type',
    '/api/chain/processing-evidence-type',
    '/api/chain/processing-evidence-field',
    '/api/chain/semi-product',
    '/api/chain/value-chain',
    '/api/product-type',
  ].flatMap(path => [`PUT ${path}`, `DELETE ${path}/{id}`]),
  'POST /api/common/globalSettings/{name}',
  'POST /api/product-type',
  'POST /api/chain/value-chain/{id}/enable',
  'POST /api/chain/value-chain/{id}/disable',
];
/** No key counts here, whatever its scopes. */
const LOGIN_ONLY = [
  'POST /api/user/api-keys',
  'GET /api/user/api-keys',
  'DELETE /api/user/api-keys/{id}',
  'DELETE /api/user/sessions/{id}',
  'POST /api/user/email_change',
  'DELETE /api/user/email_change',
  'POST /api/user/second_factor/begin',
  'POST /api/user/second_factor/confirm',
  'POST /api/user/second_factor/recovery_codes',
  'POST /api/user/second_factor/remove',
  'POST /api/user/erase',
];

let trace: RunningTrace;
let packet: RunningService;
let keys: Record<'read' | 'write' | 'admin', string>;
beforeAll(async () => {
  trace = await runningTrace({ RATE_LIMIT: 'off' });
  packet = await runningService({ AUTH_MODE: 'required', RATE_LIMIT: 'off' }, trace, {
    registry: trace.registry,
  });
  const admin = await trace.login(ADMIN.username, ADMIN.password);
  const made = async (scope: string) =>
    (await admin.send('POST', '/api/user/api-keys', { name: scope, scopes: [scope] })).body.data.key;
  keys = { read: await made('read'), write: await made('write'), admin: await made('admin') };
});
afterAll(async () => {
  await packet.stop();
  await trace.stop();
});

interface Operation {
  security?: object[];
}

/** The routes of a definition that need a login. */
async function secured(at: RunningService, path: string): Promise<string[]> {
  const { body } = await at.send('GET', path);
  return Object.entries<Record<string, Operation>>(body.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { security }]) => security === undefined || security.length > 0)
      .map(([method]) => `${method.toUpperCase()} ${path}`),
  );
}

/** Asks without a body and for records that do not exist: scopes are checked before either. */
async function refusal(at: RunningService, route: string, key: string): Promise<string | undefined> {
  const [method = '', pattern = ''] = route.split(' ');
  const path = pattern.replaceAll(/\{\w+\}/g, '0');
  const leave = new AbortController();
  const response = await fetch(at.url + path, { method, headers: bearer(key), signal: leave.signal });
  if (response.status !== 403) {
    leave.abort();
    return undefined;
  }
  if (method === 'HEAD') return 'refused';
  const body = (await response.json()) as { error?: string; errorMessage?: string };
  return body.error ?? body.errorMessage;
}

const isSafe = (route: string) => /^(GET|HEAD|OPTIONS) /.test(route);

test('every route of the packet service needs write, except for safe methods and searches', async () => {
  const routes = await secured(packet, '/openapi.json');
  expect(routes.length).toBeGreaterThan(30);
  for (const route of routes) {
    const needsWrite = !isSafe(route) && !SEARCHES.has(route);
    const refused = await refusal(packet, route, keys.read);
    if (needsWrite) expect(refused, route).toMatch(/lacks the scope write/);
    else expect(refused ?? '', route).not.toMatch(/scope/);
    expect((await refusal(packet, route, keys.write)) ?? '', route).not.toMatch(/scope/);
  }
});

test('every route of the trace backend needs read, write, admin or a login, as its method and its kind say', async () => {
  const routes = await secured(trace, '/v3/api-docs');
  expect(routes.length).toBeGreaterThan(50);
  expect(routes).toEqual(expect.arrayContaining(ADMINISTRATION));
  for (const route of routes) {
    const isAdministrative = route.includes('/admin/') || ADMINISTRATION.includes(route);
    const login = LOGIN_ONLY.includes(route);
    const [read, write, admin] = [
      await refusal(trace, route, keys.read),
      await refusal(trace, route, keys.write),
      await refusal(trace, route, keys.admin),
    ];
    if (login) {
      for (const refused of [read, write, admin]) expect(refused, route).toMatch(/log in/);
      continue;
    }
    if (isAdministrative) expect([read, write], route).toEqual([wordsOf(route), wordsOf(route)]);
    else if (!isSafe(route)) expect(read, route).toMatch(/lacks the scope write/);
    else expect(read ?? '', route).not.toMatch(/scope/);
    if (!isAdministrative) expect(write ?? '', route).not.toMatch(/scope/);
    expect(admin ?? '', route).not.toMatch(/scope|log in/);
  }
});

const wordsOf = (route: string) =>
  route.startsWith('HEAD ') ? 'refused' : expect.stringContaining('lacks the scope admin');

test("an administrator's key without the scope admin has no administrator's rights anywhere", async () => {
  const owner = await trace.loggedIn();
  const company = await owner.send('POST', '/api/company/create', { name: 'Cooperative' });
  const path = `/api/company/profile/${company.body.data.id}`;
  const status = async (key: string) => (await trace.send('GET', path, undefined, bearer(key))).status;
  expect([await status(keys.write), await status(keys.admin)]).toEqual([404, 200]);
});

test('a key cannot change the password by the profile, nor count as a cookie of the interface', async () => {
  const change = (body: object) => trace.send('PUT', '/api/user/profile', body, bearer(keys.admin));
  const refused = await change({ password: 'another of mine', currentPassword: ADMIN.password });
  expect([refused.status, refused.body.errorMessage]).toEqual([403, expect.stringContaining('log in')]);
  expect((await change({ language: 'EN' })).status).toBe(200);
  const out = await trace.send('POST', '/api/user/logout', undefined, bearer(keys.admin));
  expect([out.status, out.body.errorMessage]).toEqual([403, expect.stringContaining('log in')]);
  const login = await trace.send('POST', '/api/user/login', {
    username: ADMIN.username,
    password: keys.admin,
  });
  expect(login.status).toBe(401);
  const cookie = `trace-accessToken=${keys.admin}`;
  expect((await trace.send('GET', '/api/user/profile', undefined, { cookie })).status).toBe(401);
});

test("a deployment's proxy can use other Authorization schemes in addition to the cookie", async () => {
  const user = await trace.loggedIn();
  const basic = { authorization: 'Basic dXNlcjpwYXNz' };
  expect((await user.send('GET', '/api/user/profile', undefined, basic)).status).toBe(200);
});
