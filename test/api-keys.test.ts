import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keyHolders } from '../src/packet-service/core/access/key-holders.ts';
import { registryClient } from '../src/packet-service/core/access/registry-client.ts';
import { apiKeyHash } from '../src/platform/tokens/api-key.ts';
import { withSecondFactor } from './helpers/authenticator.ts';
import { openFeed } from './helpers/feed.ts';
import { type RunningService, runningService } from './helpers/service.ts';
import { ADMIN, type LoggedIn, PASSWORD, type RunningTrace, runningTrace } from './helpers/trace.ts';
import { bearer } from './helpers/user-registry.ts';
import { unzip } from './helpers/zip.ts';

const SERVICE_TOKEN = 'a-service-token-of-32-bytes-or-of-more';
const PATH = '/api/user/api-keys';
const logger = pino({ level: 'silent' });

let trace: RunningTrace;
/** The packet service of the same process. */
let packet: RunningService;
/** A packet service in another process, which sends requests over HTTP. */
let remote: RunningService;
let admin: LoggedIn;
beforeAll(async () => {
  trace = await runningTrace({ SERVICE_TOKEN, RATE_LIMIT: 'off' });
  packet = await runningService({ AUTH_MODE: 'required' }, trace, { registry: trace.registry });
  remote = await runningService({
    AUTH_MODE: 'required',
    USER_REGISTRY_URL: `${trace.url}/api`,
    USER_REGISTRY_JWKS_URL: `${trace.url}/.well-known/jwks.json`,
    SERVICE_TOKEN,
  });
  admin = await trace.login(ADMIN.username, ADMIN.password);
});
afterAll(async () => {
  await remote.stop();
  await packet.stop();
  await trace.stop();
});

interface NewKey {
  id: string;
  key: string;
}

async function newKey(
  user: Pick<LoggedIn, 'send'>,
  scopes: string[] = ['write'],
  more = {},
): Promise<NewKey> {
  const answer = await user.send('POST', PATH, { name: 'weather station', scopes, ...more });
  expect(answer.status, answer.text).toBe(200);
  return answer.body.data;
}
const listed = async (user: LoggedIn) => (await user.send('GET', PATH)).body.data.items;
const profile = (key: string, of: RunningTrace = trace) =>
  of.send('GET', '/api/user/profile', undefined, bearer(key));
const packets = async (key: string, at = packet) =>
  (await at.send('GET', '/packets', undefined, bearer(key))).status;

test('a key is shown once, is stored as a hash only, and counts as its user at both services', async () => {
  const user = await trace.loggedIn();
  const { key, id } = await newKey(user);
  expect(key).toMatch(/^ft_[0-9A-Za-z]{49}$/);
  const { rows } = await trace.pool.query('SELECT * FROM api_keys WHERE id = $1', [id]);
  expect(JSON.stringify(rows)).not.toContain(key.slice(3, 20));
  expect(rows[0].hash).toEqual(apiKeyHash(key));

  expect((await profile(key)).body.data.id).toBe(user.id);
  const observation = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };
  for (const at of [packet, remote]) {
    const sent = await at.send('POST', '/intake/scouting', observation, bearer(key));
    expect(sent.status, sent.text).toBe(201);
    const thread = await at.send('POST', '/chat/threads', { name: 'Coffee' }, bearer(key));
    const own = await at.send('GET', '/chat/threads', undefined, bearer(key));
    expect(own.body.threads.map((thread: { thread_id: string }) => thread.thread_id)).toEqual([
      thread.body.thread_id,
    ]);
    const named = await at.send('GET', '/chat/threads?user_id=another', undefined, bearer(key));
    expect(named.status).toBe(403);
  }
});

