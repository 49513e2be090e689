import { hash } from 'node:crypto';
import { authenticator } from '../helpers/authenticator.ts';
import { picture } from '../helpers/images.ts';
import type { Request } from './client.ts';
import { codes, setting, valueChain } from './code-stories.ts';
import { labelContents } from './label-stories.ts';
import { ABSENT, type Fact } from './ledger.ts';
import { fileState, formOf } from './packet-stories.ts';
import type { Story, Teller } from './story.ts';
import { cookiesOf, login, PASSWORD } from './world.ts';

/** The interface of the trace backend has no keys: what makes a new record each time is sent once. */
const once = true;

/** A mail that is sent again after a fault brings a new token, and may make the one before it void. */
const fromMail = { done: [400], void: [400] } as const;

const as = (who: { cookie: string }) => ({ headers: { cookie: who.cookie } });

/** An account from its registration to its last session. */
const account: Story = async teller => {
  const { mark, n, world, send, made, change, mailed } = teller;
  const email = `${mark}@people.example.org`;
  const registration = { email, password: PASSWORD, name: 'Ana', surname: mark };
  await send({ endpoint: 'POST /api/user/register', body: registration, done: [400] });
  const fact = made('user', email, 'UNCONFIRMED Ana');
  await send({ endpoint: 'POST /api/user/resend_confirmation', body: { email } });
  const token = await mailed(email);
  await change(fact, 'CONFIRMED_EMAIL Ana', {
    endpoint: 'POST /api/user/confirm_email',
    body: { token, password: PASSWORD },
    ...fromMail,
  });
  await change(fact, 'ACTIVE Ana', {
    endpoint: 'POST /api/user/admin/execute/{action}',
    at: { action: 'ACTIVATE_USER' },
    body: { id: await world.userId(email) },
    ...as(await world.admin(teller)),
  });
  await change(fact, 'ACTIVE Mia', {
    endpoint: 'PUT /api/user/admin/profile',
    body: { id: await world.userId(email), name: 'Mia' },
    ...as(await world.admin(teller)),
  });
  const who = await login(teller, email, PASSWORD);
  await change(fact, 'ACTIVE Zoe', {
    endpoint: 'PUT /api/user/profile',
    body: { name: 'Zoe' },
    ...as(who),
  });
  if (n % 2) await endSessions(teller, who.cookie, email);
  else await resetPassword(teller, email);
};

/** Each refresh token is good once, so after an unknown outcome the user would have to log in again. */
async function endSessions({ send, read, made, change }: Teller, cookie: string, email: string) {
  const refreshed = await send({
    endpoint: 'POST /api/user/refresh_authentication',
    headers: { cookie },
    once,
  });
  const headers = { cookie: cookiesOf(refreshed) };
  const other = await send({
    endpoint: 'POST /api/user/login',
    body: { username: email, password: PASSWORD },
  });
  const { items } = (await read('/api/user/sessions', { cookie: cookiesOf(other) })).body.data;
  const sessions = new Map<string, Fact>(
    items.map(({ id }: { id: string }) => [id, made('session', id, 'open')]),
  );
  const { id } = items.find(({ current }: { current: boolean }) => current);
  await change(sessions.get(id) as Fact, ABSENT, {
    endpoint: 'DELETE /api/user/sessions/{id}',
    at: { id },
    headers,
    done: [404],
  });
  for (const [own, session] of sessions) {
    if (own !== id) session.states.push(ABSENT);
  }
  await send({ endpoint: 'POST /api/user/logout', headers, done: [401] });
  for (const session of sessions.values()) session.acknowledged = session.states.length - 1;
}

async function resetPassword(teller: Teller, email: string) {
  const { send, mailed } = teller;
  await send({ endpoint: 'POST /api/user/request_reset_password', body: { email } });
  const token = await mailed(email, /^Subject: Set a new password/m);
  const password = 'another horse battery staple';
  await send({ endpoint: 'POST /api/user/reset_password', body: { token, password }, ...fromMail });
  await login(teller, email, password);
}

/** Each code is good once: after an unknown outcome the next one would be asked for. */
const secondFactor: Story = async ({ mark, n, person, send, made, change }) => {
  const who = await person();
  const own = as(who);
  const currentPassword = PASSWORD;
  const begun = await send({
    endpoint: 'POST /api/user/second_factor/begin',
    body: { currentPassword },
    ...own,
  });
  const app = authenticator(begun.body.data.secret, 0);
  const fact = made('factor', `${mark}@people.example.org`, 'begun');
  const confirmed = await change(fact, 'confirmed 10', {
    endpoint: 'POST /api/user/second_factor/confirm',
    body: { code: app.code() },
    ...own,
    once,
  });
  // No third code is good before half a minute has passed.
  const proof = {
    body: { currentPassword, code: app.code() },
    headers: { cookie: cookiesOf(confirmed) },
    once,
  } as const;
  if (n % 2)
    await change(fact, 'confirmed 10', { endpoint: 'POST /api/user/second_factor/recovery_codes', ...proof });
  else await change(fact, ABSENT, { endpoint: 'POST /api/user/second_factor/remove', ...proof });
};

