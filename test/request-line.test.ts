import { afterAll, beforeAll, expect, test } from 'vitest';
import { filledPath, type Operation, operationsOf } from './helpers/definition.ts';
import { eventually } from './helpers/eventually.ts';
import { rawConnection } from './helpers/raw.ts';
import { type Answer, type RunningService, runningService, type Send } from './helpers/service.ts';
import { type LoggedIn, type RunningTrace, runningTrace } from './helpers/trace.ts';

let packet: RunningService;
let trace: RunningTrace;
let admin: LoggedIn;
/** both services, with every operation of each */
let services: { name: string; send: Send; operations: Operation[] }[];
beforeAll(async () => {
  packet = await runningService();
  trace = await runningTrace();
  admin = await trace.loggedIn('SYSTEM_ADMIN');
  services = [
    { name: 'packet', send: packet.send, operations: await operationsOf(packet.send, '/openapi.json') },
    { name: 'trace', send: admin.send, operations: await operationsOf(admin.send, '/v3/api-docs') },
  ];
});
afterAll(async () => {
  await packet.stop();
  await trace.stop();
});

const tus = { 'tus-resumable': '1.0.0' };
const sentence = ({ body }: Answer): string => body?.error ?? body?.errorMessage;

test('U+0000 in a parameter of a query or a path is 400 and names the parameter, on every route', async () => {
  for (const { send, operations } of services) {
    for (const operation of operations.filter(({ method }) => method !== 'HEAD')) {
      for (const { in: location, name } of operation.parameters) {
        if (location !== 'path' && location !== 'query') continue;
        const path = filledPath(operation, location === 'path' ? { [name]: 'a\0b' } : 'x');
        const query = location === 'query' ? `?${name}=a%00b` : '';
        const answer = await send(operation.method, path + query, undefined, tus);
        const label = `${operation.method} ${path}${query} ${answer.text}`;
        expect(answer.status, label).toBe(400);
        expect(sentence(answer), label).toBe(`${name} must not contain the character U+0000`);
      }
    }
  }
});

test('U+0000 in an unknown path is 400 and names the path', async () => {
  for (const { send } of services) {
    const answer = await send('GET', '/no%00thing');
    expect([answer.status, sentence(answer)]).toEqual([
      400,
      'the path must not contain the character U+0000',
    ]);
  }
});

test('a supported method is never refused, whatever the path parameter contains', async () => {
  const texts = ['1\n', '\u2028', 'x'.repeat(4000)];
  for (const { send, operations } of services) {
    for (const operation of operations) {
      for (const { in: location, name } of operation.parameters) {
        if (location !== 'path') continue;
        for (const text of texts) {
          const path = filledPath(operation, { [name]: text });
          const answer = await send(operation.method, path, undefined, tus);
          expect([operation.method, path.slice(0, 80), answer.status]).not.toEqual([
            operation.method,
            path.slice(0, 80),
            405,
          ]);
          expect(answer.status, `${operation.method} ${path} ${answer.text}`).toBeLessThan(500);
        }
      }
    }
  }
});

test('a query parameter that an operation does not know is 400 with the nearest known name', async () => {
  const errorOf = async (path: string) => {
    const { status, body } = await packet.send('GET', path);
    return [status, body.error];
  };
  expect(await errorOf('/packets?geoId=g')).toEqual([
    400,
    'geoId is not a known query parameter; did you mean geoid?',
  ]);
  expect(await errorOf('/packets?limit=5&form=2026-03-01')).toEqual([
    400,
    'form is not a known query parameter; did you mean from?',
  ]);
  expect(await errorOf('/sync/packets?userId=ben')).toEqual([
    400,
    'userId is not a known query parameter; did you mean user_id?',
  ]);
  expect(await errorOf('/chat/threads?user_id=ben&colour=red')).toEqual([
    400,
    'colour is not a known query parameter; allowed parameters: user_id, details, limit, cursor',
  ]);
  expect(await errorOf('/packets/x?fields=all')).toEqual([
    400,
    'fields is not a known query parameter; this endpoint has none',
  ]);
  expect(await errorOf('/packets?__proto__=1&constructor=1')).toEqual([
    400,
    expect.stringContaining('__proto__ is not a known query parameter'),
  ]);
  for (const operation of services[0]?.operations ?? []) {
    const answer = await packet.send(
      operation.method,
      `${filledPath(operation, 'x')}?unheard_of=1`,
      undefined,
      tus,
    );
    // What anyone may look at without a token is linked to, and polled, with parameters of others.
    const open =
      /^\/(|health(\/\w+)?|vocab|graph|invitations\/\{token\}|directory\/confirmations\/\{token\})$/;
    const isOpen =
      operation.method === 'OPTIONS' || (operation.method === 'GET' && open.test(operation.path));
    const label = `${operation.method} ${operation.path}`;
    if (isOpen) expect(answer.status, label).toBeLessThan(300);
    else expect(answer.status, label).toBe(400);
  }
});

test('the trace backend ignores query parameters that it does not know', async () => {
  expect((await admin.send('GET', '/api/product/list?unheard_of=1')).status).toBe(200);
});

