import { connect, type Socket } from 'node:net';
import { deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningService, runningService } from './helpers/service.ts';
import { type LoggedIn, type RunningTrace, runningTrace } from './helpers/trace.ts';
import { JWT_SECRET } from './helpers/user-registry.ts';

let packet: RunningService;
let trace: RunningTrace;
let admin: LoggedIn;
beforeAll(async () => {
  packet = await runningService({ USER_REGISTRY_JWT_SECRET: JWT_SECRET });
  trace = await runningTrace();
  admin = await trace.loggedIn('SYSTEM_ADMIN');
});
afterAll(async () => {
  await packet.stop();
  await trace.stop();
});

const MIB = 1024 * 1024;
const observation = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };

test('clients that send a large body can read a 401, 404 or 413', async () => {
  const ends: [number, string, Record<string, string>, number][] = [
    [401, `${packet.url}/intake/scouting`, { authorization: 'Bearer not.a.token' }, 400 * 1024],
    [
      401,
      `${packet.url}/attachments`,
      { authorization: 'Bearer x.y.z', 'content-type': 'multipart/form-data; boundary=x' },
      8 * MIB,
    ],
    [401, `${trace.url}/api/product/create`, {}, 900 * 1024],
    [404, `${packet.url}/intake/nothing`, {}, 400 * 1024],
    [404, `${trace.url}/api/nothing`, {}, 8 * MIB],
    [413, `${packet.url}/intake/scouting`, {}, 900 * 1024],
    [413, `${packet.url}/intake/batch`, {}, 17 * MIB],
    [413, `${trace.url}/api/user/login`, {}, 2 * MIB],
  ];
  for (const [status, url, headers, size] of ends) {
    const body = new Uint8Array(size).fill(0x20);
    for (let attempt = 0; attempt < 10; attempt++) {
      const answer = await fetch(url, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', ...headers },
      });
      expect(
        [answer.status, Object.keys((await answer.json()) as object).length > 0],
        `${url} ${attempt}`,
      ).toEqual([status, true]);
      expect(answer.headers.get('connection')).toBe('close');
    }
  }
});

