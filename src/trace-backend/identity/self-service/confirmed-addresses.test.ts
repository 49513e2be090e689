import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { withSecondFactor } from '../../../../test/helpers/authenticator.ts';
import { companyOf } from '../../../../test/helpers/chain.ts';
import { eventually } from '../../../../test/helpers/eventually.ts';
import { type MailServer, mailServer, textOf, tokenIn } from '../../../../test/helpers/mail-server.ts';
import {
  ADMIN,
  type LoggedIn,
  PASSWORD,
  type RunningTrace,
  runningTrace,
} from '../../../../test/helpers/trace.ts';

let mail: MailServer;
let trace: RunningTrace;
let admin: LoggedIn;
beforeAll(async () => {
  mail = await mailServer();
  trace = await runningTrace({ SMTP_URL: mail.url, TRACE_PUBLIC_URL: 'https://trace.example' });
  admin = await trace.login(ADMIN.username, ADMIN.password);
});
afterAll(async () => {
  await trace.stop();
  await mail.stop();
});

const post = (path: string, body: object) => trace.send('POST', `/api/user/${path}`, body);
const execute = (action: string, id: number) =>
  admin.send('POST', `/api/user/admin/execute/${action}`, { id });
const fieldsOf = ({ body }: { body: { validationErrorDetails?: { fieldErrors: object } } }) =>
  Object.keys(body.validationErrorDetails?.fieldErrors ?? {});

let count = 0;
/** An account with an unconfirmed address that a SYSTEM_ADMIN has activated. */
async function registered(by = 'ACTIVATE_USER'): Promise<LoggedIn & { token: string }> {
  const email = `owner-${++count}@example.org`;
  const person = { email, password: PASSWORD, name: 'Bert', surname: 'Owner' };
  const { id } = (await post('register', person)).body.data;
  const [first] = await mail.mailsTo(email);
  await execute(by, id);
  await execute('ACTIVATE_USER', id);
  return { ...(await trace.login(email, PASSWORD)), token: tokenIn(first) };
}
const profile = async (of: LoggedIn) => (await of.send('GET', '/api/user/profile')).body.data;
const confirmed = async (of: LoggedIn) => (await profile(of)).emailConfirmed;
const beFound = (user: LoggedIn) => user.send('PUT', '/api/user/profile', { discoverable: true });
const holder = (email: string) => trace.registry.findHolder(email);

test('an unconfirmed address does not find its user, however the account became active', async () => {
  for (const by of ['ACTIVATE_USER', 'CONFIRM_USER_EMAIL']) {
    const user = await registered(by);
    await beFound(user);
    expect([await confirmed(user), await holder(user.email)], by).toEqual([false, undefined]);
    const { body } = await admin.send('GET', `/api/user/admin/profile/${user.id}`);
    expect(body.data.emailConfirmed, by).toBe(false);
  }
  expect(await confirmed(admin)).toBe(true);
});

test('the mailed token confirms the address together with the password; alone it only changes the status', async () => {
  const user = await registered();
  await beFound(user);
  const { token } = user;
  const wrong = await post('confirm_email', { token, password: 'not the password' });
  expect([wrong.status, fieldsOf(wrong)]).toEqual([400, ['password']]);
  expect(await confirmed(user)).toBe(false);
  const right = await post('confirm_email', { token, password: PASSWORD });
  expect([right.status, right.body.data?.emailConfirmed]).toEqual([200, true]);
  expect(await holder(user.email)).toEqual({ user_id: String(user.id), discoverable: true });
  expect(fieldsOf(await post('confirm_email', { token, password: PASSWORD }))).toEqual(['token']);
  const { body } = await admin.send('GET', `/api/audit/list?entity=user&entityId=${user.id}&limit=2`);
  expect(body.data.items).toContainEqual(
    expect.objectContaining({
      action: 'CONFIRM_USER_EMAIL',
      userId: user.id,
      details: expect.objectContaining({ byOwner: true }),
    }),
  );

  const other = await registered();
  expect((await post('confirm_email', { token: other.token })).status).toBe(200);
  expect(await confirmed(other)).toBe(false);
});