test("the list has the name, scopes, times and last use of the user's keys, and never a key", async () => {
  const [user, other] = [await trace.loggedIn(), await trace.loggedIn()];
  await newKey(other);
  const expiresAt = new Date(Date.now() + 3600_000).toISOString();
  const { key, id } = await newKey(user, ['write', 'read'], { expiresAt });
  const item = { id, name: 'weather station', scopes: ['read', 'write'], expiresAt };
  expect(await listed(user)).toEqual([{ ...item, createdAt: expect.any(String) }]);
  expect(await packets(key)).toBe(200);
  const answer = await user.send('GET', PATH);
  expect(answer.body.data.items).toEqual([
    { ...item, createdAt: expect.any(String), lastUsedAt: expect.stringMatching(/^20.*Z$/) },
  ]);
  expect(answer.text).not.toContain(key.slice(3, 20));
});

test('a revoked key ends at once, with its open feed; another user cannot revoke it', async () => {
  const [user, other] = [await trace.loggedIn(), await trace.loggedIn()];
  const [{ key, id }, kept] = [await newKey(user), await newKey(user)];
  const feed = await openFeed(packet.url, '', undefined, bearer(key));
  const keptFeed = await openFeed(packet.url, '', undefined, bearer(kept.key));
  expect((await other.send('DELETE', `${PATH}/${id}`)).status).toBe(404);
  expect(await packets(key)).toBe(200);
  expect((await user.send('DELETE', `${PATH}/${id}`)).status).toBe(200);
  expect([await packets(key), (await profile(key)).status]).toEqual([401, 401]);
  expect(await feed.ended).toBe(true);
  expect(await packets(kept.key)).toBe(200);
  expect(keptFeed.text()).not.toBe('');
  keptFeed.close();
  expect((await user.send('DELETE', `${PATH}/${id}`)).status).toBe(404);
});

test('unknown, mistyped and expired keys get the same refusal, which reveals nothing about users', async () => {
  const user = await trace.loggedIn();
  const { key, id } = await newKey(user);
  const unknown = (await newKey(user)).key;
  await trace.pool.query('DELETE FROM api_keys WHERE hash = $1', [apiKeyHash(unknown)]);
  const typo = key.slice(0, -1) + (key.endsWith('a') ? 'b' : 'a');
  expect(apiKeyHash(typo)).toBeUndefined();
  await trace.pool.query(`UPDATE api_keys SET expires_at = now() - interval '1 s' WHERE id = $1`, [id]);
  for (const bad of [unknown, typo, key, 'ft_', 'ft_x']) {
    const [here, there, fromRemote] = [
      await profile(bad),
      await packet.send('GET', '/packets', undefined, bearer(bad)),
      await remote.send('GET', '/packets', undefined, bearer(bad)),
    ];
    expect([here.status, there.status, fromRemote.status], bad).toEqual([401, 401, 401]);
    expect(here.body.errorMessage).toBe('the API key is unknown, expired or revoked');
    expect([there.body.error, fromRemote.body.error]).toEqual([
      here.body.errorMessage,
      here.body.errorMessage,
    ]);
    expect(here.headers.get('www-authenticate')).toContain('Bearer');
  }
});

/** The actions that end every key of a user. */
const ENDS: Record<string, (user: LoggedIn) => Promise<{ status: number }>> = {
  'a deactivation': ({ id }) => admin.send('POST', '/api/user/admin/execute/DEACTIVATE_USER', { id }),
  'another password': user =>
    user.send('PUT', '/api/user/profile', { password: 'another of mine', currentPassword: PASSWORD }),
  'an erasure': user => user.send('POST', '/api/user/erase', { currentPassword: PASSWORD }),
};

test.each(Object.entries(ENDS))("%s permanently ends the user's keys", async (_end, end) => {
  const user = await trace.loggedIn();
  const { key } = await newKey(user);
  expect(await packets(key)).toBe(200);
  expect((await end(user)).status).toBe(200);
  expect([await packets(key), (await profile(key)).status]).toEqual([401, 401]);
  const { rows } = await trace.pool.query('SELECT FROM api_keys WHERE user_id = $1', [user.id]);
  expect(rows).toEqual([]);
});

test('a logout leaves keys alone', async () => {
  const user = await trace.loggedIn();
  const { key } = await newKey(user);
  await user.send('POST', '/api/user/logout');
  expect(await packets(key)).toBe(200);
});

