import { connect } from 'node:net';
import { parseList } from 'structured-headers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Answer } from './helpers/service.ts';
import { type LoggedIn, type RunningTrace, runningTrace } from './helpers/trace.ts';

let trace: RunningTrace;
let admin: LoggedIn;
beforeAll(async () => {
  trace = await runningTrace();
  admin = await trace.loggedIn('SYSTEM_ADMIN');
});
afterAll(() => trace.stop());

interface Operation {
  method: string;
  /** as in the definition, with parameters in braces */
  template: string;
  path: string;
  takesJson: boolean;
}

async function operations(): Promise<Operation[]> {
  const { body } = await trace.send('GET', '/v3/api-docs');
  const paths = body.paths as Record<string, Record<string, { requestBody?: { content: object } }>>;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { requestBody }]) => ({
      method: method.toUpperCase(),
      template: path,
      path: path.replaceAll(/\{\w+\}/g, 'x'),
      takesJson: 'application/json' in (requestBody?.content ?? {}),
    })),
  );
}

const envelope = (status: string) => ({ status, errorMessage: expect.any(String) });

/** Whether a path is one of those that a template, such as /api/user/{id}, describes. */
const matches = (template: string, path: string) =>
  template.split('/').length === path.split('/').length &&
  template.split('/').every((part, index) => part.startsWith('{') || part === path.split('/')[index]);

test('unknown paths and methods keep the envelope', async () => {
  const known = await operations();
  const paths = [
    '/api',
    '/api/nothing',
    '/api/user',
    '/api/user/login/more',
    ...known.map(({ path }) => path),
  ];
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
    for (const path of paths) {
      // Also a path with parameters: DELETE /api/user/api-keys/resolve is about the key whose id is "resolve".
      if (known.some(operation => operation.method === method && matches(operation.template, path))) continue;
      const { status, body, headers } = await admin.send(method, path);
      const others = known.filter(operation => operation.path === path);
      expect(status, `${method} ${path}`).toBe(others.length === 0 ? 404 : 405);
      expect(body).toEqual(envelope(others.length === 0 ? 'NOT_FOUND' : 'INVALID_REQUEST'));
      for (const operation of others) expect(headers.get('allow')).toContain(operation.method);
    }
  }
});

const FORM = 'application/x-www-form-urlencoded';

