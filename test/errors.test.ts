import { connect } from 'node:net';
import { DisplayString, parseList } from 'structured-headers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, type RunningService, runningService } from './helpers/service.ts';
import { bearer, JWT_SECRET, secretToken } from './helpers/user-registry.ts';

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service.stop());

interface Operation {
  method: string;
  path: string;
  /** media types of the body */
  takes: string[];
}

/** Every operation of the running service, from its own definition. */
async function operations(): Promise<Operation[]> {
  const { body } = await service.send('GET', '/openapi.json');
  type Methods = Record<string, { requestBody?: { content: object } }>;
  return Object.entries(body.paths as Record<string, Methods>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { requestBody }]) => ({
      method: method.toUpperCase(),
      path: path.replaceAll(/\{\w+\}/g, 'x'),
      takes: Object.keys(requestBody?.content ?? {}),
    })),
  );
}

/** Files are uploaded as forms and as plain bytes; their errors are tested in the tests of attachments. */
const takesJson = ({ method, path }: Operation) =>
  ['POST', 'PUT', 'PATCH'].includes(method) && !path.startsWith('/attachments');

test('an unknown path is 404 and a known path with another method 405, both with {error}', async () => {
  const known = await operations();
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
    for (const path of ['/', '/nothing', '/packets/x/y', ...known.map(operation => operation.path)]) {
      if (known.some(operation => operation.method === method && operation.path === path)) continue;
      // There `uploads` is read as the id of an attachment, which does not exist.
      if (method === 'GET' && path === '/attachments/uploads') continue;
      // There `accept` is read as the token of an invitation, whose page is the same for every token.
      if (method === 'GET' && path === '/invitations/accept') continue;
      // There `names` is read as the GeoID of a field, which does not exist.
      if (method === 'DELETE' && path === '/fields/names') continue;
      const { status, body, headers } = await service.send(method, path);
      const paths = known.filter(operation => operation.path === path);
      expect(status, `${method} ${path}`).toBe(paths.length === 0 ? 404 : 405);
      expect(Object.keys(body)).toEqual(['error']);
      for (const operation of paths) expect(headers.get('allow')).toContain(operation.method);
    }
  }
});

