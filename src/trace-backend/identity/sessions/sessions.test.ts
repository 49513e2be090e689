import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Answer } from '../../../../test/helpers/service.ts';
import {
  ADMIN,
  type LoggedIn,
  PASSWORD,
  type RunningTrace,
  runningTrace,
} from '../../../../test/helpers/trace.ts';
import { secretBox } from '../../../platform/tokens/secret-box.ts';
import { makeKey } from '../../base/signing-keys/keys.ts';

let trace: RunningTrace;
/** Another process over the same database, behind a proxy that forwards client addresses. */
let other: RunningTrace;
beforeAll(async () => {
  trace = await runningTrace();
  other = await runningTrace(
    {
      TRUST_PROXY: 'true',
      COOKIE_SECURE: 'true',
      COOKIE_SAMESITE: 'lax',
      CORS_ORIGINS: 'https://app.example',
    },
    trace,
  );
});
afterAll(async () => {
  await other.stop();
  await trace.stop();
});

const cookiesOf = (answer: Answer) =>
  answer.headers
    .getSetCookie()
    .map(line => line.split(';')[0] as string)
    .join('; ');
const login = (username: string, password = PASSWORD, headers = {}, of = trace) =>
  of.send('POST', '/api/user/login', { username, password }, headers);
const profile = (cookie: string, of = trace) => of.send('GET', '/api/user/profile', undefined, { cookie });

test('a login sets the cookie with the attributes of the interface document and the settings', async () => {
  const answer = await login(ADMIN.username, ADMIN.password);
  expect(answer.status).toBe(200);
  expect(answer.body.data).toMatchObject({ email: ADMIN.username, role: 'SYSTEM_ADMIN', status: 'ACTIVE' });
  const plain =
    /^trace-accessToken=[\w-]+\.[\w-]+\.[\w-]+; Path=\/; Max-Age=3600; Expires=\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT; HttpOnly/;
  expect(answer.headers.getSetCookie()[0]).toMatch(new RegExp(`${plain.source}$`));
  const secure = await login(ADMIN.username, ADMIN.password, {}, other);
  expect(secure.headers.getSetCookie()[0]).toMatch(new RegExp(`${plain.source}; Secure; SameSite=Lax$`));
  const claims = JSON.parse(Buffer.from(cookiesOf(answer).split('.')[1] as string, 'base64url').toString());
  expect(claims).toEqual({
    sub: String(answer.body.data.id),
    type: 'access',
    email: ADMIN.username,
    role: 'SYSTEM_ADMIN',
    ver: 1,
    sid: expect.any(String),
    iat: expect.any(Number),
    exp: claims.iat + 3600,
    jti: expect.any(String),
  });
});

test('an unknown user and a wrong password get identical answers', async () => {
  const user = await trace.loggedIn();
  const [wrong, unknown] = [await login(user.email, 'wrong'), await login('nobody@example.org', 'wrong')];
  expect([wrong.status, wrong.text]).toEqual([401, unknown.text]);
  expect(wrong.body).toEqual({ status: 'AUTH_ERROR', errorMessage: expect.any(String) });
  expect([...wrong.headers.keys()].sort()).toEqual([...unknown.headers.keys()].sort());
});

test('the audit records a login only if it begins a session', async () => {
  const user = await trace.loggedIn();
  const logins = async () => {
    const { rows } = await trace.pool.query(
      "SELECT count(*)::int AS count FROM audit WHERE action = 'LOGIN' AND user_id = $1",
      [user.id],
    );
    return rows[0].count;
  };
  expect(await logins()).toBe(1);
  await trace.pool.query('ALTER TABLE refresh_tokens ADD CONSTRAINT closed CHECK (false) NOT VALID');
  const refused = await login(user.email);
  await trace.pool.query('ALTER TABLE refresh_tokens DROP CONSTRAINT closed');
  expect([refused.status, refused.headers.getSetCookie()]).toEqual([500, []]);
  expect(await logins()).toBe(1);
  expect((await login(user.email)).status).toBe(200);
  expect(await logins()).toBe(2);
});

