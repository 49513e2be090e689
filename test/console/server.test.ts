import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { consoleService } from '../../src/console/app.ts';
import { registerPages } from '../../src/console/pages.ts';
import { readSettings } from '../../src/platform/settings/settings.ts';
import { type RunningConsole, runningConsole } from '../helpers/console.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import type { Send } from '../helpers/service.ts';

let pages: RunningConsole;
let user: { cookie: string; send: Send };
beforeAll(async () => {
  pages = await runningConsole();
  user = await pages.login((await pages.newUser()).email);
});
afterAll(() => pages.stop());

const observation = {
  observed_at: '2026-03-01T08:15:00Z',
  capture_point: { lat: 1, lon: 2 },
  message: 'Rust',
};
const navigation = { accept: 'text/html,*/*;q=0.8' };

test('every address of a screen is the one page, which may load nothing inline and nothing from elsewhere', async () => {
  for (const path of ['/', '/packets', '/packets/01JD7Q2M8XW3N5R6T8V9Y0Z1A2?x=1']) {
    const { status, headers, text } = await pages.send('GET', path, undefined, navigation);
    expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
      200,
      'text/html; charset=utf-8',
      'no-cache',
    ]);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(headers.get('permissions-policy')).toBe(
      'camera=(self), geolocation=(self), microphone=(), payment=(), usb=()',
    );
    expect(text).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\bstyle=|\bon\w+=|https?:\/\//);
  }
});

