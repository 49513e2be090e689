// Isolated: it counts the open files and the memory of its process, which other test files use as well.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readlink } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { watchArrivals } from './helpers/arrivals.ts';
import { download, TUS, TUS_PATCH, upload } from './helpers/attachments.ts';
import { eventually } from './helpers/eventually.ts';
import { temporaryFolder } from './helpers/folder.ts';
import { insertPackets } from './helpers/many-packets.ts';
import { beginRequest, postText, type RawConnection, rawConnection } from './helpers/raw.ts';
import { type RunningService, runningService } from './helpers/service.ts';
import { type RunningTrace, runningTrace } from './helpers/trace.ts';

const MIB = 1024 * 1024;
const observation = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };

let service: RunningService;
let trace: RunningTrace;
let data: { folder: string; remove: () => Promise<void> };
beforeAll(async () => {
  data = await temporaryFolder();
  service = await runningService({
    STALL_SECONDS: '1',
    DATA_DIR: data.folder,
    TRUST_PROXY: 'true',
  });
  trace = await runningTrace({ STALL_SECONDS: '1' });
  // 50 MB: more than the kernel keeps for a connection.
  const message = 'x'.repeat(500_000);
  for (let n = 0; n < 100; n++) {
    expect((await service.send('POST', '/intake/scouting', { ...observation, message })).status).toBe(201);
  }
  await insertPackets(service.pool, 100_000);
});
afterEach(() => void vi.useRealTimers());
afterAll(async () => {
  await Promise.all([service.stop(), trace.stop()]);
  await data.remove();
});