test('ten failures for an account from an address block it for a while, also concurrent ones', async () => {
  const [user, innocent] = [await trace.loggedIn(), await trace.loggedIn()];
  const from = (address: string) => ({ 'x-forwarded-for': address });
  const tries = await Promise.all(
    Array.from({ length: 30 }, () => login(user.email, 'wrong', from('192.0.2.7'), other)),
  );
  const statuses = tries.map(({ status }) => status);
  expect(statuses.filter(status => status === 401)).toHaveLength(10);
  expect(new Set(statuses)).toEqual(new Set([401, 429]));
  for (let more = 0; more < 10; more++) await login(user.email, 'wrong', from('192.0.2.7'), other);
  const refused = await login(user.email.toUpperCase(), PASSWORD, from('192.0.2.7'), other);
  const tooMany = { status: 'TOO_MANY_REQUESTS', errorMessage: expect.any(String) };
  expect([refused.status, refused.body]).toEqual([429, tooMany]);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(600);
  expect((await login(user.email, PASSWORD, from('192.0.2.8'), other)).status).toBe(200);
  expect((await login(innocent.email, PASSWORD, from('192.0.2.7'), other)).status).toBe(200);
  await trace.pool.query("UPDATE login_failures SET at = at - interval '15 minutes'");
  expect((await login(user.email, PASSWORD, from('192.0.2.7'), other)).status).toBe(200);
});

test('attempts without a result after a crash expire after a minute, failures do not', async () => {
  const [user, guessed] = [await trace.loggedIn(), await trace.loggedIn()];
  const from = { 'x-forwarded-for': '192.0.2.9' };
  for (const { email } of [user, guessed]) {
    for (let n = 0; n < 10; n++) await login(email, 'wrong', from, other);
  }
  // The state after a process was killed during a check of a password.
  const account = createHash('sha256').update(user.email).digest();
  await trace.pool.query('UPDATE login_failures SET decided = false WHERE account = $1', [account]);
  expect((await login(user.email, PASSWORD, from, other)).status).toBe(429);
  await trace.pool.query("UPDATE login_failures SET at = at - interval '1 minute'");
  expect((await login(user.email, PASSWORD, from, other)).status).toBe(200);
  expect((await login(guessed.email, PASSWORD, from, other)).status).toBe(429);
});

test('logout and deactivation end sessions at once, in every process', async () => {
  const user = await trace.loggedIn();
  const otherCookies = cookiesOf(await login(user.email, PASSWORD, {}, other));
  expect((await profile(otherCookies, other)).status).toBe(200);
  const left = await user.send('POST', '/api/user/logout');
  expect(left.headers.getSetCookie().every(line => line.includes('Max-Age=0'))).toBe(true);
  for (const [cookie, of] of [
    [user.cookie, trace],
    [otherCookies, other],
  ] as const) {
    expect((await profile(cookie, of)).body.status).toBe('AUTH_ERROR');
  }
  const again = cookiesOf(await login(user.email));
  await trace.pool.query("UPDATE users SET status = 'DEACTIVATED' WHERE id = $1", [user.id]);
  expect((await profile(again, other)).status).toBe(401);
});

test('failures count for the /64 of an IPv6 address, not for a single one of its addresses', async () => {
  const user = await trace.loggedIn();
  const from = (address: string) => ({ 'x-forwarded-for': address });
  for (let n = 0; n < 10; n++) await login(user.email, 'wrong', from(`2001:db8:0:7::${n}`), other);
  expect((await login(user.email, PASSWORD, from('2001:0DB8::7:ffff:0:0:1'), other)).status).toBe(429);
  expect((await login(user.email, PASSWORD, from('2001:db8:0:8::1'), other)).status).toBe(200);
});

