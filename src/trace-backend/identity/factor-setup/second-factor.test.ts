import { afterAll, beforeAll, expect, test } from 'vitest';
import { authenticator, withSecondFactor } from '../../../../test/helpers/authenticator.ts';
import { eventually } from '../../../../test/helpers/eventually.ts';
import { type MailServer, mailServer, textOf } from '../../../../test/helpers/mail-server.ts';
import { readQrCode } from '../../../../test/helpers/qr-code.ts';
import { type RunningService, runningService } from '../../../../test/helpers/service.ts';
import {
  ADMIN,
  type LoggedIn,
  PASSWORD,
  type RunningTrace,
  runningTrace,
} from '../../../../test/helpers/trace.ts';
import { bearer } from '../../../../test/helpers/user-registry.ts';

let mail: MailServer;
let trace: RunningTrace;
/** A service that requires second factors of administrators, behind a proxy that forwards client addresses. */
let strict: RunningTrace;
let packet: RunningService;
let admin: LoggedIn;
beforeAll(async () => {
  mail = await mailServer();
  trace = await runningTrace({ SMTP_URL: mail.url });
  const SECOND_FACTOR_REQUIRED = 'REGIONAL_ADMIN,SYSTEM_ADMIN';
  strict = await runningTrace({ SECOND_FACTOR_REQUIRED, TRUST_PROXY: 'true' }, trace);
  packet = await runningService({ AUTH_MODE: 'required' }, trace, { registry: strict.registry });
  admin = await trace.login(ADMIN.username, ADMIN.password);
});
afterAll(async () => {
  await packet.stop();
  await strict.stop();
  await trace.stop();
  await mail.stop();
});

const login = (who: LoggedIn, code?: string, address = '192.0.2.1', of = trace) =>
  of.send(
    'POST',
    '/api/user/login',
    { username: who.email, password: PASSWORD, ...(code !== undefined && { code }) },
    { 'x-forwarded-for': address },
  );
const state = async (who: LoggedIn) => (await who.send('GET', '/api/user/second_factor')).body.data;

test('a second factor is set up with the password and a code of the app, and then required at each login', async () => {
  const user = await trace.loggedIn();
  const begin = (currentPassword: string) =>
    user.send('POST', '/api/user/second_factor/begin', { currentPassword });
  expect((await begin('wrong')).body.validationErrorDetails.fieldErrors).toHaveProperty('currentPassword');
  const { secret, uri, qr } = (await begin(PASSWORD)).body.data;
  expect(await readQrCode(qr, { density: 300 })).toBe(uri);
  expect(uri).toContain(secret);
  expect((await login(user)).status).toBe(200);
  expect(await state(user)).toEqual({ enabled: false, required: false, recoveryCodes: 0 });

  const app = authenticator(secret);
  const confirm = (code: string) => user.send('POST', '/api/user/second_factor/confirm', { code });
  expect((await confirm('000000')).body.status).toBe('VALIDATION_ERROR');
  const confirmed = await confirm(app.code());
  expect(confirmed.body.data.recoveryCodes).toHaveLength(10);
  expect(await state(user)).toEqual({ enabled: true, required: false, recoveryCodes: 10 });
  expect((await begin(PASSWORD)).status).toBe(400);

  const withoutCode = await login(user);
  expect([withoutCode.status, withoutCode.body.status]).toEqual([401, 'AUTH_ERROR']);
  expect(withoutCode.body.validationErrorDetails.fieldErrors).toHaveProperty('code');
  expect(withoutCode.headers.getSetCookie()).toEqual([]);
  expect((await login(user, app.code())).status).toBe(200);
  const [notice] = await mail.mailsTo(user.email);
  expect(textOf(notice)).toContain('need a code from your authenticator app');
  const { body } = await admin.send('GET', `/api/audit/list?action=SET_SECOND_FACTOR&entityId=${user.id}`);
  expect(body.data.count).toBe(1);
});

test('no code is accepted twice, nor an earlier one, even by concurrent requests', async () => {
  const user = await trace.loggedIn();
  const { app } = await withSecondFactor(user);
  const code = app.code();
  const answers = await Promise.all(Array.from({ length: 5 }, () => login(user, code)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401, 401]);
  expect((await login(user, code)).status).toBe(401);
});