test("a key's name, scopes and times are checked, and a user has at most 50, even with simultaneous requests", async () => {
  const user = await trace.loggedIn();
  const create = (body: object) => user.send('POST', PATH, { name: 'x', scopes: ['read'], ...body });
  const past = { expiresAt: '2020-01-01T00:00:00Z' };
  const far = { expiresAt: '2999-01-01T00:00:00Z' };
  for (const body of [past, far, { expiresAt: 'soon' }, { scopes: [] }, { scopes: ['root'] }, { name: '' }]) {
    const { status, body: answer } = await create(body);
    expect(status, JSON.stringify(body)).toBe(400);
    const [path] = Object.keys(answer.validationErrorDetails.fieldErrors);
    expect(path?.split(/[.[]/)[0]).toBe(Object.keys(body)[0]);
  }
  expect((await create({ scopes: ['admin'] })).status).toBe(400);
  const made = await Promise.all(Array.from({ length: 55 }, () => create({})));
  expect(made.filter(({ status }) => status === 200)).toHaveLength(50);
  expect(made.find(({ status }) => status === 400)?.body.errorMessage).toContain('at most 50 keys');
  expect(await listed(user)).toHaveLength(50);
});

test('creation and revocation are in the audit, with the id and never the key', async () => {
  const user = await trace.loggedIn();
  const { key, id } = await newKey(user);
  await user.send('DELETE', `${PATH}/${id}`);
  const { body, text } = await admin.send('GET', `/api/audit/list?userId=${user.id}`);
  const actions = body.data.items.map(({ action }: { action: string }) => action);
  expect(actions).toEqual(expect.arrayContaining(['CREATE_API_KEY', 'REVOKE_API_KEY']));
  expect(text).toContain(id);
  expect(text).not.toContain(key.slice(3, 20));
});

test('the export of personal data lists the keys without secrets', async () => {
  const user = await trace.loggedIn();
  const { key } = await newKey(user);
  const response = await fetch(`${trace.url}/api/user/export`, { headers: { cookie: user.cookie } });
  const files = await unzip(Buffer.from(await response.arrayBuffer()));
  const text = [...files.entries()]
    .filter(([name]) => name.endsWith('api-keys.ndjson'))
    .map(([, content]) => content.toString())
    .join('');
  expect(JSON.parse(text)).toMatchObject({ name: 'weather station', scopes: ['write'] });
  expect(text).not.toContain('hash');
  expect(text).not.toContain(key.slice(3, 20));
});

test("a key created without a second factor ends when its user's role requires one", async () => {
  const strict = await runningTrace({ SECOND_FACTOR_REQUIRED: 'REGIONAL_ADMIN' }, trace);
  const strictPacket = await runningService({ AUTH_MODE: 'required' }, strict, { registry: strict.registry });
  const regional = await trace.loggedIn('REGIONAL_ADMIN');
  const { key: before } = await newKey(regional, ['read']);
  expect((await profile(before)).status).toBe(200);
  const list = '/api/company/list';
  expect((await strict.send('GET', list, undefined, bearer(before))).status).toBe(403);
  const refused = await strictPacket.send('GET', '/packets', undefined, bearer(before));
  expect([refused.status, refused.body.error]).toEqual([
    401,
    expect.stringContaining('requires a second factor'),
  ]);

  const here = { send: sendAs(strict, regional.cookie) };
  const early = await here.send('POST', PATH, { name: 'x', scopes: ['read'] });
  expect([early.status, early.body.errorMessage]).toEqual([
    403,
    expect.stringContaining('needs a second factor'),
  ]);
  const { app } = await withSecondFactor(here);
  expect(await listed(regional)).toEqual([]);
  const { key: after } = await newKey(here, ['read'], { code: app.code() });
  expect((await strict.send('GET', list, undefined, bearer(after))).status).toBe(200);
  expect(await packets(after, strictPacket)).toBe(200);
  await strictPacket.stop();
  await strict.stop();
});

function sendAs(at: RunningTrace, cookie: string): LoggedIn['send'] {
  return (method, path, body) => at.send(method, path, body, { cookie });
}

test('a remote packet service looks up a key once, and stops accepting it when the answer expires', async () => {
  const user = await trace.loggedIn();
  const { key, id } = await newKey(user);
  const hash = apiKeyHash(key) as Buffer;
  const settings = { USER_REGISTRY_URL: `${trace.url}/api`, SERVICE_TOKEN };
  const limits = { keptMs: 30_000, refusedMs: 5_000, feedMs: 10_000, keys: 10 };
  const ask = registryClient(settings, 'the user registry');
  const cached = keyHolders(ask, undefined, logger, limits);
  const impatient = keyHolders(ask, undefined, logger, { ...limits, keptMs: 1, refusedMs: 1 });
  expect(await cached?.(hash)).toMatchObject({ userId: String(user.id), role: 'USER', scopes: ['write'] });
  expect(await impatient?.(hash)).toBeDefined();
  await user.send('DELETE', `${PATH}/${id}`);
  expect(await cached?.(hash)).toBeDefined();
  await expect.poll(() => impatient?.(hash)).toBeUndefined();
});

test('the registry answers about keys only with the service token; without it the packet service is 503', async () => {
  const { key } = await newKey(await trace.loggedIn());
  const sha256 = apiKeyHash(key)?.toString('hex');
  const resolve = (headers = {}) => trace.send('POST', `${PATH}/resolve`, { sha256 }, headers);
  expect((await resolve()).status).toBe(401);
  expect((await resolve(bearer(key))).status).toBe(401);
  expect((await resolve(bearer(`${SERVICE_TOKEN}x`))).status).toBe(401);
  const settings = { USER_REGISTRY_URL: `${trace.url}/api`, SERVICE_TOKEN: 'another' };
  const find = keyHolders(registryClient(settings, 'the user registry'), undefined, logger);
  await expect(find?.(apiKeyHash(key) as Buffer)).rejects.toMatchObject({ code: 'unavailable' });
});

test('an app gets its tokens in the body, uses them at both services, and exchanges the refresh token', async () => {
  const { email, id } = await trace.loggedIn();
  const wrong = await trace.send('POST', '/api/user/token', { username: email, password: 'wrong' });
  expect([wrong.status, wrong.body.status]).toEqual([401, 'AUTH_ERROR']);
  const first = await trace.send('POST', '/api/user/token', { username: email, password: PASSWORD });
  expect(first.headers.get('set-cookie')).toBeNull();
  expect(first.headers.get('cache-control')).toContain('no-store');
  expect(first.body.data).toMatchObject({ token_type: 'Bearer', expires_in: 3600, user: { id } });
  const refresh = { refresh_token: first.body.data.refresh_token };
  const second = await trace.send('POST', '/api/user/token/refresh', refresh);
  expect(second.body.data.refresh_token).not.toBe(refresh.refresh_token);
  for (const { access_token } of [first.body.data, second.body.data]) {
    expect((await profile(access_token)).body.data.id).toBe(id);
    expect([await packets(access_token), await packets(access_token, remote)]).toEqual([200, 200]);
  }
  expect((await trace.send('POST', '/api/user/token/refresh', { refresh_token: 'x' })).status).toBe(401);
  const out = await trace.send('POST', '/api/user/logout', undefined, bearer(second.body.data.access_token));
  expect(out.status).toBe(200);
  expect((await profile(first.body.data.access_token)).status).toBe(401);
});

test('an app needs the code of a second factor, as a login does', async () => {
  const user = await trace.loggedIn();
  const { app } = await withSecondFactor(user);
  const credentials = { username: user.email, password: PASSWORD };
  const without = await trace.send('POST', '/api/user/token', credentials);
  expect([without.status, without.body.errorMessage]).toEqual([
    401,
    expect.stringContaining('code is required'),
  ]);
  const issued = await trace.send('POST', '/api/user/token', { ...credentials, code: app.code() });
  expect(issued.status, issued.text).toBe(200);
});