test('wrong passwords with a mailed token are counted like those of logins', async () => {
  const { token } = await registered();
  const tries = [];
  for (let n = 0; n < 11; n++)
    tries.push((await post('confirm_email', { token, password: `guess ${n}` })).status);
  expect(tries).toEqual([...Array(10).fill(400), 429]);
});

test('one of two concurrent confirmations by a token succeeds', async () => {
  const user = await registered();
  const body = { token: user.token, password: PASSWORD };
  const answers = await Promise.all([post('confirm_email', body), post('confirm_email', body)]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
  expect(await confirmed(user)).toBe(true);
});

test('a confirmation is mailed only to active users with an unconfirmed address', async () => {
  const user = await registered();
  const mails = (await mail.mailsTo(user.email, 2)).length;
  await post('resend_confirmation', { email: user.email });
  const text = textOf((await mail.mailsTo(user.email, mails + 1))[mails]);
  expect(text).toContain('https://trace.example/api/user/confirm_email/');
  expect(text).toContain('password of the account');
  expect(text).not.toContain('An administrator then activates');
  expect((await post('confirm_email', { token: tokenIn({ raw: text }), password: PASSWORD })).status).toBe(
    200,
  );
  await trace.pool.query('DELETE FROM mail_requests WHERE user_id = $1', [user.id]);
  await post('resend_confirmation', { email: user.email });
  // A later mail arrives next, so none was sent before it.
  await post('request_reset_password', { email: user.email });
  const last = (await mail.mailsTo(user.email, mails + 2)).at(-1);
  expect(textOf(last)).toContain('Set a new password');
});

/** Waits for the mail that sets a new password; returns its token. */
async function resetToken({ email }: LoggedIn): Promise<string> {
  await post('request_reset_password', { email });
  const isReset = (mail: Parameters<typeof textOf>[0]) => textOf(mail).includes('/reset_password/');
  return tokenIn(await eventually(() => mail.mails.filter(({ to }) => to.includes(email)).find(isReset)));
}
/** Invites a user to a new company; the user accepts. */
async function invited(user: LoggedIn): Promise<{ companyId: number; boss: LoggedIn }> {
  const boss = await trace.loggedIn();
  const companyId = await companyOf(trace, 'Kopanyi', [boss]);
  await boss.send('POST', '/api/company/execute/ADD_USER_TO_COMPANY', { companyId, userId: user.id });
  const accepted = await user.send('POST', '/api/company/execute/ACCEPT_INVITATION', { companyId });
  expect(accepted.status).toBe(200);
  return { companyId, boss };
}

test('the owner of an address takes over the account that somebody else registered with it', async () => {
  const thief = await registered();
  await beFound(thief);
  const { app } = await withSecondFactor(thief);
  const key = { name: 'stays', scopes: ['write'], currentPassword: PASSWORD, code: app.code() };
  const authorization = `Bearer ${(await thief.send('POST', '/api/user/api-keys', key)).body.data.key}`;
  const byKey = () => trace.send('GET', '/api/user/profile', undefined, { authorization });
  expect((await byKey()).status).toBe(200);
  const { companyId, boss } = await invited(thief);
  const own = (await thief.send('POST', '/api/company/create', { name: 'Own' })).body.data.id;

  const password = 'a password of the owner';
  expect((await post('reset_password', { token: await resetToken(thief), password })).status).toBe(200);
  expect((await thief.send('GET', '/api/user/profile')).status).toBe(401);
  expect((await post('login', { username: thief.email, password: PASSWORD })).status).toBe(401);
  expect((await byKey()).status).toBe(401);
  const owner = await trace.login(thief.email, password);
  expect(await profile(owner)).toMatchObject({
    id: thief.id,
    emailConfirmed: true,
    discoverable: false,
    companyIds: [own],
  });
  expect((await owner.send('GET', '/api/user/second_factor')).body.data).toMatchObject({ enabled: false });
  const left = await boss.send('GET', `/api/company/profile/${companyId}`);
  expect(left.body.data.users.map(({ id }: { id: number }) => id)).toEqual([boss.id]);
});

test('a new password by mail keeps the factor and memberships of a user with a confirmed address', async () => {
  const user = await trace.loggedIn();
  const { companyId } = await invited(user);
  const { app } = await withSecondFactor(user);
  const password = 'a password of the owner';
  expect((await post('reset_password', { token: await resetToken(user), password })).status).toBe(200);
  const { body } = await post('login', { username: user.email, password, code: app.code() });
  expect(body.data).toMatchObject({ emailConfirmed: true, companyIds: [companyId] });
});

test("a stolen mailbox is not enough for an administrator's account that has a second factor", async () => {
  for (const role of ['REGIONAL_ADMIN', 'SYSTEM_ADMIN'] as const) {
    const user = await registered();
    await execute(`SET_USER_${role}`, user.id);
    const { app } = await withSecondFactor(user);
    const password = 'a password of the thief';
    expect((await post('reset_password', { token: await resetToken(user), password })).status).toBe(200);
    const alone = await post('login', { username: user.email, password });
    expect([alone.status, fieldsOf(alone)], role).toEqual([401, ['code']]);
    const { body } = await post('login', { username: user.email, password, code: app.code() });
    expect(body.data).toMatchObject({ role, emailConfirmed: true });
    await execute(`UNSET_USER_${role}`, user.id);
  }
});

test('a token for one address confirms no other', async () => {
  const user = await registered();
  const late = `late-${user.email}`;
  await trace.pool.query('UPDATE users SET email = $1, email_key = $1 WHERE id = $2', [late, user.id]);
  const answer = await post('confirm_email', { token: user.token, password: PASSWORD });
  expect([answer.status, fieldsOf(answer)]).toEqual([400, ['token']]);
});

test('without a mail server, an administrator copies a link that confirms once, together with the password', async () => {
  const mute = await runningTrace({ TRACE_PUBLIC_URL: 'https://trace.example' });
  onTestFinished(() => mute.stop());
  const [system, regional] = [await mute.loggedIn('SYSTEM_ADMIN'), await mute.loggedIn('REGIONAL_ADMIN')];
  const [bert, done] = [await mute.loggedIn(), await mute.loggedIn()];
  const unconfirm = 'UPDATE users SET email_confirmed_at = NULL WHERE id = ANY ($1)';
  await mute.pool.query(unconfirm, [[bert.id, regional.id, system.id]]);
  const copy = (by: LoggedIn, id: number) => by.send('POST', '/api/user/admin/confirmation_link', { id });
  expect((await copy(regional, system.id)).status).toBe(403);
  for (const id of [regional.id, done.id]) expect((await copy(regional, id)).status).toBe(400);
  expect((await copy(regional, 999_999)).status).toBe(404);

  const copied = await copy(regional, bert.id);
  expect([copied.status, copied.headers.get('cache-control')]).toEqual([200, 'no-store']);
  const { url, expiresAt } = copied.body.data;
  const [, token] = /^https:\/\/trace\.example\/api\/user\/confirm_email\/([\w-]{43})$/.exec(url) ?? [];
  expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now());
  const confirm = (password?: string) => mute.send('POST', '/api/user/confirm_email', { token, password });
  expect((await confirm('not the password')).status).toBe(400);
  expect((await confirm(PASSWORD)).body.data.emailConfirmed).toBe(true);
  expect((await confirm(PASSWORD)).status).toBe(400);
  const { body } = await system.send('GET', `/api/audit/list?entity=user&entityId=${bert.id}`);
  const did = body.data.items.map(({ action, userId }: { action: string; userId: number }) => [
    action,
    userId,
  ]);
  expect(did).toEqual([
    ['CONFIRM_USER_EMAIL', bert.id],
    ['COPY_CONFIRMATION_LINK', regional.id],
    ['LOGIN', bert.id],
  ]);
  expect(JSON.stringify(body)).not.toContain(token);

  const where = await registered();
  const refused = await admin.send('POST', '/api/user/admin/confirmation_link', { id: where.id });
  expect([refused.status, refused.body.errorMessage]).toEqual([400, expect.stringContaining('sends mails')]);
});