test('a recovery code is valid once, in any case and grouping; new ones replace all', async () => {
  const user = await trace.loggedIn();
  const { app, recoveryCodes } = await withSecondFactor(user);
  const [first = '', second = ''] = recoveryCodes;
  expect((await login(user, first.toLowerCase().replaceAll('-', ' '))).status).toBe(200);
  expect((await login(user, first)).status).toBe(401);
  const { rows } = await trace.pool.query('SELECT hash FROM recovery_codes WHERE user_id = $1', [user.id]);
  expect(rows).toHaveLength(9);
  const renew = (body: object) => user.send('POST', '/api/user/second_factor/recovery_codes', body);
  expect((await renew({ currentPassword: 'wrong', code: second })).status).toBe(400);
  const renewed = await renew({ currentPassword: PASSWORD, code: app.code() });
  expect(renewed.body.data.recoveryCodes).toHaveLength(10);
  expect((await login(user, second)).status).toBe(401);
  expect((await login(user, renewed.body.data.recoveryCodes[0])).status).toBe(200);
});

test('wrong codes are counted per account, from all addresses; the password alone does not reset the count', async () => {
  const user = await trace.loggedIn();
  const { recoveryCodes } = await withSecondFactor(user);
  for (let n = 0; n < 10; n++) {
    expect((await login(user, '000000', `198.51.100.${n}`, strict)).status).toBe(401);
    expect((await login(user, undefined, `198.51.100.${n}`, strict)).status).toBe(401);
  }
  const refused = await login(user, recoveryCodes[0], '203.0.113.1', strict);
  expect([refused.status, Number(refused.headers.get('retry-after')) > 600]).toEqual([429, true]);
  await trace.pool.query("UPDATE login_failures SET at = at - interval '15 minutes'");
  expect((await login(user, recoveryCodes[0], '203.0.113.1', strict)).status).toBe(200);
  const { body } = await admin.send('GET', `/api/audit/list?action=LOGIN_FAILED&entityId=${user.id}`);
  expect(body.data.items[0].details).toEqual({ reason: 'code' });
});

test('it is removed with password and code, or by a SYSTEM_ADMIN; the user gets a mail in both cases', async () => {
  const [user, lost] = [await trace.loggedIn(), await trace.loggedIn()];
  const { app } = await withSecondFactor(user);
  const remove = (body: object) => user.send('POST', '/api/user/second_factor/remove', body);
  expect((await remove({ currentPassword: PASSWORD, code: '000000' })).status).toBe(400);
  expect((await remove({ currentPassword: PASSWORD, code: app.code() })).status).toBe(200);
  expect((await login(user)).status).toBe(200);
  expect(textOf((await mail.mailsTo(user.email, 2))[1])).toContain('no longer need a code');

  await withSecondFactor(lost);
  const regional = await trace.loggedIn('REGIONAL_ADMIN');
  const execute = (by: LoggedIn) =>
    by.send('POST', '/api/user/admin/execute/REMOVE_USER_SECOND_FACTOR', { id: lost.id });
  expect((await execute(regional)).status).toBe(403);
  expect((await execute(admin)).status).toBe(200);
  expect((await lost.send('GET', '/api/user/profile')).status).toBe(401);
  expect((await login(lost)).status).toBe(200);
});

test('a role that needs a second factor can do nothing without it, here and at the packet service; others can', async () => {
  const [regional, user] = [await strict.loggedIn('REGIONAL_ADMIN'), await strict.loggedIn()];
  const list = (cookie: string) => strict.send('GET', '/api/user/admin/list', undefined, { cookie });
  const askPacket = (cookie: string) =>
    packet.send('GET', '/packets', undefined, bearer(cookie.slice('trace-accessToken='.length)));
  const atPacket = async (cookie: string) => (await askPacket(cookie)).status;
  expect((await user.send('GET', '/api/company/list')).status).toBe(200);
  const refused = await list(regional.cookie);
  expect([refused.status, refused.body.status]).toEqual([403, 'UNAUTHORIZED']);
  expect(refused.body.errorMessage).toContain('/api/user/second_factor/begin');
  const early = await askPacket(regional.cookie);
  expect([early.status, early.body.error]).toEqual([
    401,
    expect.stringContaining('requires a second factor'),
  ]);
  const claims = JSON.parse(Buffer.from(regional.cookie.split('.')[1] as string, 'base64url').toString());
  expect(claims.is_activated).toBe(false);
  expect((await regional.send('GET', '/api/user/profile')).status).toBe(200);
  expect(await state(regional)).toMatchObject({ enabled: false, required: true });

  const begun = await regional.send('POST', '/api/user/second_factor/begin', { currentPassword: PASSWORD });
  const app = authenticator(begun.body.data.secret);
  const code = app.code();
  const confirmed = await regional.send('POST', '/api/user/second_factor/confirm', { code });
  expect((await list(regional.cookie)).status).toBe(200);
  const cookie = confirmed.headers.getSetCookie()[0]?.split(';')[0] as string;
  expect([(await list(cookie)).status, await atPacket(cookie)]).toEqual([200, 200]);
  const renewed = JSON.parse(Buffer.from(cookie.split('.')[1] as string, 'base64url').toString());
  expect(renewed.is_activated).toBeUndefined();
  const remove = { currentPassword: PASSWORD, code: app.code() };
  const kept = await regional.send('POST', '/api/user/second_factor/remove', remove);
  expect(kept.body.errorMessage).toContain('REGIONAL_ADMIN requires');
});