test('files with a hash in their names are kept for a year, compressed; what is not there is not the page', async () => {
  const { text } = await pages.send('GET', '/', undefined, navigation);
  const [script] = /\/assets\/[^"]+\.js/.exec(text) as [string];
  const file = await fetch(pages.url + script, { headers: { 'accept-encoding': 'br' } });
  expect(Object.fromEntries(file.headers)).toMatchObject({
    'cache-control': 'public, max-age=31536000, immutable',
    'content-encoding': 'br',
    'content-type': expect.stringContaining('javascript'),
    'x-content-type-options': 'nosniff',
  });
  const worker = await pages.send('GET', '/service-worker.js');
  expect(Object.fromEntries(worker.headers)).toMatchObject({
    'cache-control': 'no-cache',
    'content-security-policy': "default-src 'self'",
    'content-type': expect.stringContaining('javascript'),
  });
  for (const path of ['/assets/gone-12345678.js', '/.built', '/../package.json', '/%2e%2e/package.json']) {
    const { status, body } = await pages.send('GET', path);
    expect([status, Object.keys(body)], path).toEqual([404, ['error']]);
  }
  expect((await pages.send('POST', '/packets', {}, { origin: pages.url })).status).toBe(405);
});

test('the session cookie is the token of the packet service; the cookie of the refresh token goes below /trace', async () => {
  const { email } = await pages.newUser();
  const answer = await pages.send(
    'POST',
    '/trace/api/user/login',
    { username: email, password: 'correct horse battery staple' },
    { origin: pages.url },
  );
  const [access, refresh] = answer.headers.getSetCookie() as [string, string];
  expect(access).toMatch(/^trace-accessToken=[\w.-]+; Path=\/; .*HttpOnly; SameSite=Strict$/);
  expect(refresh).toMatch(
    /^trace-refreshToken=[\w-]+; Path=\/trace\/api\/user; .*HttpOnly; SameSite=Strict$/,
  );

  const created = await user.send('POST', '/packet/intake/scouting', observation);
  expect(created.status, created.text).toBe(201);
  const read = await user.send('GET', `/packet/packets/${created.body.packet_uuid}`);
  expect(read.body.Body.message).toBe('Rust');
  expect((await user.send('GET', '/packet/shares/inbox')).body).toMatchObject({ shares: [] });
});

test('without a session the packet service is not asked at all, so that nobody becomes anonymous', async () => {
  for (const headers of [{}, { cookie: 'trace-accessToken=' }, { cookie: 'other=1' }] as Record<
    string,
    string
  >[]) {
    const {
      status,
      body,
      headers: answered,
    } = await pages.send('GET', '/packet/packets', undefined, headers);
    expect([status, body]).toEqual([401, { error: 'log in first' }]);
    expect(answered.get('fieldtrace-reason')).toBe('console.not_logged_in');
  }
  const forged = await pages.send('GET', '/packet/packets', undefined, { cookie: 'trace-accessToken=a.b.c' });
  expect(forged.status).toBe(401);
});

test('a change from a page of another origin is refused, whatever it says of itself', async () => {
  const { cookie } = user;
  const changes: [string, unknown][] = [
    ['/packet/intake/scouting', observation],
    ['/trace/api/user/logout', undefined],
  ];
  for (const [path, body] of changes) {
    for (const headers of [
      {},
      { origin: 'https://elsewhere.example' },
      { origin: 'null' },
      { origin: pages.url.replace('http:', 'https:') },
      { origin: pages.packetUrl },
      { origin: pages.url, 'sec-fetch-site': 'cross-site' },
    ] as Record<string, string>[]) {
      const answer = await pages.send('POST', path, body, { cookie, ...headers });
      expect(answer.status, `${path} ${JSON.stringify(headers)} ${answer.text}`).toBe(403);
      expect(answer.headers.get('fieldtrace-reason')).toBe('console.foreign_origin');
    }
  }
  const own = { cookie, origin: pages.url, 'sec-fetch-site': 'same-origin' };
  expect((await pages.send('POST', '/packet/intake/scouting', observation, own)).status).toBe(201);
});

test('a request with a Bearer token acts as its user from any origin, and its cookies are ignored', async () => {
  const { cookie } = user;
  const other = await pages.login((await pages.newUser('USER', { name: 'Zawadi', surname: 'Bahati' })).email);
  const bearer = `Bearer ${/trace-accessToken=([^;]+)/.exec(other.cookie)?.[1]}`;
  const origin = 'https://elsewhere.example';
  const rename = (headers: Record<string, string>) =>
    pages.send('PUT', '/trace/api/user/profile', { surname: 'Uwera' }, headers);
  const nameOf = async (of: typeof user) =>
    (await of.send('GET', '/trace/api/user/profile')).body.data.surname;

  for (const further of [{}, { cookie }] as Record<string, string>[]) {
    const headers = { authorization: bearer, origin, ...further };
    expect((await rename(headers)).status).toBe(200);
    expect((await pages.send('POST', '/packet/intake/scouting', observation, headers)).status).toBe(201);
  }
  expect(await nameOf(other)).toBe('Uwera');
  for (const authorization of ['Bearer a.b.c', 'bearer a b', 'Bearer', `Bearer ft_${'x'.repeat(49)}`]) {
    for (const from of [origin, pages.url]) {
      expect((await rename({ authorization, origin: from, cookie })).status, authorization).toBe(401);
      const headers = { authorization, origin: from, cookie };
      expect((await pages.send('POST', '/packet/intake/scouting', observation, headers)).status).toBe(401);
      const refresh = await pages.send('POST', '/trace/api/user/refresh_authentication', undefined, headers);
      expect(refresh.status, authorization).toBe(401);
    }
  }
  // Another scheme is for a proxy in between: the cookie counts, and so does where it comes from.
  const basic = { authorization: 'Basic YTpi', cookie };
  for (const path of ['/trace/api/user/logout', '/packet/intake/scouting']) {
    expect((await pages.send('POST', path, observation, { ...basic, origin })).status).toBe(403);
    expect((await pages.send('POST', path, observation, basic)).status).toBe(403);
  }
  const own = await pages.send('POST', '/packet/intake/scouting', observation, {
    ...basic,
    origin: pages.url,
  });
  expect(own.status, own.text).toBe(201);
  expect(await nameOf(user)).toBe('Uwase');
});

test('addresses in answers lead through the console: an upload is begun and continued there', async () => {
  const tus = { 'tus-resumable': '1.0.0', 'upload-length': '3' };
  const begun = await user.send('POST', '/packet/attachments/uploads', undefined, tus);
  const location = begun.headers.get('location') as string;
  expect([begun.status, location]).toEqual([201, expect.stringMatching(/^\/packet\/attachments\/uploads\//)]);
  const patch = {
    'tus-resumable': '1.0.0',
    'upload-offset': '0',
    'content-type': 'application/offset+octet-stream',
  };
  const done = await user.send('PATCH', location, Buffer.from('abc'), patch);
  expect(done.status, done.text).toBe(204);
});

test('the live feed arrives event by event, and ends when the browser leaves', async () => {
  const { hostname, port } = new URL(pages.url);
  const feedRequest = request({
    hostname,
    port,
    path: '/packet/events',
    headers: { cookie: user.cookie },
  }).end();
  const [response] = await once(feedRequest, 'response');
  expect([response.statusCode, response.headers['content-type']]).toEqual([
    200,
    'text/event-stream; charset=utf-8',
  ]);
  const [first] = await once(response.setEncoding('utf8'), 'data');
  expect(first).toContain('retry:');
  feedRequest.destroy();
});

test('a request that the services refuse is refused in their own words, also one that nobody can read', async () => {
  const broken = await user.send('POST', '/packet/intake/scouting', '{');
  expect([broken.status, Object.keys(broken.body)]).toEqual([400, ['error']]);
  const unknown = await user.send('GET', '/trace/api/nothing');
  expect([unknown.status, unknown.body.status]).toEqual([404, 'NOT_FOUND']);
});

test("the services' routes for operators are unknown paths here; questions about health are answered", async () => {
  expect(pages.operatorPaths).toEqual(['/packet/metrics', '/trace/metrics']);
  const unknown = { packet: await user.send('GET', '/packet/x'), trace: await user.send('GET', '/trace/x') };
  for (const path of pages.operatorPaths) {
    const name = path.split('/')[1] as 'packet' | 'trace';
    for (const written of [path, `${path}/`, path.replace('m', '%6d'), `${path}?x=1`]) {
      for (const method of ['GET', 'HEAD', 'POST']) {
        const { status, text } = await user.send(method, written);
        expect(status, `${method} ${written} ${text}`).toBe(404);
      }
      const { body } = await user.send('GET', written, undefined, {
        authorization: `Bearer ${'x'.repeat(20)}`,
      });
      expect(Object.keys(body)).toEqual(Object.keys(unknown[name].body));
      expect(JSON.stringify(body)).toMatch(/nothing found at/);
    }
    expect((await user.send('GET', `/${name}/health/ready`)).status).toBe(200);
  }
  for (const url of [pages.packetUrl, pages.traceUrl]) {
    expect((await fetch(`${url}/metrics`)).status).toBe(200);
  }
});

test('the proxies of deploy/ refuse every route for operators, at the services and through the console', async () => {
  const nginx = await readFile('deploy/nginx/fieldtrace.conf', 'utf8');
  const caddy = await readFile('deploy/Caddyfile', 'utf8');
  const ofServices = [...new Set(pages.operatorPaths.map(path => path.replace(/^\/\w+/, '')))];
  const closed = (paths: string[]) => `location ~ ^(${paths.join('|')})/?$ { deny all; }`;
  expect(nginx.split(closed(ofServices))).toHaveLength(3);
  expect(nginx.split(closed(pages.operatorPaths))).toHaveLength(2);
  const all = [...ofServices, ...pages.operatorPaths].flatMap(path => [path, `${path}/`]);
  expect(caddy).toContain(`@operator path ${all.join(' ')}\n\trespond @operator 403`);
});

test('a service that does not run beside the console is named', async () => {
  const settings = readSettings({ SERVICES: 'trace,console' });
  const app = await consoleService(
    settings,
    { packet: undefined, trace: undefined },
    pino({ level: 'silent' }),
  );
  const headers = { host: 'localhost', cookie: 'trace-accessToken=a.b.c' };
  for (const [url, name] of [
    ['/packet/packets', 'packet service'],
    ['/trace/api/user/profile', 'trace backend'],
  ] as const) {
    const { statusCode, body } = await app.inject({ url, headers });
    expect([statusCode, JSON.parse(body).error]).toEqual([503, expect.stringContaining(name)]);
  }
  await app.close();
});

test('with another user registry the console says that it cannot reach the packet service', async () => {
  const settings = readSettings({ USER_REGISTRY_JWT_SECRET: 'a secret of more than thirty-two bytes' });
  const app = await consoleService(
    settings,
    { packet: undefined, trace: undefined },
    pino({ level: 'silent' }),
  );
  const { statusCode, body } = await app.inject({ url: '/packet/packets', headers: { host: 'localhost' } });
  expect([statusCode, JSON.parse(body).error]).toEqual([503, expect.stringContaining('USER_REGISTRY_')]);
  await app.close();
});

test('a console that was not built says how to build it', async () => {
  const { folder, remove } = await temporaryFolder();
  const { createServer } = await import('../../src/platform/http/pipeline/create-server.ts');
  const app = await createServer({
    title: 't',
    description: 'd',
    version: '1',
    documented: false,
    definitionPath: '',
    pagePath: '',
    tags: [],
    examples: [],
    securitySchemes: {},
    errorBody: problem => ({ error: problem.message }),
    challenge: () => 'Cookie',
    everyError: false,
    unknownParameters: 'ignored',
    bodyLimit: 1024,
    publicUrl: undefined,
    perMinute: 1000,
    logger: pino({ level: 'silent' }),
    settings: readSettings({}),
  });
  await registerPages(app, folder);
  const { statusCode, body } = await app.inject({ url: '/', headers: { host: 'localhost', ...navigation } });
  expect([statusCode, body]).toEqual([503, expect.stringContaining('npm run console')]);
  expect((await app.inject({ url: '/health/live', headers: { host: 'localhost' } })).statusCode).toBe(200);
  await app.close();
  await remove();
});
