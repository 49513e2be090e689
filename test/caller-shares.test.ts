import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { TUS, TUS_PATCH, upload } from './helpers/attachments.ts';
import { eventually } from './helpers/eventually.ts';
import { exportingSessions } from './helpers/exports.ts';
import { insertFields } from './helpers/many-fields.ts';
import { insertPackets } from './helpers/many-packets.ts';
import { type RawConnection, rawConnection } from './helpers/raw.ts';
import { type Answer, type RunningService, runningService } from './helpers/service.ts';
import { type RunningTrace, runningTrace } from './helpers/trace.ts';
import { bearer, JWT_SECRET, secretToken } from './helpers/user-registry.ts';

let service: RunningService;
let trace: RunningTrace;
beforeAll(async () => {
  service = await runningService({
    USER_REGISTRY_JWT_SECRET: JWT_SECRET,
    TRUST_PROXY: 'true',
    UPLOADS_PER_CALLER: '1',
    FEEDS_PER_CALLER: '1',
  });
  trace = await runningTrace({ UPLOADS_PER_CALLER: '1' });
  await insertPackets(service.pool, 100_000);
});
afterAll(() => Promise.all([service.stop(), trace.stop()]));

type Headers = Record<string, string>;

const lines = (headers: Headers) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');

/** Sends the beginning of a request, and waits for the beginning of an answer or for `100 Continue`. */
async function begun(url: string, start: string, headers: Headers, body = ''): Promise<RawConnection> {
  const connection = await rawConnection(url);
  connection.send(`${start} HTTP/1.1\r\nhost: localhost\r\n${lines(headers)}\r\n${body}`);
  await eventually(() => connection.received().startsWith('HTTP/1.1 '));
  connection.pause();
  return connection;
}

const FORM = {
  expect: '100-continue',
  'content-type': 'multipart/form-data; boundary=x',
  'content-length': '100000',
};
const PART = '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nx';

/** Somebody by token, and somebody by address. */
const callers = async (): Promise<[Headers, Headers][]> => [
  [bearer(await secretToken('amina')), bearer(await secretToken('ben'))],
  [{ 'x-forwarded-for': '192.0.2.1' }, { 'x-forwarded-for': '192.0.2.2' }],
  [{ 'x-forwarded-for': '2001:db8:1:1::1' }, { 'x-forwarded-for': '2001:db8:1:2::1' }],
];

/** A caller who has one is refused, another one is served, and then the first again. */
async function expectShared(
  held: (headers: Headers) => Promise<RawConnection>,
  send: (headers: Headers) => Promise<Answer>,
  what: string,
): Promise<void> {
  for (const [first, another] of await callers()) {
    // Exports by callers without a token share their slots.
    const second = what === 'exports' ? bearer(await secretToken('carla')) : another;
    const connection = await held(first);
    const refused = await send(first);
    expect([refused.status, refused.body.error]).toEqual([429, expect.stringContaining(`open ${what}`)]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await send(second)).status).toBeLessThan(300);
    connection.close();
    await eventually(
      () => send(first),
      ({ status }) => status < 300,
    );
  }
}

test(
  'one caller has one export, and another caller is served',
  () =>
    expectShared(
      headers => begun(service.url, 'POST /graph/materialize', { ...headers, 'content-length': '0' }),
      headers => service.send('POST', '/graph/materialize', { limit: 10 }, headers),
      'exports',
    ),
  30_000,
);

test(
  'a table counts as an export, whatever its format',
  () =>
    expectShared(
      headers => begun(service.url, 'GET /packets.ndjson', headers),
      headers => service.send('GET', '/packets.csv?columns=id&type=none', undefined, headers),
      'exports',
    ),
  30_000,
);

test('callers without a token never take all slots of exports: one stays free for tokens', async () => {
  const held = await begun(service.url, 'GET /packets.ndjson', { 'x-forwarded-for': '192.0.2.1' });
  // Another address waits, although a slot is free.
  const small = '/packets.csv?columns=id&type=none';
  let isAnswered = false;
  const waiting = service
    .send('GET', small, undefined, { 'x-forwarded-for': '192.0.2.2' })
    .finally(() => (isAnswered = true));
  const token = bearer(await secretToken('amina'));
  for (let n = 0; n < 3; n++) expect((await service.send('GET', small, undefined, token)).status).toBe(200);
  expect(isAnswered).toBe(false);
  held.close();
  expect((await waiting).status).toBe(200);

  // With two tokens nothing is kept free.
  const both = [
    await begun(service.url, 'GET /packets.ndjson', token),
    await begun(service.url, 'GET /packets.ndjson', bearer(await secretToken('ben'))),
  ];
  for (const connection of both) connection.close();
}, 30_000);

