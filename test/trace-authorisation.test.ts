import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Access, RULES } from '../src/trace-backend/base/access/rules.ts';
import {
  administrators,
  everyone,
  form,
  KINDS,
  type Kind,
  oneself,
  open,
  operationRows,
  type Row,
  systemAdmin,
  type World,
} from './helpers/authorisation.ts';
import {
  eachBadCookie,
  eachKind,
  eachMediaType,
  eachMode,
  openStage,
  type Stage,
} from './helpers/authorisation-run.ts';
import { added, companyOf, read } from './helpers/chain.ts';
import { codeRows, publicRows } from './helpers/code-rows.ts';
import { definitionOf } from './helpers/definition.ts';
import { finalProductRows } from './helpers/final-products.ts';
import { picture, uploadFile } from './helpers/images.ts';
import { type LoggedIn, PASSWORD, type RunningTrace } from './helpers/trace.ts';

let trace: RunningTrace;
/** who adds the codes that requests name */
let codeAdmin: Promise<LoggedIn> | undefined;

const unknown = 'x'.repeat(43);
const invitationPath = (rest: string) => () => `/api/company/invitation/${unknown}${rest}`;

/** Reads of an upload that no record refers to: only for its owner and a SYSTEM_ADMIN. */
const uploaded = (kind: 'image' | 'document', rest = ''): Row => ({
  path: async ({ owner }) => {
    const { body } = await uploadFile(trace, owner, kind, await picture(9, 9).png().toBuffer());
    return `/api/common/${kind}/${body.data.storageKey}${rest}`;
  },
  ...oneself,
  systemAdmin: 200,
});

/** A product of the company, with a label. */
async function product({
  owner,
  companyId,
}: World): Promise<{ id: number; label: { id: number; uuid: string } }> {
  const id = await added(owner, { name: 'Tea', company: { id: companyId }, labels: { title: 'Tea' } });
  return { id, label: (await read(owner, id)).labels[0] };
}
async function publishedUuid(world: World): Promise<string> {
  const { label } = await product(world);
  await world.owner.send('POST', '/api/product/label/execute/PUBLISH_LABEL', { id: label.id });
  return label.uuid;
}
const published = (rest = '', status = 200): Row => ({
  path: async world => `/api/public/product/label/${await publishedUuid(world)}${rest}`,
  ...open(status),
});
/** A batch of a label of the company. */
async function batch(world: World): Promise<number> {
  const body = { labelId: (await product(world)).label.id, number: 'B-1' };
  return (await world.owner.send('POST', '/api/product/label_batch/create', body)).body.data.id;
}
/** An entry of the knowledge blog of a product of the company. */
async function blogEntry(world: World): Promise<number> {
  const { id } = await product(world);
  await world.owner.send('POST', `/api/product/knowledgeBlog/${id}`, { title: 'x' });
  return (await world.owner.send('GET', `/api/product/knowledgeBlog/list/${id}`)).body.data.items[0].id;
}
/** Actions on a product, for those who can change it; a REGIONAL_ADMIN can only read. */
const changing = {
  administrator: 200,
  member: 200,
  pending: 404,
  stranger: 404,
  regionalAdmin: 403,
  systemAdmin: 200,
};
const reading = { ...changing, regionalAdmin: 200 };
/** Actions on a company, for its COMPANY_ADMIN. */
const managing = { ...changing, member: 403 };
/** Something that is done to another member of the company. */
const toColleague = (more: object = {}): Row => ({
  body: async ({ companyId }) => {
    const { id: userId } = await trace.loggedIn();
    await trace.pool.query(
      "INSERT INTO company_users (company_id, user_id, role) VALUES ($1, $2, 'COMPANY_USER')",
      [companyId, userId],
    );
    return { companyId, userId, ...more };
  },
  ...managing,
});
/** Reads something of the company. */
const ofOwn = (before: string, after: string): Row => ({
  path: ({ companyId }) => `/api/company/${before}${companyId}${after}`,
  ...reading,
});
const ofCompany = ({ companyId }: World) => ({ companyId });

const productPath = (rest: string) => async (world: World) =>
  `/api/product/${(await product(world)).id}${rest}`;

/** A change of a label by its id. */
const labelWith =
  (more: object = {}) =>
  async (world: World) => ({ id: (await product(world)).label.id, ...more });