test("confirming a factor ends the user's other sessions and keys, including concurrent new ones", async () => {
  const [user, stranger] = [await trace.loggedIn(), await trace.loggedIn()];
  const other = await trace.login(user.email, PASSWORD);
  const tokens = (await trace.send('POST', '/api/user/token', { username: user.email, password: PASSWORD }))
    .body.data;
  const keyOf = async (of: LoggedIn) =>
    (await of.send('POST', '/api/user/api-keys', { name: 'station', scopes: ['write'] })).body.data.key;
  const [key, foreign] = [await keyOf(user), await keyOf(stranger)];
  const withKey = async (key: string) =>
    (await trace.send('GET', '/api/user/profile', undefined, bearer(key))).status;
  expect([await withKey(key), await withKey(foreign)]).toEqual([200, 200]);

  const begun = await user.send('POST', '/api/user/second_factor/begin', { currentPassword: PASSWORD });
  const app = authenticator(begun.body.data.secret);
  const code = app.code();
  const { status, headers } = await user.send('POST', '/api/user/second_factor/confirm', { code });
  expect(status).toBe(200);
  const cookie = headers.getSetCookie()[0]?.split(';')[0] as string;
  for (const own of [user.cookie, cookie]) {
    expect((await trace.send('GET', '/api/user/profile', undefined, { cookie: own })).status).toBe(200);
  }
  expect((await user.send('GET', '/api/user/sessions')).body.data.items).toHaveLength(1);
  expect((await other.send('GET', '/api/user/profile')).status).toBe(401);
  expect(await withKey(tokens.access_token)).toBe(401);
  const refreshed = await trace.send('POST', '/api/user/token', { refreshToken: tokens.refresh_token });
  expect(refreshed.status).not.toBe(200);
  expect((await user.send('GET', '/api/user/api-keys')).body.data.items).toEqual([]);
  expect([await withKey(key), await withKey(foreign)]).toEqual([401, 200]);
  expect((await stranger.send('GET', '/api/user/profile')).status).toBe(200);
});

test('a login and a key that began without a factor end with its confirmation', async () => {
  const user = await trace.loggedIn();
  const begun = await user.send('POST', '/api/user/second_factor/begin', { currentPassword: PASSWORD });
  const app = authenticator(begun.body.data.secret);
  const holder = await trace.pool.connect();
  await holder.query('BEGIN');
  await holder.query('SELECT FROM users WHERE id = $1 FOR UPDATE', [user.id]);
  const waiting = async (count: number) => {
    const { rows } = await trace.pool.query(
      "SELECT count(*)::int AS count FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
    );
    return rows[0].count === count;
  };
  // They wait in this order: the confirmation, then the sessions and keys that it must end.
  const confirmed = user.send('POST', '/api/user/second_factor/confirm', { code: app.code() });
  await eventually(() => waiting(1));
  const late = login(user);
  await eventually(() => waiting(2));
  const key = user.send('POST', '/api/user/api-keys', { name: 'late', scopes: ['read'] });
  await eventually(() => waiting(3));
  await holder.query('COMMIT');
  holder.release();
  expect((await confirmed).status).toBe(200);
  for (const { status, body } of [await late, await key]) {
    expect([status, Object.keys(body.validationErrorDetails.fieldErrors)]).toEqual([401, ['code']]);
  }
  expect((await user.send('GET', '/api/user/sessions')).body.data.items).toHaveLength(1);
  expect((await user.send('GET', '/api/user/api-keys')).body.data.items).toEqual([]);
});