test('a whole number in a query is digits alone', async () => {
  for (const { send, operations } of services) {
    const counted = operations.flatMap(operation =>
      operation.parameters
        .filter(({ in: location, schema }) => location === 'query' && schema.type === 'integer')
        .map(({ name }) => ({ operation, name })),
    );
    expect(counted.length).toBeGreaterThan(5);
    for (const { operation, name } of counted) {
      for (const text of ['1e2', '+5', '%205', '0x10', '5.0', '-1', 'ten', `1&${name}=2`, '٣']) {
        const answer = await send(operation.method, `${filledPath(operation, 'x')}?${name}=${text}`);
        expect([answer.status, sentence(answer)], `${operation.path} ${text}`).toEqual([
          400,
          `${name} must be a whole number written in digits`,
        ]);
      }
    }
  }
  for (const limit of ['007', '1000', '1001', '9'.repeat(400)]) {
    expect((await packet.send('GET', `/packets?limit=${limit}`)).status, limit).toBe(200);
  }
  expect((await packet.send('GET', '/packets?limit=0')).status).toBe(400);
});

test('a slash at the end of a path changes nothing', async () => {
  for (const { send, operations } of services) {
    for (const operation of operations) {
      if (['/', '/events', '/api/user/logout'].includes(operation.path)) continue;
      const path = filledPath(operation, 'x');
      const [without, slashed] = [
        await send(operation.method, path, undefined, tus),
        await send(operation.method, `${path}/`, undefined, tus),
      ];
      expect([slashed.status, sentence(slashed)], `${operation.method} ${path}`).toEqual([
        without.status,
        sentence(without),
      ]);
    }
  }
  const observation = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };
  const key = { 'idempotency-key': 'slash' };
  const first = await packet.send('POST', '/intake/scouting', observation, key);
  const again = await packet.send('POST', '/intake/scouting/', observation, key);
  expect([again.status, again.text]).toEqual([201, first.text]);
});

test('a path parameter allows what a body allows: 256 characters of any script', async () => {
  for (const character of ['u', 'é', '界', '🌍']) {
    const user = character.repeat(256);
    const path = `/directory/users/${encodeURIComponent(user)}`;
    const put = await packet.send('PUT', path, { contacts: [], discoverable: false });
    expect([put.status, put.body.user_id], character).toEqual([200, user]);
    expect((await packet.send('GET', path)).body.user_id).toBe(user);
    const longer = await packet.send('GET', `${path}${encodeURIComponent(character)}`);
    expect(longer.status).toBe(400);
    expect(longer.body.error).toContain('user_id');
  }
  const thread = await packet.send('POST', '/chat/threads', {
    name: 'long names',
    created_by: 'u'.repeat(256),
  });
  const left = await packet.send(
    'DELETE',
    `/chat/threads/${thread.body.thread_id}/participants/${'u'.repeat(256)}`,
  );
  expect(left.status).toBe(204);
});

test('an Accept header that excludes all media types of an answer is 406', async () => {
  const statusOf = async (path: string, accept: string, send = packet.send) =>
    (await send('GET', path, undefined, { accept })).status;
  for (const accept of [
    'text/csv',
    'application/xml, text/*',
    'application/json;q=0',
    '*/*;q=0, text/csv',
    'image/png',
  ]) {
    expect(await statusOf('/packets', accept), accept).toBe(406);
    expect(await statusOf('/api/product/list', accept, admin.send), accept).toBe(406);
    const { status, body } = await packet.send('POST', '/chat/query', { user_id: 'ben' }, { accept });
    expect([status, body.error]).toEqual([406, expect.stringContaining('application/json')]);
  }
  const good = [
    '*/*',
    'application/*',
    'application/json',
    'application/json; charset=utf-8',
    'APPLICATION/JSON;Q=0.1',
    'text/csv, */*;q=0.1',
    'application/geo+json',
    'text/html,application/xhtml+xml,*/*;q=0.8',
    'nonsense',
    '',
  ];
  for (const accept of good) expect(await statusOf('/packets', accept), accept).toBe(200);
  const graph = async (accept: string) =>
    (await packet.send('POST', '/graph/materialize', {}, { accept })).status;
  expect(await graph('application/x-ndjson')).toBe(200);
  expect(await graph('application/n-triples')).toBe(200);
  expect(await graph('application/json')).toBe(200);
  expect(await graph('text/turtle')).toBe(406);
  expect(await statusOf('/vocab', 'text/turtle')).toBe(200);
  expect(await statusOf('/graph', 'text/html')).toBe(200);
  expect(await statusOf('/health', 'text/plain')).toBe(406);
});

test('a request without a Host, and one with an unknown expectation, get a regular answer', async () => {
  for (const [url, path, member] of [
    [packet.url, '/packets', 'error'],
    [trace.url, '/api/common/countries', 'errorMessage'],
  ] as const) {
    const sendRaw = async (head: string) => {
      const connection = await rawConnection(url);
      connection.send(`GET ${path} HTTP/1.1\r\n${head}connection: close\r\n\r\n`);
      await connection.closed;
      return connection.received();
    };
    expect(await sendRaw('')).toMatch(
      new RegExp(`^HTTP/1.1 400 [^]*"${member}":"the Host header is required"`),
    );
    expect(await sendRaw('host: localhost\r\nexpect: nonsense\r\n')).toMatch(/^HTTP\/1.1 200 /);
  }
});

test('a body that turns out invalid after its request was answered gets no second answer', async () => {
  const connection = await rawConnection(packet.url);
  connection.send('GET /health/live HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n');
  await eventually(() => connection.received().includes('"OK"'));
  connection.send('no length of a chunk\r\n');
  await connection.closed;
  expect(connection.received().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
});
