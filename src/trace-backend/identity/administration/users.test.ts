import { afterAll, beforeAll, expect, test } from 'vitest';
import { withSecondFactor } from '../../../../test/helpers/authenticator.ts';
import { companyOf, tenant } from '../../../../test/helpers/chain.ts';
import { type MailServer, mailServer, textOf, tokenIn } from '../../../../test/helpers/mail-server.ts';
import { ADMIN, type LoggedIn, type RunningTrace, runningTrace } from '../../../../test/helpers/trace.ts';
import { createAdmin } from './first-admin.ts';

const FRONT_END = 'https://front.example/app';

let mail: MailServer;
let trace: RunningTrace;
let admin: LoggedIn;
beforeAll(async () => {
  mail = await mailServer();
  trace = await runningTrace({ SMTP_URL: mail.url, TRACE_FRONTEND_URL: `${FRONT_END}/` });
  admin = await trace.login(ADMIN.username, ADMIN.password);
});
afterAll(async () => {
  await trace.stop();
  await mail.stop();
});

const list = async (by: LoggedIn, path: string) => {
  const { status, body } = await by.send('GET', `/api/user/${path}`);
  return status === 200 ? body.data : status;
};
const idsOf = ({ items }: { items: { id: number }[] }) => items.map(({ id }) => id).sort();
const actionsOn = async (id: number) =>
  (await admin.send('GET', `/api/audit/list?entity=user&entityId=${id}&sort=ASC`)).body.data.items;

test('a profile has the companies of the user, and those that the user administers', async () => {
  const user = await trace.loggedIn();
  const own = await companyOf(trace, 'Own', [user]);
  const other = await companyOf(trace, 'Other', []);
  const member = 'INSERT INTO company_users (company_id, user_id, role) VALUES ($1, $2, $3)';
  await trace.pool.query(member, [other, user.id, 'MANAGER']);
  await companyOf(trace, 'Closed', [user], 'DEACTIVATED');
  const { body } = await user.send('GET', '/api/user/profile');
  expect(body.data).toMatchObject({ companyIds: [own, other], companyIdsAdmin: [own] });
  const nobody = await trace.loggedIn();
  const profile = (await nobody.send('GET', '/api/user/profile')).body.data;
  expect(profile).toMatchObject({ companyIds: [], companyIdsAdmin: [] });
});

test('the administrator created by the program has a first password until it is changed', async () => {
  const [email, password] = ['second-admin@example.org', 'kivu-lake-at-dawn-7'];
  await createAdmin(trace.pool, { PASSWORD_POLICY: 'strict' }, email, password);
  const { send } = await trace.login(email, password);
  const renamed = await send('PUT', '/api/user/profile', { name: 'Ada' });
  expect(renamed.body.data).toMatchObject({ name: 'Ada', hasFirstPassword: true });
  const body = { currentPassword: password, password: 'kivu-lake-at-dusk-8' };
  expect((await send('PUT', '/api/user/profile', body)).body.data.hasFirstPassword).toBe(false);
  const registered = await trace.loggedIn();
  expect((await registered.send('GET', '/api/user/profile')).body.data.hasFirstPassword).toBe(false);
});

test('only administrators who may remove a second factor see whether there is one', async () => {
  const [user, other] = [await trace.loggedIn(), await trace.loggedIn()];
  await withSecondFactor(user);
  const hasFactor = async (by: LoggedIn, { id }: LoggedIn) =>
    (await list(by, `admin/profile/${id}`)).hasSecondFactor;
  expect([await hasFactor(admin, user), await hasFactor(admin, other)]).toEqual([true, false]);
  expect(await hasFactor(await trace.loggedIn('REGIONAL_ADMIN'), user)).toBeUndefined();
});

test("lists of users have exactly the fields of the front end's forms", async () => {
  const user = await trace.loggedIn();
  const item = {
    id: user.id,
    email: user.email,
    name: 'Ana',
    surname: 'Uwase',
    status: 'ACTIVE',
    role: 'USER',
    language: 'EN',
  };
  const regional = await trace.loggedIn('REGIONAL_ADMIN');
  expect((await list(user, 'list')).items).toEqual([item]);
  for (const path of ['admin/list', 'regional-admin/list']) {
    expect((await list(admin, `${path}?email=${user.email}`)).items).toEqual([item]);
    expect((await list(regional, `${path}?query=${user.email}`)).items).toEqual([item]);
    expect(await list(user, path)).toBe(403);
  }
});

test('administrators look up all users by id, others only those of their companies', async () => {
  const [user, other, third] = [await trace.loggedIn(), await trace.loggedIn(), await trace.loggedIn()];
  const ids = `ids=${user.id},${other.id}`;
  expect(idsOf(await list(admin, `admin/list?${ids}`))).toEqual([user.id, other.id]);
  expect(idsOf(await list(admin, `admin/list?ids=${third.id}&status=DEACTIVATED`))).toEqual([]);
  expect(idsOf(await list(user, `list?${ids}`))).toEqual([user.id]);
});

test('a user lists only the members of their companies, without invited users', async () => {
  const company = await tenant(trace, 'One');
  const two = await tenant(trace, 'Two');
  const colleague = await trace.loggedIn();
  const member = 'INSERT INTO company_users (company_id, user_id, role) VALUES ($1, $2, $3)';
  await trace.pool.query(member, [company.companyId, colleague.id, 'COMPANY_USER']);
  const invited = await trace.loggedIn();
  const invitation = { companyId: company.companyId, userId: invited.id };
  const added = await company.user.send('POST', '/api/company/execute/ADD_USER_TO_COMPANY', invitation);
  expect(added.status).toBe(200);
  const both = [company.user.id, colleague.id].sort();
  expect(idsOf(await list(company.user, 'list'))).toEqual(both);
  expect(idsOf(await list(colleague, 'list'))).toEqual(both);
  expect(await list(colleague, 'list?requestType=COUNT')).toMatchObject({ count: 2 });
  expect(idsOf(await list(two.user, 'list'))).toEqual([two.user.id]);
  expect(idsOf(await list(two.user, `list?email=${company.user.email}`))).toEqual([]);
  expect(idsOf(await list(invited, 'list'))).toEqual([invited.id]);
  expect(idsOf(await list(company.user, `list?email=${colleague.email}`))).toEqual([colleague.id]);
  expect(idsOf(await list(company.user, 'list?surname=nobody'))).toEqual([]);
});