/** The requests that need a fresh code, each otherwise valid. */
const guarded = (user: LoggedIn, keyId: string): [string, string, object][] => [
  ['POST', '/api/user/email_change', { email: `new-${user.id}@example.org`, currentPassword: PASSWORD }],
  ['POST', '/api/user/api-keys', { name: 'station', scopes: ['read'] }],
  ['DELETE', `/api/user/api-keys/${keyId}`, {}],
  ['PUT', '/api/user/profile', { password: 'maize in the rain', currentPassword: PASSWORD }],
];

test('with a factor, a new password and changes of address and keys need a fresh code', async () => {
  const user = await trace.loggedIn();
  const { recoveryCodes } = await withSecondFactor(user);
  const [first, second, third, fourth, fifth, foreign] = recoveryCodes as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  const made = await user.send('POST', '/api/user/api-keys', {
    name: 'station',
    scopes: ['read'],
    code: first,
  });
  expect(made.status, made.text).toBe(200);
  const requests = guarded(user, made.body.data.id);
  const wrong = async (answer: ReturnType<LoggedIn['send']>) => {
    const { status, body } = await answer;
    return [status, Object.keys(body.validationErrorDetails?.fieldErrors ?? {})];
  };
  for (const [method, path, body] of requests) {
    expect(await wrong(user.send(method, path, body)), `${method} ${path}`).toEqual([401, ['code']]);
    // A used code and an unknown one.
    for (const code of [first, '000000']) {
      expect(await wrong(user.send(method, path, { ...body, code })), path).toEqual([401, ['code']]);
      await trace.pool.query('DELETE FROM login_failures');
    }
  }
  expect((await user.send('DELETE', `/api/user/api-keys/${made.body.data.id}`)).status).toBe(401);
  // Another user's code is refused, and stays valid for them.
  const other = await trace.loggedIn();
  const theirs = await withSecondFactor(other);
  const [method, path, body] = requests[0] as (typeof requests)[0];
  expect((await user.send(method, path, { ...body, code: theirs.recoveryCodes[0] })).status).toBe(401);
  expect(
    (await other.send('POST', '/api/user/api-keys', { name: 'x', scopes: ['read'], code: foreign })).status,
  ).toBe(401);
  // A wrong password does not use up a code.
  const first2 = { ...body, currentPassword: 'wrong', code: second };
  expect(await wrong(user.send(method, path, first2))).toEqual([400, ['currentPassword']]);
  for (const [index, [method, path, body]] of requests.entries()) {
    const code = [second, third, fourth, fifth][index];
    const answer = await user.send(method, path, { ...body, code });
    expect(answer.status, `${method} ${path} ${answer.text}`).toBe(200);
  }
});

test('a code of the app is valid once for all these changes; wrong codes count like those of logins', async () => {
  const user = await trace.loggedIn();
  const { app } = await withSecondFactor(user);
  const code = app.code();
  const create = (code: string) =>
    user.send('POST', '/api/user/api-keys', { name: 'station', scopes: ['read'], code: code });
  const both = await Promise.all([create(code), create(code)]);
  expect(both.map(({ status }) => status).sort()).toEqual([200, 401]);
  expect((await login(user, code)).status).toBe(401);
  for (let n = 0; n < 9; n++) await create('000000');
  const refused = await create('000000');
  expect([refused.status, Number(refused.headers.get('retry-after')) > 600]).toEqual([429, true]);
  expect((await login(user, app.code())).status).toBe(429);
});

test('without a second factor no code is required, and a sent code is ignored', async () => {
  const user = await trace.loggedIn();
  const key = await user.send('POST', '/api/user/api-keys', { name: 'station', scopes: ['read'] });
  for (const [method, path, body] of guarded(user, key.body.data.id)) {
    const { status, text } = await user.send(method, path, { ...body, code: '123456' });
    expect(status, `${path} ${text}`).toBe(200);
  }
});

test('with SECRETS_KEY the secrets of factors are encrypted, including existing ones', async () => {
  const own = await runningTrace();
  const user = await own.loggedIn();
  const { app } = await withSecondFactor(user);
  const secret = async () =>
    (await own.pool.query('SELECT secret FROM second_factors WHERE user_id = $1', [user.id])).rows[0].secret;
  expect(await secret()).toMatch(/^[\w-]{27}$/);
  const sealed = await runningTrace(
    { SECRETS_KEY: 'a key of the operator'.padEnd(32, '-').replaceAll(' ', '-') },
    own,
  );
  expect(await secret()).toMatch(/^sealed:v1:/);
  expect((await login(user, app.code(), '192.0.2.1', sealed)).status).toBe(200);
  await sealed.stop();
  await own.stop();
});