test('a body that is not JSON is refused with {error} on every route that takes one', async () => {
  const bodies: [number, string, string | Uint8Array][] = [
    [415, 'text/plain', '{}'],
    [415, 'application/x-www-form-urlencoded', 'a=b'],
    [415, 'multipart/form-data; boundary=x', '--x--'],
    [400, 'application/json', '{"a":'],
    [400, 'application/json; charset=utf-8', '{"a":1e999}'],
    [400, 'application/json', '{"a":"\\ud800"}'],
    [400, 'application/json', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    [400, 'application/json', '['.repeat(100_000)],
    [400, 'application/json', '"text"'],
  ];
  for (const { method, path } of (await operations()).filter(takesJson)) {
    for (const [expected, type, body] of bodies) {
      const answer = await service.send(method, path, body, { 'content-type': type });
      expect(answer.status, `${method} ${path} ${type} ${String(body).slice(0, 30)}`).toBe(expected);
      expect(Object.keys(answer.body)).toEqual(['error']);
    }
  }
});

test('uploads refuse a body that is neither a form nor the bytes of a file', async () => {
  const uploads = (await operations()).filter(
    ({ takes }) => takes.length > 0 && !takes.includes('application/json'),
  );
  expect(uploads.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([
    'PATCH /attachments/uploads/x',
    'POST /attachments',
  ]);
  for (const { method, path } of uploads) {
    for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded']) {
      const headers = { 'content-type': type, 'tus-resumable': '1.0.0', 'upload-offset': '0' };
      const answer = await service.send(method, path, '{}', headers);
      expect([answer.status, Object.keys(answer.body)], `${method} ${path} ${type}`).toEqual([
        415,
        ['error'],
      ]);
    }
  }
});

test('a body larger than any limit is 413 with {error} on every route that takes one', async () => {
  const body = JSON.stringify({ message: 'x'.repeat(17 * 1024 * 1024) });
  for (const { method, path } of (await operations()).filter(takesJson)) {
    const text = await exchange(
      `${method} ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`,
    );
    expect(text, `${method} ${path}`).toMatch(/^HTTP\/1.1 413 /);
    expect(Object.keys(JSON.parse(text.split('\r\n\r\n')[1] as string))).toEqual(['error']);
  }
});

test('invalid HTTP and oversized headers also get {error}', async () => {
  const requests: [number, string][] = [
    [400, 'NONSENSE\r\n\r\n'],
    [400, 'GET /packets HTTP/9.9\r\n\r\n'],
    [400, 'POST /intake/scouting HTTP/1.1\r\nhost: localhost\r\ncontent-length: ten\r\n\r\n'],
    [400, 'GET /packets/%zz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n'],
    [431, `GET /packets HTTP/1.1\r\nhost: localhost\r\nx-large: ${'x'.repeat(20_000)}\r\n\r\n`],
  ];
  for (const [status, request] of requests) {
    const text = await exchange(request);
    expect(text.slice(0, 12), request.slice(0, 60)).toBe(`HTTP/1.1 ${status}`);
    expect(Object.keys(JSON.parse(text.split('\r\n\r\n')[1] as string))).toEqual(['error']);
  }
});

test('an internal failure is 500 with {error} that reveals no internals', async () => {
  const broken = await runningService({}, service);
  await service.pool.query('ALTER TABLE packets RENAME TO packets_elsewhere');
  const { status, body } = await broken.send('GET', '/packets');
  await service.pool.query('ALTER TABLE packets_elsewhere RENAME TO packets');
  expect(status).toBe(500);
  expect(body.error).not.toMatch(/packets|relation|42P01/);
  expect(Object.keys(body)).toEqual(['error']);
  await broken.stop();
});

test("every answer forbids content sniffing and carries the request id, the caller's own when it is plain", async () => {
  const answer = await service.send('GET', '/health', undefined, { 'x-request-id': 'phone-17:42' });
  expect(answer.headers.get('x-request-id')).toBe('phone-17:42');
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  const made = await service.send('GET', '/nothing', undefined, { 'x-request-id': 'not plain' });
  expect(made.headers.get('x-request-id')).toMatch(/^[0-9a-f]{8}-/);
});

test('Fieldtrace-Reason says why a request failed, and a batch gives the reason of each item', async () => {
  const checked = await runningService({ USER_REGISTRY_JWT_SECRET: JWT_SECRET }, service);
  const [ana, ben] = [bearer(await secretToken('ana')), bearer(await secretToken('ben'))];
  const { thread_id } = (await checked.send('POST', '/chat/threads', { name: 'Ours' }, ana)).body;
  const said = { thread_id, text: 'hello' };
  const message = (await checked.send('POST', '/intake/chat-message', said, ana)).body.packet_uuid;
  const unknown = '01JD7Q2M8XW3N5R6T8V9Y0Z1A2';
  const threads = '/chat/threads';
  const observation = { observed_at: 'yesterday', capture_point: { lat: 1, lon: 2 } };

  const refused: [answer: Promise<Answer>, status: number, reason: string, parameters: object][] = [
    [checked.send('GET', `/packets/${unknown}`), 404, 'packet.unknown', { id: unknown }],
    [checked.send('GET', '/packets/fi%C3%A9ld'), 404, 'packet.unknown', { id: 'fiéld' }],
    [checked.send('GET', `/packets/${message}`, undefined, ben), 403, 'packet.of_foreign_thread', {}],
    [checked.send('GET', `${threads}/${unknown}`, undefined, ben), 404, 'thread.unknown', { id: unknown }],
    [
      checked.send('GET', `${threads}/${thread_id}`, undefined, ben),
      403,
      'thread.caller_not_participant',
      { id: thread_id },
    ],
    [checked.send('GET', `${threads}/${thread_id}`), 401, 'thread.needs_token', { id: thread_id }],
    [checked.send('GET', '/packets', undefined, { authorization: 'Basic x' }), 401, 'token.malformed', {}],
    [
      checked.send('POST', '/intake/scouting', observation),
      400,
      'timestamp.malformed',
      { field: 'observed_at' },
    ],
    [
      checked.send('POST', '/shares', { packet_id: message, contact_value: ' ' }, ana),
      400,
      'contact.wrong_length',
      { field: 'contact_value', max: 320 },
    ],
    [
      checked.send('GET', '/tiles/observations/1/2/0.mvt'),
      400,
      'tile.off_map',
      { field: 'x', max: 1, zoom: 1 },
    ],
  ];
  for (const [answer, status, reason, parameters] of refused) {
    const { status: answered, headers, body } = await answer;
    expect([answered, reasonsIn(headers), Object.keys(body)]).toEqual([
      status,
      [{ reason, parameters }],
      ['error'],
    ]);
  }

  const items = [
    { intake: 'chat-message', body: { thread_id: unknown, text: 'lost' } },
    { intake: 'scouting', body: observation },
  ];
  const batch = await checked.send('POST', '/intake/batch', items, ben);
  expect([batch.status, batch.headers.get('fieldtrace-reason')]).toEqual([200, null]);
  expect(batch.body.results).toEqual([
    {
      error: `thread ${unknown} not found`,
      status: 404,
      reason: 'thread.unknown',
      parameters: { id: unknown },
    },
    {
      error: 'observed_at must be an ISO 8601 date-time such as 2026-03-01T08:15:00Z',
      status: 400,
      reason: 'timestamp.malformed',
      parameters: { field: 'observed_at' },
    },
  ]);
  await checked.stop();
});

/** Parses Fieldtrace-Reason as clients do. */
function reasonsIn(headers: Headers): { reason: string; parameters: object }[] {
  return parseList(headers.get('fieldtrace-reason') ?? '').map(([reason, parameters]) => ({
    reason: String(reason),
    parameters: Object.fromEntries(
      [...parameters].map(([name, value]) => [
        name,
        value instanceof DisplayString ? value.toString() : value,
      ]),
    ),
  }));
}

/** Sends bytes as they are and gives back everything that comes until the connection ends. */
function exchange(request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    let text = '';
    socket.on('data', chunk => {
      text += chunk;
      const [head, body] = text.split('\r\n\r\n');
      const length = /content-length: (\d+)/i.exec(head ?? '')?.[1];
      if (length !== undefined && Buffer.byteLength(body ?? '') >= Number(length)) socket.end();
    });
    socket.on('end', () => resolve(text));
    socket.on('error', reject);
    socket.write(request);
  });
}