/** A key for a program, and the tokens of an app, each of which refreshes once. */
const keys: Story = async ({ mark, n, person, send, made, change }) => {
  const who = await person();
  const body = { name: mark, scopes: ['read'] };
  const created = await send({ endpoint: 'POST /api/user/api-keys', body, ...as(who), once });
  const { id } = created.body.data;
  const fact = made('key', id, mark);
  const endpoint = 'DELETE /api/user/api-keys/{id}';
  if (n % 2) await change(fact, ABSENT, { endpoint, at: { id }, ...as(who), done: [404] });
  const credentials = { username: who.email, password: PASSWORD };
  const tokens = await send({ endpoint: 'POST /api/user/token', body: credentials });
  const { refresh_token } = tokens.body.data;
  await send({ endpoint: 'POST /api/user/token/refresh', body: { refresh_token }, once });
};

const emailChange: Story = async ({ mark, n, person, send, made, change, mailed }) => {
  const who = await person();
  const email = `${mark}@elsewhere.example.org`;
  const body = { email, currentPassword: PASSWORD };
  await send({ endpoint: 'POST /api/user/email_change', body, ...as(who), once });
  if (n % 2) {
    await send({ endpoint: 'DELETE /api/user/email_change', ...as(who), done: [404] });
    return;
  }
  const endpoint = 'POST /api/user/email_change/confirm';
  await send({ endpoint, body: { token: await mailed(who.email) }, ...fromMail });
  const fact = made('user', who.email, 'ACTIVE Ana');
  const token = await mailed(email);
  await change(fact, ABSENT, { endpoint, body: { token }, ...fromMail });
  made('user', email, 'ACTIVE Ana');
};

/** A closed account counts as erased: the remaining steps are retried every hour. */
const erasure: Story = async teller => {
  const { n, world, person, made, change } = teller;
  const who = await person();
  const fact = made('user', who.email, 'ACTIVE Ana');
  const own = { body: { currentPassword: PASSWORD }, ...as(who), done: [401] };
  if (n % 2) await change(fact, ABSENT, { endpoint: 'POST /api/user/erase', ...own });
  else {
    const admin = as(await world.admin(teller));
    await change(fact, ABSENT, { endpoint: 'POST /api/user/admin/erase', body: { id: who.id }, ...admin });
  }
};

const company: Story = async teller => {
  const { mark, n, world, person, send, made, change, mailed } = teller;
  const [ana, bo] = [await person(`${mark}-ana`), await person(`${mark}-bo`)];
  const created = await send({
    endpoint: 'POST /api/company/create',
    body: { name: mark },
    ...as(ana),
    once,
  });
  const companyId = created.body.data.id;
  const fact = made('company', String(companyId), `ACTIVE ${mark}`);
  await change(fact, `ACTIVE ${mark} renamed`, {
    endpoint: 'PUT /api/company/profile',
    body: { id: companyId, name: `${mark} renamed` },
    ...as(ana),
  });
  const execute = (action: string, body: object, who: { cookie: string }): Request => ({
    endpoint: 'POST /api/company/execute/{action}',
    at: { action },
    body: { companyId, ...body },
    ...as(who),
  });
  const added = { userId: bo.id, companyUserRole: 'ACCOUNTANT' };
  await send(execute('ADD_USER_TO_COMPANY', added, ana));
  const member = made('member', `${companyId} ${bo.id}`, 'invited');
  const token = await mailed(bo.email);
  await change(member, n % 2 ? 'ACCOUNTANT' : ABSENT, {
    endpoint: 'POST /api/company/invitation',
    body: { token, answer: n % 2 ? 'ACCEPT' : 'DECLINE' },
    ...fromMail,
  });
  const closed = execute('DEACTIVATE_COMPANY', {}, await world.admin(teller));
  await change(fact, `DEACTIVATED ${mark} renamed`, closed);
};