test('after a hundred failures from all addresses, only recently used addresses can log in to an account', async () => {
  const user = await trace.loggedIn();
  const from = (address: string) => ({ 'x-forwarded-for': address });
  expect((await login(user.email, PASSWORD, from('192.0.2.1'), other)).status).toBe(200);
  expect((await login(user.email, PASSWORD, from('192.0.2.2'), other)).status).toBe(200);
  await trace.pool.query(
    "UPDATE login_addresses SET at = at - interval '31 days' WHERE address = '192.0.2.2'",
  );
  await Promise.all(
    Array.from({ length: 100 }, (_, n) =>
      login(user.email, 'wrong', from(`198.51.100.${Math.floor(n / 5)}`), other),
    ),
  );
  const refused = await login(user.email, PASSWORD, from('203.0.113.1'), other);
  expect([refused.status, Number(refused.headers.get('retry-after')) > 600]).toEqual([429, true]);
  expect((await login(user.email, PASSWORD, from('192.0.2.2'), other)).status).toBe(429);
  expect((await login(user.email, PASSWORD, from('192.0.2.1'), other)).status).toBe(200);
});

test('the audit records failed logins and refused requests for administrators', async () => {
  const [user, regional] = [await trace.loggedIn(), await trace.loggedIn('REGIONAL_ADMIN')];
  const admin = await trace.login(ADMIN.username, ADMIN.password);
  const audited = async (query: string) =>
    (await admin.send('GET', `/api/audit/list?${query}`)).body.data.items;
  await login(user.email, 'wrong');
  const [failed] = await audited(`action=LOGIN_FAILED&entityId=${user.id}`);
  expect(failed).toMatchObject({ address: '127.0.0.1', details: { reason: 'password' } });
  expect(failed.userId).toBeUndefined();
  await login('a-password-typed-into-the-wrong-field', 'x');
  expect(JSON.stringify(await audited('action=LOGIN_FAILED'))).not.toContain('a-password-typed');

  const promote = '/api/user/admin/execute/SET_USER_REGIONAL_ADMIN';
  expect((await regional.send('POST', promote, { id: user.id })).status).toBe(403);
  expect((await user.send('GET', '/api/audit/list')).status).toBe(403);
  const details = { method: 'POST', action: 'SET_USER_REGIONAL_ADMIN', reason: expect.any(String) };
  expect(await audited(`action=REFUSED&userId=${regional.id}`)).toMatchObject([
    { entityId: String(regional.id), details },
  ]);
  expect(await audited(`action=REFUSED&userId=${user.id}`)).toMatchObject([
    { details: { method: 'GET', route: '/api/audit/list' } },
  ]);
  expect((await admin.send('POST', promote, { id: user.id })).body.data.role).toBe('REGIONAL_ADMIN');
});

test('a logout needs only the refresh token', async () => {
  const user = await trace.loggedIn();
  const cookies = cookiesOf(await login(user.email));
  const refresh = cookies.split('; ')[1] as string;
  const logout = (cookie: string) => trace.send('POST', '/api/user/logout', undefined, { cookie });
  expect((await logout('trace-refreshToken=made-up')).body.status).toBe('AUTH_ERROR');
  const left = await logout(refresh);
  expect([left.status, left.headers.getSetCookie().every(line => line.includes('Max-Age=0'))]).toEqual([
    200,
    true,
  ]);
  expect((await profile(cookies)).status).toBe(401);
  expect((await logout(refresh)).status).toBe(401);
});

test('a logout with everywhere=false ends one session, by access or refresh token, and no other', async () => {
  const user = await trace.loggedIn();
  const [kept, left, refreshed] = [
    cookiesOf(await login(user.email)),
    cookiesOf(await login(user.email)),
    cookiesOf(await login(user.email)),
  ];
  const logout = (cookie: string, everywhere: string) =>
    trace.send('POST', `/api/user/logout?everywhere=${everywhere}`, undefined, { cookie });
  expect((await logout(left, 'perhaps')).body.status).toBe('VALIDATION_ERROR');
  expect((await logout('trace-refreshToken=made-up', 'false')).status).toBe(401);
  for (const [cookies, sent] of [
    [left, left.split('; ')[0] as string],
    [refreshed, refreshed.split('; ')[1] as string],
  ] as const) {
    const answer = await logout(sent, 'false');
    expect([answer.status, answer.headers.getSetCookie().every(line => line.includes('Max-Age=0'))]).toEqual([
      200,
      true,
    ]);
    expect((await profile(cookies)).status).toBe(401);
    expect(
      (await trace.send('POST', '/api/user/refresh_authentication', undefined, { cookie: cookies })).status,
    ).toBe(401);
    expect((await profile(kept)).status).toBe(200);
  }
  expect((await logout(kept, 'true')).status).toBe(200);
  expect((await profile(kept)).status).toBe(401);
});