test('a body that is not JSON is a REQUEST_BODY_ERROR on every route that takes one', async () => {
  const bodies: [number, string, string | Uint8Array][] = [
    [415, 'text/plain', '{}'],
    [415, FORM, 'a=b'],
    [400, 'application/json', '{"a":'],
    [400, 'application/json', '{"a":"\\ud800"}'],
    [400, 'application/json', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    [400, 'application/json', '['.repeat(10_000)],
    [413, 'application/json', `"${'x'.repeat(1_100_000)}"`],
  ];
  for (const { method, path } of (await operations()).filter(({ takesJson }) => takesJson)) {
    for (const [expected, type, body] of bodies) {
      // The form of a label's page is sent to the route of feedback.
      if (type === FORM && path.startsWith('/api/public/product/label/feedback/')) continue;
      const answer = await admin.send(method, path, body, { 'content-type': type });
      const name = `${method} ${path} ${type} ${String(body).slice(0, 30)}`;
      expect([answer.status, answer.body], name).toEqual([expected, envelope('REQUEST_BODY_ERROR')]);
    }
    const text = await admin.send(method, path, '"text"', { 'content-type': 'application/json' });
    expect(text.body.status, `${method} ${path}`).toBe('VALIDATION_ERROR');
  }
});

test('an answer lists all errors, by field', async () => {
  const answer = await trace.send('POST', '/api/user/register', { email: 5, password: 'short', surname: '' });
  expect(answer.status).toBe(400);
  expect(answer.body).toEqual({
    status: 'VALIDATION_ERROR',
    errorMessage: expect.any(String),
    validationErrorDetails: {
      fieldErrors: {
        name: 'name is required',
        email: expect.stringMatching(/^email must be a string/),
        password: expect.stringMatching(/^password must have at least 8/),
        surname: expect.stringMatching(/^surname must/),
      },
      fieldReasons: {
        name: { reason: 'validation.required', parameters: { field: 'name' } },
        email: { reason: 'validation.string', parameters: { field: 'email', type: 'a string' } },
        password: { reason: 'validation.too_short', parameters: { field: 'password', min: 8 } },
        surname: { reason: 'validation.empty', parameters: { field: 'surname' } },
      },
    },
  });
  const query = await admin.send('GET', '/api/user/admin/list?limit=0');
  expect(query.body.validationErrorDetails.fieldErrors).toEqual({
    limit: expect.stringMatching(/^limit must/),
  });
});

/** The status of an answer and what Fieldtrace-Reason says: each reason with its parameters. */
function reasonsOf({ status, headers }: Answer): [number, ...[string, object][]] {
  const items = parseList(headers.get('fieldtrace-reason') ?? '');
  return [
    status,
    ...items.map(([reason, parameters]): [string, object] => [
      String(reason),
      Object.fromEntries(parameters),
    ]),
  ];
}

/** A user with a company of their own. */
async function companyUser(name: string): Promise<{ user: LoggedIn; companyId: number }> {
  const user = await trace.loggedIn();
  const { body } = await user.send('POST', '/api/company/create', { name });
  return { user, companyId: body.data.id };
}

const buyer = (id: number) => ({ type: 'BUYER', company: { id } });

test('Fieldtrace-Reason names the reason of an error, and bodies have it by field', async () => {
  const { user } = await companyUser('Nyamata');
  const product = { name: 'Coffee', associatedCompanies: [buyer(999_998), buyer(999_999)] };
  const wrong = await user.send('POST', '/api/product/create', product);
  const [first, second] = [0, 1].map(index => ({ field: `associatedCompanies.${index}.company.id` }));
  expect(reasonsOf(wrong)).toEqual([400, ['company.not_active', first], ['company.not_active', second]]);
  expect(wrong.body.validationErrorDetails).toEqual({
    fieldErrors: {
      'associatedCompanies.0.company.id': 'associatedCompanies.0.company.id is not an active company',
      'associatedCompanies.1.company.id': 'associatedCompanies.1.company.id is not an active company',
    },
    fieldReasons: {
      'associatedCompanies.0.company.id': { reason: 'company.not_active', parameters: first },
      'associatedCompanies.1.company.id': { reason: 'company.not_active', parameters: second },
    },
  });

  const key = { name: 'weather', scopes: ['read'], expiresAt: '2200-01-01T00:00:00Z' };
  const late = { field: 'expiresAt', max: 1825 };
  expect(reasonsOf(await user.send('POST', '/api/user/api-keys', key))).toEqual([
    400,
    ['validation.too_many_days_ahead', late],
  ]);
  const list = '/api/user/admin/list';
  expect(reasonsOf(await trace.send('GET', list))).toEqual([401, ['session.required', {}]]);
  expect(reasonsOf(await user.send('GET', list))).toEqual([403, ['user.not_admin', {}]]);
  const self = { id: admin.id };
  expect(reasonsOf(await admin.send('POST', '/api/user/admin/execute/DEACTIVATE_USER', self))).toEqual([
    400,
    ['user.is_yourself', {}],
  ]);
});

test('records of other companies have the reason of unknown ones', async () => {
  const [{ user, companyId }, other] = [await companyUser('Ruli'), await companyUser('Gihombo')];
  const { body } = await user.send('POST', '/api/product/create', { name: 'Tea' });
  const label = await user.send('POST', '/api/product/label/create', { productId: body.data.id });
  for (const [reason, path, id] of [
    ['product.unknown', '/api/product', body.data.id],
    ['label.unknown', '/api/product/label', label.body.data.id],
    ['company.unknown', '/api/company/profile', companyId],
  ] as const) {
    expect((await user.send('GET', `${path}/${id}`)).status, path).toBe(200);
    const [foreign, unknown] = [
      await other.user.send('GET', `${path}/${id}`),
      await other.user.send('GET', `${path}/999999`),
    ];
    expect(reasonsOf(foreign), path).toEqual([404, [reason, {}]]);
    expect([reasonsOf(unknown), unknown.body], path).toEqual([reasonsOf(foreign), foreign.body]);
  }
});

test('the reason of failed logins changes when there are too many', async () => {
  const login = () =>
    trace.send('POST', '/api/user/login', { username: 'nobody@example.org', password: 'x' });
  for (let attempt = 0; attempt < 10; attempt++)
    expect(reasonsOf(await login())).toEqual([401, ['login.wrong', {}]]);
  const refused = await login();
  expect(reasonsOf(refused)).toEqual([429, ['login.too_many_failures', {}]]);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(600);
});

test('U+0000 in a filter is refused by name', async () => {
  for (const path of ['user/admin/list', 'product/list', 'company/list', 'chain/currency-type/list']) {
    const { status, body } = await admin.send('GET', `/api/${path}?query=a%00b`);
    expect([status, Object.keys(body.validationErrorDetails.fieldErrors)], path).toEqual([400, ['query']]);
  }
});

test('invalid HTTP also gets the envelope', async () => {
  for (const [status, request] of [
    [400, 'NONSENSE\r\n\r\n'],
    [431, `GET /api/user/profile HTTP/1.1\r\nhost: localhost\r\ncookie: a=${'x'.repeat(20_000)}\r\n\r\n`],
    [400, 'GET /api/%zz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n'],
  ] as const) {
    const socket = connect(Number(new URL(trace.url).port), '127.0.0.1');
    let text = '';
    socket.on('data', chunk => {
      text += chunk;
    });
    socket.write(request);
    await new Promise(resolve => socket.on('close', resolve));
    expect(text, request.slice(0, 30)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(JSON.parse(text.split('\r\n\r\n')[1] as string)).toEqual(envelope('INVALID_REQUEST'));
  }
});