test('callers without a token can take all slots of exports if no token can be checked', async () => {
  const open = await runningService({ TRUST_PROXY: 'true', AUTH_MODE: 'off' }, service);
  const held = await begun(open.url, 'GET /packets.ndjson', { 'x-forwarded-for': '192.0.2.1' });
  const other = await begun(open.url, 'GET /packets.ndjson', { 'x-forwarded-for': '192.0.2.2' });
  expect([held, other].map(connection => connection.received().slice(9, 12))).toEqual(['200', '200']);
  for (const connection of [held, other]) connection.close();
  await open.stop();
}, 30_000);

test('a client that reads an export too slowly is disconnected and counted, and its slot is free again', async () => {
  onTestFinished(() => void vi.useRealTimers());
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const slow = await runningService({ TRUST_PROXY: 'true', USER_REGISTRY_JWT_SECRET: JWT_SECRET }, service);
  const headers = { 'x-forwarded-for': '192.0.2.1' };
  await begun(slow.url, 'GET /packets.ndjson', headers);
  await eventually(
    () => exportingSessions(service.pool),
    count => count === 1,
  );
  const cutOff = async () =>
    /clients_cut_off_total\{.*in="download".*\} (\d+)/.exec((await slow.send('GET', '/metrics')).text)?.[1];
  expect(await cutOff()).toBe('0');
  // Time passes for as long as it takes until the kernel takes no more.
  await eventually(async () => {
    vi.advanceTimersByTime(5000);
    return (await cutOff()) === '1';
  });
  await eventually(
    () => exportingSessions(service.pool),
    count => count === 0,
  );
  const small = '/packets.csv?columns=id&type=none';
  expect((await slow.send('GET', small, undefined, headers)).status).toBe(200);
  await slow.stop();
}, 30_000);

test('the file of all fields counts as an export', async () => {
  await insertFields(service.pool, 20_000, 2_000);
  await expectShared(
    headers => begun(service.url, 'GET /fields.geojson', headers),
    headers => service.send('GET', '/packets.csv?columns=id&type=none', undefined, headers),
    'exports',
  );
}, 30_000);

test('one caller has a maximum of uploads, by form or by tus, and another caller is served', async () => {
  const held = (headers: Headers) => begun(service.url, 'POST /attachments', { ...FORM, ...headers }, PART);
  await expectShared(held, headers => upload(service, 'x', { headers }), 'uploads');
  await expectShared(
    held,
    async headers => {
      const begin = { ...TUS, ...headers, 'upload-length': '1' };
      const { headers: answered } = await service.send('POST', '/attachments/uploads', undefined, begin);
      const path = answered.get('location') as string;
      return service.send('PATCH', path, 'x', { ...TUS_PATCH, ...headers, 'upload-offset': '0' });
    },
    'uploads',
  );
}, 30_000);

test('one caller has a maximum of feeds and waiting requests, and another caller is served', async () => {
  const since = (
    await eventually(
      () => service.send('GET', '/sync/packets'),
      ({ body }) => !body.more,
    )
  ).body.since;
  const feed = async (headers: Headers): Promise<Answer> => {
    const leave = new AbortController();
    const url = `${service.url}/events${headers.authorization ? '' : '?user_id=anyone'}`;
    const response = await fetch(url, { headers, signal: leave.signal });
    const text = response.status === 200 ? '' : await response.text();
    leave.abort();
    return { status: response.status, headers: response.headers, text, body: text && JSON.parse(text) };
  };
  await expectShared(
    headers => begun(service.url, `GET /events${headers.authorization ? '' : '?user_id=anyone'}`, headers),
    feed,
    'feeds',
  );
  for (const [first, second] of await callers()) {
    const path = (wait: number) => `/sync/packets?geoid=nowhere&since=${since}&wait=${wait}`;
    const connection = await begun(service.url, `GET ${path(60)}`, { ...first, expect: '100-continue' });
    const refused = await service.send('GET', path(0.01), undefined, first);
    expect([refused.status, refused.body.error]).toEqual([429, expect.stringContaining('waiting requests')]);
    expect((await service.send('GET', path(0), undefined, first)).status).toBe(200);
    expect((await service.send('GET', path(0.01), undefined, second)).status).toBe(200);
    connection.close();
  }
}, 30_000);

test('in the trace backend one user has a maximum of uploads', async () => {
  const [first, second] = [await trace.loggedIn(), await trace.loggedIn()];
  const post = (cookie: string) => {
    const form = new FormData();
    form.set('file', new Blob(['%PDF-1.4 x']), 'a.pdf');
    return fetch(`${trace.url}/api/common/document`, { method: 'POST', body: form, headers: { cookie } });
  };
  const connection = await begun(
    trace.url,
    'POST /api/common/document',
    { ...FORM, cookie: first.cookie },
    PART,
  );
  const refused = await post(first.cookie);
  expect([refused.status, await refused.json()]).toMatchObject([429, { status: 'TOO_MANY_REQUESTS' }]);
  expect((await post(second.cookie)).status).toBe(200);
  connection.close();
});