const product: Story = async teller => {
  const { mark, n, world, send, made, change } = teller;
  const grower = await world.grower(teller);
  const own = as(grower);
  const roaster = await world.roaster(teller);
  const { companyId } = roaster;
  const partner = { company: { id: companyId }, type: 'ROASTER' };
  const created = await send({
    endpoint: 'POST /api/product/create',
    body: { name: mark, associatedCompanies: [partner] },
    ...own,
    once,
  });
  const { id } = created.body.data;
  const fact = made('product', String(id), `${mark} 2`);
  await change(fact, `${mark} renamed 2`, {
    endpoint: 'PUT /api/product',
    body: { id, name: `${mark} renamed` },
    ...own,
  });
  await label(teller, id, own);
  const departure = { at: { id: String(id), companyId: String(companyId) }, ...as(roaster), done: [404] };
  await change(fact, `${mark} renamed 1`, {
    endpoint: 'DELETE /api/product/{id}/company/{companyId}',
    ...departure,
  });
  await send({ endpoint: 'POST /api/product/{id}/company/{companyId}/allow', ...departure });
  if (n % 2) return;
  await change(fact, ABSENT, {
    endpoint: 'DELETE /api/product/{id}',
    at: { id: String(id) },
    ...own,
    done: [404],
  });
};

async function label(teller: Teller, productId: number, own: ReturnType<typeof as>): Promise<void> {
  const { mark, n, send, made, change } = teller;
  const created = await send({
    endpoint: 'POST /api/product/label/create',
    body: { productId, title: mark },
    ...own,
    once,
  });
  const { id, uuid } = created.body.data;
  const fact = made('label', String(id), `UNPUBLISHED ${mark}`);
  const body = { id, title: `${mark} renamed` };
  await change(fact, `UNPUBLISHED ${mark} renamed`, {
    endpoint: 'PUT /api/product/label',
    body,
    ...own,
  });
  await change(fact, `PUBLISHED ${mark} renamed`, {
    endpoint: 'POST /api/product/label/execute/{action}',
    at: { action: 'PUBLISH_LABEL' },
    body: { id },
    ...own,
  });
  await labelContents(teller, { productId, id, uuid }, own);
  await send({ endpoint: 'POST /api/public/logRequest', body: { type: 'VISIT_QR', logKey: uuid } });
  // Where the product goes, its labels go with it.
  const goes = n % 2 === 0;
  if (!goes) {
    made('label-requests', String(id), 'counted');
    return;
  }
  await change(fact, ABSENT, {
    endpoint: 'DELETE /api/product/label/{id}',
    at: { id: String(id) },
    ...own,
    done: [404],
  });
}

const currency: Story = async teller => {
  const { n, world, made, change } = teller;
  const letter = (position: number) => String.fromCharCode(65 + (Math.floor(n / 26 ** position) % 26));
  const code = `${letter(2)}${letter(1)}${letter(0)}`;
  await world.currency(code);
  const admin = as(await world.admin(teller));
  const fact = made('currency', code, 'true');
  const at = { code };
  await change(fact, 'false', { endpoint: 'PUT /api/chain/currency-type/{code}/disable', at, ...admin });
  await change(fact, 'true', { endpoint: 'PUT /api/chain/currency-type/{code}/enable', at, ...admin });
  const rate = made('rate', `${code} 2020-01-02`, ABSENT);
  const { body, headers } = formOf(`Date,${code},\n2020-01-02,1.25,\n`, 'rates.csv');
  const endpoint = 'POST /api/chain/currency/import/ecb';
  await change(rate, '1.25', { endpoint, body, headers: { ...headers, ...admin.headers } });
};

const document: Story = async teller => {
  const { mark, send, made, world } = teller;
  const { cookie } = await world.grower(teller);
  const { body, headers } = formOf(mark);
  const kept = await send({
    endpoint: 'POST /api/common/document',
    body,
    headers: { ...headers, cookie },
    once,
  });
  made('file', kept.body.data.storageKey, ...fileState(mark));
};

const image: Story = async teller => {
  const { mark, n, send, made, world } = teller;
  const { cookie } = await world.grower(teller);
  const colour = `#${(n % 2 ** 24).toString(16).padStart(6, '0')}`;
  const bytes = await picture(9, 9, colour).png().toBuffer();
  const head = `--x\r\ncontent-disposition: form-data; name="file"; filename="${mark}"\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(head), bytes, Buffer.from('\r\n--x--\r\n')]);
  const headers = { 'content-type': 'multipart/form-data; boundary=x', cookie };
  const kept = await send({ endpoint: 'POST /api/common/image', body, headers, once });
  made('file', kept.body.data.storageKey, `${mark} ${bytes.length}`, hash('sha256', bytes));
};

/** The stories of clients of the trace backend, with their total number. */
export const TRACE_STORIES: Readonly<Record<string, { share: number; story: Story }>> = {
  account: { share: 2, story: account },
  'second factor': { share: 1, story: secondFactor },
  'keys for programs': { share: 1, story: keys },
  'change of address': { share: 2, story: emailChange },
  erasure: { share: 2, story: erasure },
  company: { share: 2, story: company },
  product: { share: 5, story: product },
  currency: { share: 2, story: currency },
  'code lists': { share: 1, story: codes },
  'value chain': { share: 1, story: valueChain },
  setting: { share: 1, story: setting },
  document: { share: 3, story: document },
  image: { share: 2, story: image },
};