test('at most about 1 MiB of an unwanted body is read, and not for long', async () => {
  for (const head of [
    'POST /nothing HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 999999999\r\n\r\n',
    'POST /nothing HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n',
    'NOT HTTP AT ALL\r\n\r\n',
  ]) {
    const { answer, sent } = await sendsOn(head, `10000\r\n${'x'.repeat(65_536)}\r\n`);
    expect(answer, head).toMatch(/^HTTP\/1.1 40[04] [\s\S]*\r\n\r\n\{"error":/);
    // What the systems between had taken comes on top of what was read.
    expect(sent).toBeLessThan(64 * MIB);
    // One who sends nothing more is not waited for either.
    expect((await sendsOn(head, '')).answer).toMatch(/^HTTP\/1.1 40[04] /);
  }
});

test('a connection stays in use after an error if its body arrived completely', async () => {
  const socket = connect(Number(new URL(packet.url).port), '127.0.0.1');
  const body = '{"observed_at":1}';
  const request = `POST /intake/scouting HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const answers: string[] = [];
  for (let round = 0; round < 3; round++) {
    socket.write(request);
    answers.push(await new Promise(resolve => socket.once('data', chunk => resolve(String(chunk)))));
  }
  expect(answers.map(answer => answer.slice(0, 12))).toEqual(Array(3).fill('HTTP/1.1 400'));
  socket.destroy();
});

test('401 says in WWW-Authenticate how to authenticate', async () => {
  const challenge = async (answer: Promise<{ status: number; headers: Headers }>) => {
    const { status, headers } = await answer;
    return [status, headers.get('www-authenticate')];
  };
  const required = await runningService(
    { AUTH_MODE: 'required', USER_REGISTRY_JWT_SECRET: JWT_SECRET },
    packet,
  );
  expect(await challenge(required.send('GET', '/packets'))).toEqual([401, 'Bearer']);
  await required.stop();
  const bad = { authorization: 'Bearer not.a.token' };
  expect(await challenge(packet.send('GET', '/packets', undefined, bad))).toEqual([
    401,
    'Bearer error="invalid_token"',
  ]);
  const cookie = expect.stringMatching(/^Cookie .*cookie-name="trace-accessToken"/);
  expect(await challenge(trace.send('GET', '/api/user/profile'))).toEqual([401, cookie]);
  const wrong = { username: 'nobody@example.org', password: 'wrong' };
  expect(await challenge(trace.send('POST', '/api/user/login', wrong))).toEqual([401, cookie]);
  expect(await challenge(trace.send('GET', '/api/discoverability?contact=x'))).toEqual([401, 'Bearer']);
});

test('a body can be sent as gzip or deflate', async () => {
  const send = (body: Uint8Array, encoding: string, path = '/intake/scouting', type = 'application/json') =>
    packet.send('POST', path, body, { 'content-encoding': encoding, 'content-type': type });
  const text = JSON.stringify(observation);
  for (const [body, encoding] of [
    [gzipSync(text), 'gzip'],
    [gzipSync(text), 'GZIP'],
    [gzipSync(text), 'x-gzip'],
    [deflateSync(text), 'deflate'],
    [Buffer.from(text), 'identity'],
  ] as const) {
    expect((await send(body, encoding)).status, encoding).toBe(201);
  }
  const item = JSON.stringify({ intake: 'scouting', body: observation });
  const array = await send(gzipSync(`[${item},${item}]`), 'gzip', '/intake/batch');
  expect(array.body.results).toHaveLength(2);
  const lines = await send(
    deflateSync(`${item}\n${item}\n`),
    'deflate',
    '/intake/batch',
    'application/x-ndjson',
  );
  expect(lines.text.trim().split('\n')).toHaveLength(2);
  const country = gzipSync(JSON.stringify({ name: 'Kopanyi' }));
  const created = await admin.send('POST', '/api/company/create', country, {
    'content-encoding': 'gzip',
    'content-type': 'application/json',
  });
  expect(created.status).toBe(200);
});

test('an encoded body is limited by its decompressed size, and a broken one is 400', async () => {
  const send = (body: Uint8Array, encoding: string, path = '/intake/scouting') =>
    packet.send('POST', path, body, { 'content-encoding': encoding, 'content-type': 'application/json' });
  const bomb = gzipSync(Buffer.alloc(200 * MIB, 0x20));
  expect(bomb.length).toBeLessThan(400 * 1024);
  for (const path of ['/intake/scouting', '/intake/batch', '/chat/threads']) {
    expect((await send(bomb, 'gzip', path)).status, path).toBe(413);
  }
  const text = JSON.stringify(observation);
  const whole = gzipSync(text);
  for (const broken of [Buffer.from(text), whole.subarray(0, -9), whole.subarray(3)]) {
    const { status, body } = await send(broken, 'gzip');
    expect([status, body.error]).toEqual([400, 'Content-Encoding says gzip, but the body is not valid gzip']);
  }
});

test('other encodings are 415, which lists the supported ones', async () => {
  for (const encoding of ['br', 'zstd', 'compress', 'gzip, gzip', '__proto__']) {
    const answer = await packet.send('POST', '/intake/scouting', observation, {
      'content-encoding': encoding,
    });
    expect([answer.status, answer.headers.get('accept-encoding')], encoding).toEqual([415, 'gzip, deflate']);
  }
});

test('a file is kept as it is sent: an encoded upload is 415', async () => {
  const form = { 'content-type': 'multipart/form-data; boundary=x', 'content-encoding': 'gzip' };
  expect((await packet.send('POST', '/attachments', gzipSync('--x--'), form)).status).toBe(415);
  expect((await admin.send('POST', '/api/common/image', gzipSync('--x--'), form)).status).toBe(415);
  const patch = { 'tus-resumable': '1.0.0', 'upload-offset': '0', 'content-encoding': 'gzip' };
  const type = { 'content-type': 'application/offset+octet-stream' };
  const answer = await packet.send('PATCH', '/attachments/uploads/x', gzipSync('x'), { ...patch, ...type });
  expect([answer.status, answer.headers.get('accept-encoding')]).toEqual([415, 'identity']);
});

/** Sends a head, then the same text again and again for as long as the connection takes it. */
function sendsOn(head: string, text: string): Promise<{ answer: string; sent: number }> {
  return new Promise(resolve => {
    const { port } = new URL(packet.url);
    const socket: Socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true });
    let answer = '';
    const more = () => {
      if (text === '' || socket.destroyed) return;
      if (socket.write(text)) setImmediate(more);
      else socket.once('drain', more);
    };
    socket.on('data', chunk => {
      answer += chunk;
    });
    socket.on('error', () => {});
    socket.on('end', () => text === '' && socket.end());
    socket.on('close', () => resolve({ answer, sent: socket.bytesWritten }));
    socket.write(head, more);
  });
}