const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n${headers}\r\n`;

/** Asks for something and reads no more than the beginning of the answer. */
async function stalledReader(request: string): Promise<RawConnection> {
  const connection = await rawConnection(service.url);
  connection.send(request);
  await eventually(() => connection.received().startsWith('HTTP/1.1 '));
  connection.pause();
  return connection;
}

/** Counts the service's database connections that run an export. */
async function exporting(): Promise<number> {
  const { rows } = await service.pool.query(
    "SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'COPY (%' AND state = 'active'",
  );
  return rows[0].count;
}

/** How many files of DATA_DIR this process has open. */
async function openFiles(): Promise<number> {
  const names = await readdir('/proc/self/fd');
  const paths = await Promise.all(names.map(name => readlink(`/proc/self/fd/${name}`).catch(() => '')));
  return paths.filter(target => target.startsWith(`${data.folder}/files/`)).length;
}

test('a client that reads nothing of an answer is disconnected, and nothing stays open for it', async () => {
  const { attachment_id } = (await upload(service, randomBytes(40 * MIB))).body;
  const before = await service.connections();
  const stalled = await Promise.all([
    stalledReader(get('/packets?limit=100')),
    stalledReader(get('/sync/packets?limit=1000')),
    stalledReader(get(`/attachments/${attachment_id}`)),
    stalledReader('POST /graph/materialize HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n'),
  ]);
  expect(await service.connections()).toBeGreaterThan(before);
  expect(await eventually(exporting, count => count === 0)).toBe(0);
  expect(await eventually(openFiles, count => count === 0)).toBe(0);
  await eventually(service.connections, count => count <= before);
  for (const { close } of stalled) close();
  expect((await download(service, attachment_id)).bytes).toHaveLength(40 * MIB);
});

test('a client that waits longer for the service is not disconnected, and neither is the next request', async () => {
  const connection = await rawConnection(service.url);
  const { since } = (await service.send('GET', '/sync/packets?geoid=nowhere&limit=1')).body;
  const waiting = get(`/sync/packets?geoid=nowhere&since=${since}&wait=3`);
  connection.send(waiting);
  const answers = () => connection.received().split('HTTP/1.1 200').length - 1;
  await eventually(answers, count => count === 1);
  connection.send(waiting);
  await eventually(answers, count => count === 2);
  connection.close();
}, 20_000);

test('a body that arrives too slowly is 408, JSON and forms alike, in both services', async () => {
  const form =
    'POST /attachments HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-type: multipart/form-data; boundary=x\r\n' +
    'content-length: 100000\r\n\r\n--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nbeginning of it';
  for (const connection of await Promise.all([
    beginRequest(service.url, postText('/intake/scouting', observation)),
    beginRequest(service.url, form),
    beginRequest(trace.url, postText('/api/user/login', { username: 'x', password: 'y' })),
  ])) {
    await connection.closed;
    expect(connection.received()).toContain('HTTP/1.1 408 ');
    expect(connection.received()).toContain('1 KiB per second or faster');
  }
});

test('a body that arrives slowly but steadily is accepted, however long it takes', async () => {
  // The clock that senders are measured by passes only when the test lets it.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  const patient = await runningService({ STALL_SECONDS: '1' }, service);
  const arrivals = watchArrivals();
  const text = postText('/intake/scouting', { ...observation, message: 'x'.repeat(40_000) });
  const connection = await rawConnection(patient.url);
  for (let at = 0; at < text.length; at += 1500) {
    connection.send(text.slice(at, at + 1500));
    await eventually(() => arrivals.bytes() === Math.min(at + 1500, text.length));
    vi.advanceTimersByTime(500);
  }
  await eventually(() => connection.received().includes('HTTP/1.1 201'));
  connection.close();
  arrivals.end();
  await patient.stop();
});

test('a stalled upload keeps everything that arrived', async () => {
  const { headers } = await service.send('POST', '/attachments/uploads', undefined, {
    ...TUS,
    'upload-length': '100000',
  });
  const path = headers.get('location') as string;
  const connection = await rawConnection(service.url);
  connection.send(
    `PATCH ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100000\r\nupload-offset: 0\r\n` +
      `${Object.entries(TUS_PATCH)
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join('')}\r\n${'x'.repeat(900)}`,
  );
  await connection.closed;
  expect(connection.received()).toContain('HTTP/1.1 408 ');
  const offset = async () => (await service.send('HEAD', path, undefined, TUS)).headers.get('upload-offset');
  expect(await eventually(offset, count => count !== '0')).toBe('900');
});

test('a page whose client stalls holds less memory than is counted for it', async () => {
  const patient = await runningService({}, service);
  const stalled: Socket[] = [];
  const stall = async () => {
    const socket = connect(Number(new URL(patient.url).port), '127.0.0.1');
    stalled.push(socket);
    socket.write(get('/packets?limit=1000&type=note'));
    await once(socket, 'readable');
  };
  await stall();
  const before = await settledMemory();
  while (stalled.length < 16) await stall();
  expect((await settledMemory()) - before).toBeLessThan(15 * 2 * MIB);
  for (const socket of stalled) socket.destroy();
  await patient.stop();
}, 60_000);

/** Bytes that this process has in use, once ten looks in a row differ little: sockets let go of theirs late. */
async function settledMemory(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  let last = Number.POSITIVE_INFINITY;
  let steady = 0;
  return eventually(
    () => {
      collect();
      const { heapUsed, external } = process.memoryUsage();
      steady = Math.abs(heapUsed + external - last) < 100_000 ? steady + 1 : 0;
      last = heapUsed + external;
      return last;
    },
    () => steady >= 10,
  );
}

test('answers that wait for readers of one address are bounded; other addresses are served', async () => {
  const { url } = service;
  const from = (address: string) => ({ 'x-forwarded-for': address });
  const patient = await runningService({ TRUST_PROXY: 'true' }, service);
  service.url = patient.url;
  const page = get('/packets?limit=100', 'x-forwarded-for: 192.0.2.1\r\n');
  const stalled = await Promise.all(Array.from({ length: 16 }, () => stalledReader(page)));
  const refused = await patient.send('GET', '/packets?limit=100', undefined, from('192.0.2.1'));
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
  expect(refused.body.error).toContain('too many large responses');
  expect((await patient.send('GET', '/packets?limit=100', undefined, from('192.0.2.2'))).status).toBe(200);
  expect((await patient.send('GET', '/packets?type=none', undefined, from('192.0.2.1'))).status).toBe(200);
  for (const { close } of stalled) close();
  await eventually(
    () => patient.send('GET', '/packets?limit=100', undefined, from('192.0.2.1')),
    ({ status }) => status === 200,
  );
  service.url = url;
  await patient.stop();
}, 60_000);