test('refreshing ends thirty days after the login', async () => {
  const user = await trace.loggedIn();
  const first = cookiesOf(await login(user.email));
  await trace.pool.query(
    "UPDATE sessions SET expires_at = expires_at - interval '29 days 23 hours' WHERE user_id = $1",
    [user.id],
  );
  const refresh = (cookie: string) =>
    trace.send('POST', '/api/user/refresh_authentication', undefined, { cookie });
  const renewed = await refresh(first);
  const seconds = Number(/Max-Age=(\d+)/.exec(renewed.headers.getSetCookie()[1] as string)?.[1]);
  expect([renewed.status, seconds > 3500 && seconds <= 3600]).toEqual([200, true]);
  await trace.pool.query(
    "UPDATE sessions SET expires_at = expires_at - interval '1 hour' WHERE user_id = $1",
    [user.id],
  );
  expect((await refresh(cookiesOf(renewed))).status).toBe(401);
  expect((await profile(cookiesOf(renewed))).status).toBe(401);
});

test('a user lists their sessions and ends one, but not those of others', async () => {
  const [user, stranger] = [await trace.loggedIn(), await trace.loggedIn()];
  const phone = await login(user.email, PASSWORD, { 'user-agent': 'a phone' });
  const list = async (cookie: string) =>
    (await trace.send('GET', '/api/user/sessions', undefined, { cookie })).body.data;
  const { items, count } = await list(user.cookie);
  expect([count, items.map(({ current }: { current: boolean }) => current)]).toEqual([2, [false, true]]);
  expect(items[0]).toEqual({
    id: expect.any(String),
    startedAt: expect.any(String),
    lastUsedAt: expect.any(String),
    expiresAt: expect.any(String),
    address: '127.0.0.1',
    userAgent: 'a phone',
    secondFactor: false,
    current: false,
  });
  const end = (who: LoggedIn, id: string) => who.send('DELETE', `/api/user/sessions/${id}`);
  expect((await end(stranger, items[0].id)).status).toBe(404);
  expect((await end(user, 'no-uuid')).status).toBe(404);
  expect((await end(user, items[0].id)).status).toBe(200);
  expect((await profile(cookiesOf(phone))).status).toBe(401);
  const again = { cookie: cookiesOf(phone) };
  expect((await trace.send('POST', '/api/user/refresh_authentication', undefined, again)).status).toBe(401);
  expect((await list(user.cookie)).count).toBe(1);
  expect((await list(stranger.cookie)).count).toBe(1);
});

test('a refresh token is valid once, and again for a moment; later use ends all sessions', async () => {
  const user = await trace.loggedIn();
  const first = cookiesOf(await login(user.email));
  const refresh = (cookie: string, of = trace) =>
    of.send('POST', '/api/user/refresh_authentication', undefined, { cookie });
  const renewed = await refresh(first);
  expect([renewed.status, renewed.body.data.id]).toEqual([200, user.id]);
  expect((await profile(cookiesOf(renewed))).status).toBe(200);
  // The first answer may have been lost.
  expect((await refresh(first, other)).status).toBe(200);
  await trace.pool.query("UPDATE refresh_tokens SET used_at = used_at - interval '2 minutes'");
  expect((await refresh(first)).status).toBe(401);
  expect((await profile(cookiesOf(renewed))).status).toBe(401);
  expect((await refresh(cookiesOf(renewed))).status).toBe(401);
  expect((await refresh('trace-refreshToken=made-up')).status).toBe(401);
  expect((await refresh('')).status).toBe(401);
});