test('an administrator changes the profile of a user, and the audit records it', async () => {
  const user = await trace.loggedIn();
  const regional = await trace.loggedIn('REGIONAL_ADMIN');
  const change = (by: LoggedIn, body: object) => by.send('PUT', '/api/user/admin/profile', body);
  const sent = { id: user.id, name: 'Ana', surname: 'Uwase-M', language: 'RW' };
  const { status, body } = await change(regional, sent);
  expect([status, body.data]).toMatchObject([200, sent]);
  const mine = (await user.send('GET', '/api/user/profile')).body.data;
  expect(mine).toMatchObject(sent);
  expect((await change(admin, { id: String(user.id), name: null })).status).toBe(200);
  const audited = (await actionsOn(user.id)).filter(
    ({ action }: { action: string }) => action === 'UPDATE_USER_PROFILE',
  );
  expect(audited).toMatchObject([{ userId: regional.id, details: { fields: ['surname', 'language'] } }]);
  expect((await change(user, sent)).status).toBe(403);
  expect((await change(regional, { id: admin.id, name: 'x' })).status).toBe(403);
  expect((await change(admin, { id: 2_000_000_000, name: 'x' })).status).toBe(404);
  const wrong = await change(admin, { id: user.id, name: ' ', language: 'FR' });
  expect(Object.keys(wrong.body.validationErrorDetails.fieldErrors).sort()).toEqual(['language', 'name']);
});

test('mails link to the pages of the front end, from which calls are accepted', async () => {
  const email = 'front@example.org';
  const registration = { email, password: 'a password of mine', name: 'Ana', surname: 'Uwase' };
  const origin = { origin: 'https://front.example' };
  const post = (path: string, body: object, headers: Record<string, string> = origin) =>
    trace.send('POST', `/api/user/${path}`, body, headers);
  expect((await post('register', registration, { origin: 'https://evil.example' })).status).toBe(403);
  const registered = await post('register', registration);
  const confirmation = textOf((await mail.mailsTo(email))[0]);
  const token = tokenIn((await mail.mailsTo(email))[0]);
  expect(confirmation).toContain(`${FRONT_END}/confirm-email/${token}\n`);
  expect((await post('confirm_email', { token })).status).toBe(200);
  await admin.send('POST', '/api/user/admin/execute/ACTIVATE_USER', { id: registered.body.data.id });
  expect(textOf((await mail.mailsTo(email, 2))[1])).toContain(`${FRONT_END}/\n`);
  await post('request_reset_password', { email });
  const mailWithLink = (await mail.mailsTo(email, 3))[2];
  expect(textOf(mailWithLink)).toContain(`${FRONT_END}/reset-password/${tokenIn(mailWithLink)}\n`);
});

/** Sets a new password by the last of a number of mails; returns the cookies of the answer. */
async function reset({ email }: LoggedIn, mails = 1): Promise<string[]> {
  await trace.send('POST', '/api/user/request_reset_password', { email });
  const token = tokenIn((await mail.mailsTo(email, mails)).at(-1));
  const body = { token, password: 'a password from a mail' };
  const answer = await trace.send('POST', '/api/user/reset_password', body);
  expect([answer.status, answer.body]).toEqual([200, { status: 'OK' }]);
  return answer.headers.getSetCookie().map(line => /^[^;]+/.exec(line)?.[0] as string);
}

test('setting a new password logs in, and the audit records it', async () => {
  const user = await trace.loggedIn();
  const cookies = await reset(user);
  expect(cookies.map(cookie => cookie.split('=')[0])).toEqual(['trace-accessToken', 'trace-refreshToken']);
  const profile = await trace.send('GET', '/api/user/profile', undefined, { cookie: cookies.join('; ') });
  expect(profile.body.data.id).toBe(user.id);
  const actions = (await actionsOn(user.id)).map(({ action }: { action: string }) => action);
  expect(actions).toEqual(['LOGIN', 'REQUEST_PASSWORD', 'RESET_PASSWORD', 'LOGIN']);
});

test('setting a new password does not log in if a second factor is due or the account is not active', async () => {
  const secured = await trace.loggedIn();
  await withSecondFactor(secured);
  expect(await reset(secured, 2)).toEqual([]);
  const waiting = await trace.loggedIn();
  await trace.pool.query("UPDATE users SET status = 'UNCONFIRMED' WHERE id = $1", [waiting.id]);
  expect(await reset(waiting)).toEqual([]);
});

test('setting a new password does not log in users who must still set up a second factor', async () => {
  const strict = await runningTrace({ SECOND_FACTOR_REQUIRED: 'SYSTEM_ADMIN', SMTP_URL: mail.url }, trace);
  const person = await trace.loggedIn('SYSTEM_ADMIN');
  await strict.send('POST', '/api/user/request_reset_password', { email: person.email });
  const token = tokenIn((await mail.mailsTo(person.email))[0]);
  const body = { token, password: 'a password from a mail' };
  const answer = await strict.send('POST', '/api/user/reset_password', body);
  expect([answer.status, answer.headers.getSetCookie()]).toEqual([200, []]);
  await strict.stop();
});
