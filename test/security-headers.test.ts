import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { upload } from './helpers/attachments.ts';
import { added, read } from './helpers/chain.ts';
import { picture, uploadFile } from './helpers/images.ts';
import { mailServer, tokenIn } from './helpers/mail-server.ts';
import { rawConnection } from './helpers/raw.ts';
import { type RunningService, runningService } from './helpers/service.ts';
import { storedPacket } from './helpers/sharing.ts';
import { type LoggedIn, PASSWORD, type RunningTrace, runningTrace } from './helpers/trace.ts';

let packet: RunningService;
let trace: RunningTrace;
/** The two services behind a proxy that terminates TLS. */
let packetBehind: RunningService;
let traceBehind: RunningTrace;
let user: LoggedIn;
beforeAll(async () => {
  packet = await runningService();
  trace = await runningTrace({}, packet);
  packetBehind = await runningService({ TRUST_PROXY: 'true' }, packet);
  traceBehind = await runningTrace({ TRACE_PUBLIC_URL: 'https://trace.example' }, packet);
  user = await trace.loggedIn();
});
afterAll(async () => {
  await traceBehind.stop();
  await packetBehind.stop();
  await trace.stop();
  await packet.stop();
});

const everywhere = { 'x-content-type-options': 'nosniff' };
const ofDocuments = {
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': expect.stringContaining('camera=()'),
};
const headersOf = ({ headers }: { headers: Headers }) => Object.fromEntries(headers);

test('every answer, refusals included, has the security headers for browsers', async () => {
  for (const answer of [
    await packet.send('GET', '/packets'),
    await packet.send('GET', '/docs'),
    await packet.send('GET', '/nothing'),
    await trace.send('GET', '/api/user/profile'),
    await user.send('GET', '/api/user/profile'),
  ]) {
    expect(headersOf(answer)).toMatchObject({
      ...everywhere,
      'cross-origin-resource-policy': 'same-origin',
    });
    expect(answer.headers.has('strict-transport-security')).toBe(false);
  }
});