/** Reads of a label. */
const ofLabel = (
  folder: string,
  nameOf: (made: Awaited<ReturnType<typeof product>>) => string | number,
): Row => ({ path: async world => `/api/product/${folder}/${nameOf(await product(world))}`, ...reading });

/** The permissions. Every route of the running trace backend has a row here. */
const TABLE: Record<string, Row> = {
  'GET /health': open(200),
  'GET /health/ready': open(200),
  'GET /health/live': open(200),
  'GET /.well-known/jwks.json': open(200),
  'GET /api/discoverability': { path: () => '/api/discoverability?contact=x', ...open(401) },
  'POST /api/user/register': {
    body: () => ({
      email: `${randomUUID()}@example.org`,
      password: 'a new password',
      name: 'Ana',
      surname: 'Uwase',
    }),
    ...open(200),
  },
  'POST /api/user/confirm_email': { body: () => ({ token: unknown }), ...open(400) },
  'GET /api/user/confirm_email/{token}': { path: () => `/api/user/confirm_email/${unknown}`, ...open(200) },
  'POST /api/user/resend_confirmation': { body: () => ({ email: 'nobody@example.org' }), ...open(200) },
  'POST /api/user/request_reset_password': { body: () => ({ email: 'nobody@example.org' }), ...open(200) },
  'POST /api/user/reset_password': {
    body: () => ({ token: unknown, password: 'a new password' }),
    ...open(400),
  },
  'GET /api/user/reset_password/{token}': { path: () => `/api/user/reset_password/${unknown}`, ...open(200) },
  'POST /api/user/login': {
    body: () => ({ username: `${randomUUID()}@example.org`, password: 'wrong' }),
    ...open(401),
  },
  'POST /api/user/token': {
    body: () => ({ username: `${randomUUID()}@example.org`, password: 'wrong' }),
    ...open(401),
  },
  'POST /api/user/token/refresh': { body: () => ({ refresh_token: unknown }), ...open(401) },
  'POST /api/user/refresh_authentication': open(401),
  'POST /api/user/logout': everyone(200),
  'GET /api/user/export': { ...everyone(200), inTurn: true },
  'GET /api/user/admin/export/{id}': {
    path: ({ owner }) => `/api/user/admin/export/${owner.id}`,
    ...systemAdmin(),
    inTurn: true,
  },
  'POST /api/user/erase': { body: () => ({ currentPassword: 'not mine' }), ...everyone(400) },
  'POST /api/user/admin/erase': { body: ({ owner }) => ({ id: owner.id }), ...systemAdmin() },
  'GET /api/user/email_change': everyone(200),
  'DELETE /api/user/email_change': everyone(404),
  'POST /api/user/email_change': {
    body: () => ({ email: `${randomUUID()}@example.org`, currentPassword: PASSWORD }),
    ...everyone(200),
  },
  'POST /api/user/email_change/confirm': { body: () => ({ token: unknown }), ...open(400) },
  'GET /api/user/email_change/confirm/{token}': {
    path: () => `/api/user/email_change/confirm/${unknown}`,
    ...open(200),
  },
  'GET /api/user/second_factor': everyone(200),
  'POST /api/user/second_factor/begin': {
    body: () => ({ currentPassword: PASSWORD }),
    ...everyone(200),
  },
  'POST /api/user/second_factor/confirm': { body: () => ({ code: '000000' }), ...everyone(400) },
  'POST /api/user/second_factor/recovery_codes': {
    body: () => ({ currentPassword: PASSWORD, code: '000000' }),
    ...everyone(400),
  },
  'POST /api/user/second_factor/remove': {
    body: () => ({ currentPassword: PASSWORD, code: '000000' }),
    ...everyone(400),
  },
  'POST /api/user/api-keys': { body: () => ({ name: 'x', scopes: ['read'] }), ...everyone(200) },
  'GET /api/user/api-keys': everyone(200),
  'DELETE /api/user/api-keys/{id}': {
    path: async ({ owner }) => {
      const { body } = await owner.send('POST', '/api/user/api-keys', { name: 'x', scopes: ['read'] });
      return `/api/user/api-keys/${body.data.id}`;
    },
    ...oneself,
  },
  'POST /api/user/api-keys/resolve': { body: () => ({ sha256: '0'.repeat(64) }), ...open(401) },
  'GET /api/user/sessions': everyone(200),
  'DELETE /api/user/sessions/{id}': {
    path: async ({ owner }) => {
      const { body } = await owner.send('GET', '/api/user/sessions');
      return `/api/user/sessions/${body.data.items[0].id}`;
    },
    ...oneself,
  },
  'GET /api/user/profile': everyone(200),
  'PUT /api/user/profile': { body: () => ({ name: 'Ana' }), ...everyone(200) },
  // Users can't act on themselves; only administrators learn that.
  'POST /api/user/admin/execute/ACTIVATE_USER': {
    body: ({ owner }) => ({ id: owner.id }),
    ...administrators(),
  },
  'POST /api/user/admin/execute/DEACTIVATE_USER': {
    body: ({ owner }) => ({ id: owner.id }),
    ...administrators(),
  },
  'POST /api/user/admin/execute/CONFIRM_USER_EMAIL': {
    body: ({ owner }) => ({ id: owner.id }),
    ...administrators(),
  },
  ...Object.fromEntries(
    [
      'SET_USER_REGIONAL_ADMIN',
      'UNSET_USER_REGIONAL_ADMIN',
      'SET_USER_SYSTEM_ADMIN',
      'UNSET_USER_SYSTEM_ADMIN',
      'REMOVE_USER_SECOND_FACTOR',
    ].map(action => [
      `POST /api/user/admin/execute/${action}`,
      { body: ({ owner }: World) => ({ id: owner.id }), ...systemAdmin() },
    ]),
  ),
  'POST /api/user/admin/confirmation_link': {
    body: async () => {
      const { id } = await trace.loggedIn();
      await trace.pool.query('UPDATE users SET email_confirmed_at = NULL WHERE id = $1', [id]);
      return { id };
    },
    ...administrators(),
  },
  'GET /api/user/list': everyone(200),
  'GET /api/user/admin/list': administrators(),
  'GET /api/user/regional-admin/list': administrators(),
  'PUT /api/user/admin/profile': {
    body: ({ owner }) => ({ id: owner.id, name: 'Ana' }),
    ...administrators(),
  },
  'GET /api/user/admin/profile/{id}': {
    path: ({ owner }) => `/api/user/admin/profile/${owner.id}`,
    ...administrators(),
  },
  ...operationRows,
  'GET /api/common/countries': open(200),
  ...publicRows({ everyone, open, systemAdmin }, uploaded),
  'POST /api/company/create': { body: () => ({ name: 'Cooperative' }), ...everyone(200) },
  'PUT /api/company/profile': { body: ({ companyId }) => ({ id: companyId, name: 'x' }), ...managing },
  'GET /api/company/profile/{id}': {
    path: ({ companyId }) => `/api/company/profile/${companyId}`,
    ...reading,
  },
  'GET /api/company/profile/{id}/name': ofOwn('profile/', '/name'),
  'GET /api/company/profile/{id}/users': ofOwn('profile/', '/users'),
  'GET /api/company/profile/{id}/onboardingState': ofOwn('profile/', '/onboardingState'),
  'GET /api/company/{id}/connected-companies': ofOwn('', '/connected-companies'),
  'GET /api/company/associations/{id}': ofOwn('associations/', ''),
  'GET /api/company/list': everyone(200),
  'GET /api/company/admin/list': administrators(),
  'GET /api/company/names': { path: () => '/api/company/names?name=kop', ...everyone(200) },
  'POST /api/company/execute/ACTIVATE_COMPANY': { body: ofCompany, ...systemAdmin() },
  'POST /api/company/execute/DEACTIVATE_COMPANY': { body: ofCompany, ...systemAdmin() },
  'POST /api/company/execute/MERGE_TO_COMPANY': {
    body: async ({ companyId }) => ({
      companyId: await companyOf(trace, 'Merged', []),
      otherCompanyId: companyId,
    }),
    ...systemAdmin(),
  },
  'POST /api/company/execute/ADD_USER_TO_COMPANY': {
    body: async ({ companyId }) => ({ companyId, userId: (await trace.loggedIn()).id }),
    ...managing,
  },
  'POST /api/company/execute/SET_USER_COMPANY_ROLE': toColleague({ companyUserRole: 'MANAGER' }),
  'POST /api/company/execute/REMOVE_USER_FROM_COMPANY': toColleague(),
  'POST /api/company/execute/ACCEPT_INVITATION': { body: ofCompany, ...everyone(404), pending: 200 },
  'POST /api/company/execute/DECLINE_INVITATION': { body: ofCompany, ...everyone(404), pending: 200 },
  'GET /api/company/invitation/list': everyone(200),
  'POST /api/company/invitation': { body: () => ({ token: unknown, answer: 'ACCEPT' }), ...open(400) },
  'GET /api/company/invitation/{token}/company': { path: invitationPath('/company'), ...open(400) },
  'GET /api/company/invitation/{token}': { path: invitationPath(''), ...open(200) },
  'POST /api/product/create': {
    body: ({ companyId }) => ({ name: 'Tea', company: { id: companyId } }),
    ...everyone(400),
    administrator: 200,
    member: 200,
    systemAdmin: 200,
  },
  'PUT /api/product': { body: async world => ({ id: (await product(world)).id, name: 'x' }), ...changing },
  'GET /api/product/{id}': { path: productPath(''), ...reading },
  'DELETE /api/product/{id}': { path: productPath(''), ...changing },
  'DELETE /api/product/{id}/company/{companyId}': {
    path: productPath('/company/999999'),
    ...everyone(404),
    regionalAdmin: 403,
  },
  'POST /api/product/{id}/company/{companyId}/allow': {
    path: productPath('/company/999999/allow'),
    ...everyone(404),
  },
  'GET /api/product/{id}/history': { path: productPath('/history'), ...changing },
  'GET /api/product/{id}/origin.geojson': { path: productPath('/origin.geojson'), ...reading },
  ...codeRows(() => (codeAdmin ??= trace.loggedIn('SYSTEM_ADMIN')), {
    everyone,
    administrators,
    systemAdmin,
  }),
  'GET /api/company/{id}/value-chains': {
    path: ({ companyId }) => `/api/company/${companyId}/value-chains`,
    ...reading,
  },
  'GET /api/company/{id}/product-types': {
    path: ({ companyId }) => `/api/company/${companyId}/product-types`,
    ...reading,
  },
  'POST /api/administration/failed-mails/replay': { body: () => ({ id: 999_999 }), ...systemAdmin(404) },
  'DELETE /api/administration/failed-mails/{id}': {
    path: () => '/api/administration/failed-mails/999999',
    ...systemAdmin(404),
  },
  'GET /api/product/list': everyone(200),
  'GET /api/product/admin/list': administrators(),
  'POST /api/product/label/create': {
    body: async world => ({ productId: (await product(world)).id }),
    ...changing,
  },
  'PUT /api/product/label': { body: labelWith({ title: 'x' }), ...changing },
  'POST /api/product/label/execute/PUBLISH_LABEL': { body: labelWith(), ...changing },
  'POST /api/product/label/execute/UNPUBLISH_LABEL': { body: labelWith(), ...changing },
  'DELETE /api/product/label/{id}': {
    path: async world => `/api/product/label/${(await product(world)).label.id}`,
    ...changing,
  },
  ...finalProductRows(async world => (await product(world)).id, { reading, changing }),
  'GET /api/product/{id}/labels': { path: productPath('/labels'), ...reading },
  'GET /api/product/label/{id}': ofLabel('label', ({ label }) => label.id),
  'GET /api/product/label/content/{id}': ofLabel('label/content', ({ label }) => label.id),
  'PUT /api/product/label/content': {
    body: async world => ({ labelId: (await product(world)).label.id, description: 'x' }),
    ...changing,
  },
  'GET /api/product/label/{id}/differences': ofLabel('label', ({ label }) => `${label.id}/differences`),
  'POST /api/product/label/{id}/differences': {
    path: async world => `/api/product/label/${(await product(world)).label.id}/differences`,
    body: () => ({ names: ['description'] }),
    ...changing,
  },
  'GET /api/product/label/values/{id}': ofLabel('label/values', ({ label }) => label.id),
  'PUT /api/product/label/values': { body: labelWith({ title: 'x' }), ...changing },
  'GET /api/product/label/analytics/{uuid}': ofLabel('label/analytics', ({ label }) => label.uuid),
  'GET /api/product/label/{id}/instructions': ofLabel('label', ({ label }) => `${label.id}/instructions`),
  'GET /api/product/label/{id}/documents': ofLabel('label', ({ label }) => `${label.id}/documents`),
  'PUT /api/product/label/{id}/documents': {
    path: async world => `/api/product/label/${(await product(world)).label.id}/documents`,
    body: () => [],
    ...changing,
  },
  'GET /api/product/label/{id}/batches': ofLabel('label', ({ label }) => `${label.id}/batches`),
  'POST /api/product/label_batch/create': {
    body: async world => ({ labelId: (await product(world)).label.id, number: 'B-1' }),
    ...changing,
  },
  'PUT /api/product/label_batch': {
    body: async world => ({ id: await batch(world), number: 'B-2' }),
    ...changing,
  },
  'GET /api/product/label_batch/{id}': {
    path: async world => `/api/product/label_batch/${await batch(world)}`,
    ...reading,
  },
  'DELETE /api/product/label_batch/{id}': {
    path: async world => `/api/product/label_batch/${await batch(world)}`,
    ...changing,
  },
  'GET /api/product/label/feedback/unseen': everyone(200),
  'POST /api/product/label/{id}/feedback/seen': {
    path: async world => `/api/product/label/${(await product(world)).label.id}/feedback/seen`,
    ...changing,
  },
  'DELETE /api/product/label/feedback/{id}': {
    path: async world => {
      const { label } = await product(world);
      const { rows } = await trace.pool.query(
        "INSERT INTO label_feedback (label_id, answers, at) VALUES ($1, '{}', now()) RETURNING id",
        [label.id],
      );
      return `/api/product/label/feedback/${rows[0].id}`;
    },
    ...changing,
  },
  'POST /api/product/knowledgeBlog/{productId}': {
    path: async world => `/api/product/knowledgeBlog/${(await product(world)).id}`,
    body: () => ({ title: 'x' }),
    ...changing,
  },
  'PUT /api/product/knowledgeBlog': {
    body: async world => ({ id: await blogEntry(world), title: 'x' }),
    ...changing,
  },
  'GET /api/product/knowledgeBlog/{id}': {
    path: async world => `/api/product/knowledgeBlog/${await blogEntry(world)}`,
    ...reading,
  },
  'GET /api/product/knowledgeBlog/list/{productId}': {
    path: async world => `/api/product/knowledgeBlog/list/${(await product(world)).id}`,
    ...reading,
  },
  'GET /api/public/product/knowledgeBlog/{id}': {
    path: async world => `/api/public/product/knowledgeBlog/${await blogEntry(world)}`,
    ...open(404),
  },
  'POST /api/public/product/label/feedback/{uuid}': {
    ...published(),
    path: async world => `/api/public/product/label/feedback/${await publishedUuid(world)}`,
    body: () => ({ feedback: 'Nice' }),
  },
  'GET /api/public/product/label/feedback/list/{uuid}': {
    path: async world => `/api/public/product/label/feedback/list/${await publishedUuid(world)}`,
    ...open(200),
  },
  'GET /api/public/product/label_batch/{uuid}/{number}': {
    path: async world => `/api/public/product/label_batch/${await publishedUuid(world)}/X`,
    ...open(404),
  },
  'GET /api/public/product/label/{uuid}/verify_batch_authenticity': published('/verify_batch_authenticity'),
  'GET /api/public/product/label/{uuid}/verify_batch_origin': published('/verify_batch_origin'),
  'GET /api/public/stock-order/{qrTag}': { path: () => '/api/public/stock-order/EMPTY', ...open(200) },
  'GET /api/public/product/label/{uuid}': published(),
  'GET /api/public/product/label/{uuid}/qr.svg': published('/qr.svg'),
  'GET /api/public/product/label/{uuid}/qr.png': published('/qr.png'),
  'GET /api/public/product/label/{uuid}/photo': published('/photo', 404),
  // A text is not an image: users who can upload one get that error.
  'POST /api/common/image': { form, ...everyone(415) },
  'POST /api/common/document': { form, ...everyone(200) },
  'GET /api/common/image/{storageKey}': uploaded('image'),
  'HEAD /api/common/image/{storageKey}': uploaded('image'),
  'GET /api/common/image/{storageKey}/{size}': uploaded('image', '/SMALL'),
  'HEAD /api/common/image/{storageKey}/{size}': uploaded('image', '/SMALL'),
  'GET /api/common/document/{storageKey}': uploaded('document'),
  'HEAD /api/common/document/{storageKey}': uploaded('document'),
  'GET /api/chain/currency/convert/{value}/{from}/to/{to}': {
    path: () => '/api/chain/currency/convert/5/EUR/to/EUR',
    ...everyone(200),
  },
  'GET /api/chain/currency/convert/{value}/{from}/to/{to}/on/{date}': {
    path: () => '/api/chain/currency/convert/5/EUR/to/EUR/on/2020-01-02',
    ...everyone(200),
  },
  'GET /api/chain/currency/rates/{code}': { path: () => '/api/chain/currency/rates/ZZZ', ...everyone(404) },
  'GET /api/chain/currency/rates/{code}.svg': {
    path: () => '/api/chain/currency/rates/ZZZ.svg',
    ...everyone(404),
  },
  'GET /api/chain/currency/budget': systemAdmin(),
  'GET /api/chain/currency/import/ecb': systemAdmin(),
  'POST /api/chain/currency/import/ecb': { form, ...systemAdmin(400) },
  'GET /api/chain/currency-type/list': everyone(200),
  'GET /api/chain/currency-type/list/enabled': everyone(200),
  'GET /api/chain/currency-type/list/disabled': everyone(200),
  'PUT /api/chain/currency-type/{code}/enable': {
    path: () => '/api/chain/currency-type/ZZZ/enable',
    ...systemAdmin(404),
  },
  'PUT /api/chain/currency-type/{code}/disable': {
    path: () => '/api/chain/currency-type/ZZZ/disable',
    ...systemAdmin(404),
  },
};

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
  trace = stage.trace;
});
afterAll(() => stage.stop());