test("pages of other origins change nothing with a user's cookie, except configured ones", async () => {
  const user = await trace.loggedIn();
  const put = (origin: string, of: RunningTrace) =>
    of.send('PUT', '/api/user/profile', { name: 'Ana' }, { cookie: user.cookie, origin });
  expect((await put('https://evil.example', trace)).body.status).toBe('UNAUTHORIZED');
  expect((await put('null', trace)).status).toBe(403);
  expect((await put(trace.url, trace)).status).toBe(200);
  expect((await put('https://app.example', other)).status).toBe(200);
  const read = { cookie: user.cookie, origin: 'https://evil.example' };
  const seen = await trace.send('GET', '/api/user/profile', undefined, read);
  expect(seen.headers.get('access-control-allow-origin')).toBe(null);
});

test('a request with a Bearer token acts as its user from any origin, and its cookies are ignored', async () => {
  const [user, bearer] = [await trace.loggedIn(), await trace.loggedIn()];
  const token = bearer.cookie.replace('trace-accessToken=', '');
  const put = (headers: Record<string, string>) =>
    trace.send(
      'PUT',
      '/api/user/profile',
      { name: 'Zawadi' },
      { origin: 'https://evil.example', ...headers },
    );
  for (const headers of [{}, { cookie: user.cookie }] as Record<string, string>[]) {
    const { status, body } = await put({ authorization: `Bearer ${token}`, ...headers });
    expect([status, body.data?.id]).toEqual([200, bearer.id]);
  }
  const both = login(user.email).then(cookiesOf);
  for (const authorization of ['Bearer a.b.c', 'bearer', 'Bearer a b', `Bearer ft_${'x'.repeat(49)}`]) {
    for (const origin of ['https://evil.example', trace.url]) {
      const headers = { authorization, origin, cookie: await both };
      expect((await put(headers)).status, authorization).toBe(401);
      expect((await trace.send('POST', '/api/user/refresh_authentication', undefined, headers)).status).toBe(
        401,
      );
    }
    const read = { authorization, cookie: user.cookie };
    expect((await trace.send('GET', '/api/user/profile', undefined, read)).status).toBe(401);
  }
  expect((await put({ authorization: 'Basic YTpi', cookie: user.cookie })).status).toBe(403);
  const own = { authorization: 'Basic YTpi', cookie: user.cookie, origin: trace.url };
  expect((await put(own)).body.data.id).toBe(user.id);
});

test('a rotated key is published before it signs; tokens signed by the earlier key stay valid', async () => {
  const user = await trace.loggedIn();
  const kidOf = (cookie: string) =>
    JSON.parse(Buffer.from(cookie.split(/[=.]/)[1] as string, 'base64url').toString()).kid;
  const kid = await makeKey(trace.pool, secretBox({}));
  const process = await runningTrace({}, trace);
  const published = (await process.send('GET', '/.well-known/jwks.json')).body.keys;
  expect(published.map((key: { kid: string }) => key.kid).sort()).toEqual([kid, kidOf(user.cookie)].sort());
  for (const key of published)
    expect(Object.keys(key).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x']);
  expect(kidOf((await process.login(user.email, PASSWORD)).cookie)).toBe(kidOf(user.cookie));
  await process.stop();

  await trace.pool.query("UPDATE signing_keys SET created_at = created_at - interval '3 minutes'");
  const later = await runningTrace({}, trace);
  expect(kidOf((await later.login(user.email, PASSWORD)).cookie)).toBe(kid);
  expect((await profile(user.cookie, later)).status).toBe(200);
  await later.stop();

  await trace.pool.query("UPDATE signing_keys SET created_at = created_at - interval '2 hours'");
  const last = await runningTrace({}, trace);
  expect((await last.send('GET', '/.well-known/jwks.json')).body.keys).toHaveLength(1);
  await last.stop();
});

test('many concurrent logins do not block other requests', async () => {
  const users = await Promise.all(Array.from({ length: 10 }, () => trace.loggedIn()));
  const logins = Promise.all(users.map(({ email }) => login(email)));
  let done = false;
  logins.finally(() => {
    done = true;
  });
  let answered = 0;
  while (!done) {
    expect((await trace.send('GET', '/.well-known/jwks.json')).status).toBe(200);
    answered++;
  }
  expect((await logins).every(({ status }) => status === 200)).toBe(true);
  expect(answered).toBeGreaterThan(10);
});