test('refusals before any route have the same headers', async () => {
  for (const [service, request, status] of [
    [packet, 'GET /packets/%zz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n', 400],
    [trace, 'GET /api/%zz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n', 400],
    [packet, 'GET / HTTP/1.1\r\nno header\r\n\r\n', 400],
    [trace, `GET / HTTP/1.1\r\nhost: localhost\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ] as const) {
    const connection = await rawConnection(service.url);
    connection.send(request);
    await connection.closed;
    const [head] = connection.received().toLowerCase().split('\r\n\r\n');
    expect(head, request.slice(0, 40)).toMatch(`http/1.1 ${status} `);
    expect(head).toContain('\r\nx-content-type-options: nosniff\r\n');
    expect(head).toContain('\r\ncross-origin-resource-policy: same-origin\r\n');
  }
});

test('documents are isolated from other windows and the camera; JSON needs neither header', async () => {
  const { body } = await uploadFile(trace, user, 'image', await picture(8, 8).png().toBuffer());
  for (const document of [
    await packet.send('GET', '/docs'),
    await packet.send('GET', '/metrics'),
    await user.send('GET', `/api/common/image/${body.data.storageKey}`),
  ]) {
    expect(headersOf(document)).toMatchObject(ofDocuments);
  }
  for (const json of [await packet.send('GET', '/packets'), await trace.send('GET', '/api/user/profile')]) {
    for (const name of Object.keys(ofDocuments)) expect(json.headers.has(name)).toBe(false);
  }
});

test('pictures, files and labels can be embedded in pages of other origins', async () => {
  const { body } = await uploadFile(trace, user, 'image', await picture(9, 9).png().toBuffer());
  const product = await added(user, { name: 'Tea', labels: { title: 'Tea' } });
  const { id, uuid } = (await read(user, product)).labels[0];
  await user.send('POST', '/api/product/label/execute/PUBLISH_LABEL', { id });
  const file = (await upload(packet, 'a file')).body.attachment_id;
  for (const answer of [
    await user.send('GET', `/api/common/image/${body.data.storageKey}`),
    await trace.send('GET', `/api/public/product/label/${uuid}`),
    await trace.send('GET', `/api/public/product/label/${uuid}/qr.svg`),
    await packet.send('GET', `/attachments/${file}`),
  ]) {
    expect([answer.status, headersOf(answer)]).toMatchObject([
      200,
      { ...everywhere, 'cross-origin-resource-policy': 'cross-origin' },
    ]);
  }
});

test('HSTS is sent over https, known from a proxy or the public URL', async () => {
  const lasting = { 'strict-transport-security': 'max-age=31536000' };
  const forwarded = { 'x-forwarded-for': '192.0.2.1', 'x-forwarded-proto': 'https' };
  expect(headersOf(await packetBehind.send('GET', '/health', undefined, forwarded))).toMatchObject(lasting);
  expect((await packetBehind.send('GET', '/health')).headers.has('strict-transport-security')).toBe(false);
  expect(headersOf(await traceBehind.send('GET', '/health'))).toMatchObject(lasting);
});

test('personal data are never cached; other non-public data are revalidated each time', async () => {
  const personal = [
    await packet.send('GET', '/shares/inbox?user_id=ana'),
    await packet.send('GET', '/directory/users/nobody'),
    await packet.send('GET', '/notifications?user_id=ana'),
    await packet.send('POST', '/chat/query', { user_id: 'ana' }),
    await user.send('GET', '/api/user/profile'),
    await user.send('GET', '/api/user/sessions'),
    await user.send('GET', '/api/company/list'),
    await trace.send('POST', '/api/user/login', { username: 'nobody', password: 'x' }),
  ];
  for (const { headers, text } of personal) expect(headers.get('cache-control'), text).toBe('no-store');
  const file = (await upload(packet, 'another file')).body.attachment_id;
  const { body } = await uploadFile(trace, user, 'image', await picture(9, 9).png().toBuffer());
  const document = await uploadFile(trace, user, 'document', Buffer.from('%PDF-1.4'));
  const product = await added(user, { name: 'Tea', labels: { title: 'Tea' } });
  const label = (await read(user, product)).labels[0].id;
  const requested: [typeof packet.send, string][] = [
    ...[`/attachments/${file}`, '/packets', '/fields', '/tiles/observations/0/0/0.mvt'].map(
      path => [packet.send, path] as [typeof packet.send, string],
    ),
    ...[
      `/api/common/image/${body.data.storageKey}`,
      `/api/common/image/${body.data.storageKey}/SMALL`,
      `/api/common/document/${document.body.data.storageKey}`,
      `/api/product/${product}`,
      `/api/product/label/${label}/instructions`,
    ].map(path => [user.send, path] as [typeof packet.send, string]),
  ];
  for (const [send, path] of requested) {
    const { status, headers } = await send('GET', path);
    expect([status, headers.get('cache-control')], path).toEqual([200, 'private, no-cache']);
  }
});

test('a logout and an erasure clear the cache of browsers, and never their storage', async () => {
  for (const [path, body] of [
    ['logout', undefined],
    ['logout?everywhere=false', undefined],
    ['erase', { currentPassword: PASSWORD }],
  ] as const) {
    const { status, headers } = await (await trace.loggedIn()).send('POST', `/api/user/${path}`, body);
    expect([status, headers.get('clear-site-data')], path).toEqual([200, '"cache"']);
  }
});

test('cookies are Secure where the public URL is https, unless a setting says otherwise', async () => {
  const cookie = async (environment: Record<string, string>) => {
    const service = await runningTrace(environment, trace);
    const { headers } = await service.send('POST', '/api/user/login', {
      username: user.email,
      password: 'correct horse battery staple',
    });
    await service.stop();
    return headers.getSetCookie()[0] ?? '';
  };
  const TRACE_PUBLIC_URL = 'https://trace.example';
  expect(await cookie({})).toMatch(/HttpOnly$/);
  expect(await cookie({ TRACE_PUBLIC_URL })).toMatch(/HttpOnly; Secure$/);
  expect(await cookie({ TRACE_PUBLIC_URL, COOKIE_SECURE: 'false' })).toMatch(/HttpOnly$/);
  expect(await cookie({ COOKIE_SECURE: 'true' })).toMatch(/HttpOnly; Secure$/);
});

test("a page of the same host over another scheme changes nothing with a user's cookie", async () => {
  const put = (of: RunningTrace, origin: string) =>
    of.send('PUT', '/api/user/profile', { name: 'Ana' }, { cookie: user.cookie, origin });
  const { host } = new URL(trace.url);
  expect((await put(trace, `http://${host}`)).status).toBe(200);
  expect((await put(trace, `https://${host}`)).body.status).toBe('UNAUTHORIZED');
  expect((await put(traceBehind, 'https://trace.example')).status).toBe(200);
  expect((await put(traceBehind, 'http://trace.example')).status).toBe(403);
});

test('no log line has the secret of a mailed link, whatever is done with the link', async () => {
  const lines: string[] = [];
  const logger = pino({ level: 'trace' }, { write: (line: string) => lines.push(line) });
  const mail = await mailServer();
  const logged = await runningService({ SMTP_URL: mail.url }, packet, { logger });
  const share = {
    packet_id: await storedPacket(logged),
    from_user: 'ana',
    contact_value: 'zawadi@example.org',
  };
  expect((await logged.send('POST', '/shares', share)).status).toBe(201);
  const token = tokenIn((await mail.mailsTo('zawadi@example.org'))[0]);
  expect(token).toHaveLength(43);
  const encoded = `%${token.charCodeAt(0).toString(16)}${token.slice(1)}`;
  for (const [method, path] of [
    ['GET', `/invitations/${token}`],
    ['GET', `/invitations/${encoded}`],
    ['GET', `/invitations/${token}/accept`],
    ['GET', `/invitations/${token}/x`],
    ['GET', `/invitation/${token}`],
    ['GET', `/${token}`],
    ['GET', `/health?${token}`],
    ['GET', `/directory/confirmations/${token}`],
    ['POST', `/invitations/${token}/accept`],
  ]) {
    const body = method === 'POST' ? { user_id: 'zawadi' } : undefined;
    await logged.send(method as string, path as string, body);
  }
  await logged.stop();
  await mail.stop();
  const text = lines.join('');
  expect(text).toContain('"path":"/invitations/:token/accept"');
  expect(text).not.toContain(token.slice(1));
});