test('the table lists exactly the routes of the trace backend and their actions', async () => {
  const body = await definitionOf(trace.send, '/v3/api-docs');
  const routes = Object.entries<Record<string, { parameters?: Parameter[] }>>(body.paths).flatMap(
    ([path, methods]) =>
      Object.entries(methods).flatMap(([method, { parameters = [] }]) => {
        const actions = parameters.find(({ name }) => name === 'action')?.schema.enum ?? [''];
        return actions.map(action => `${method.toUpperCase()} ${path.replace('{action}', action)}`);
      }),
  );
  expect(routes.sort()).toEqual(Object.keys(TABLE).sort());
});
type Parameter = { name: string; schema: { enum?: string[] } };

/** The status of each kind of caller by a route's rule; permitted callers can also get another one of valid requests. */
const BY_RULE: Partial<Record<Access, Record<Kind, number>>> = {
  'regional-admin': administrators(),
  'system-admin': systemAdmin(),
  'company.member': reading,
  'company.changeable': managing,
  'product.readable': reading,
  'product.changeable': changing,
  'file.readable': { ...oneself, systemAdmin: 200 },
};
/** Routes that also decide by what is sent: an action, an owner or an associated company, or whose session or key it is. */
const BY_REQUEST =
  /^POST \/api\/(company|user\/admin)\/execute\/|^POST \/api\/product\/create$|^DELETE \/api\/user\/(sessions|api-keys)\/|\/company\/\{companyId\}/;

test('every route names the rule that its row follows', () => {
  const pathOf = (url: string) => url.replaceAll(/:(\w+)(\(\^[^/]*\))?/g, '{$1}');
  const rules = new Map([...trace.accessRules].map(([route, access]) => [pathOf(route), access]));
  for (const [route, row] of Object.entries(TABLE)) {
    const access = rules.get(route) ?? rules.get(route.replace(/(?<=\/execute\/)\w+$/, '{action}'));
    // What every service has, such as /health, states that it is open in another way.
    if (access === undefined) expect(row.open, route).toBe(200);
    if (access === undefined || BY_REQUEST.test(route)) continue;
    const expected = BY_RULE[access];
    for (const kind of KINDS) {
      const given = `${route} (${access}): ${kind}`;
      if (expected === undefined) expect(row[kind], given).toBe(row.stranger);
      else if (expected[kind] >= 400) expect(row[kind], given).toBe(expected[kind]);
      else expect(row[kind], given).not.toBe(403);
    }
  }
});

test('the functions that rules name decide by the record', async () => {
  for (const rule of Object.values(RULES)) {
    if (!('by' in rule)) continue;
    const [file, name] = rule.by;
    expect((await import(`../src/trace-backend/${file}`))[name], `${file} ${name}`).toBeTypeOf('function');
  }
});

const ROWS = Object.entries(TABLE);
test.each(ROWS)('%s: each kind of user', (route, row) => eachKind(stage, route, row));
test.each(ROWS)('%s: AUTH_MODE changes nothing', (route, row) => eachMode(stage, route, row));
test.each(ROWS)('%s: the definition has the media type of every answer', (route, row) =>
  eachMediaType(stage, route, row),
);
test.each(ROWS)('%s: without a valid cookie', (route, row) => eachBadCookie(stage, route, row));
