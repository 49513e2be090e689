import { spawn } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { emptyDataDir } from '../helpers/data-dir.ts';
import { type TestDatabase, testDatabase } from '../helpers/database.ts';
import { eventually } from '../helpers/eventually.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { type RunningProcess, startProcess } from '../helpers/process.ts';
import { beginRequest, postText, type RawConnection } from '../helpers/raw.ts';
import { sender } from '../helpers/service.ts';

const observation = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };
const observe = postText('/intake/scouting', observation);
const login = postText('/api/user/login', { username: 'nobody@example.org', password: 'maize in the rain' });
const requestText = (at: string) => `GET ${at} HTTP/1.1\r\nhost: localhost\r\n\r\n`;

let database: TestDatabase;
let databaseUrl: string;
beforeAll(async () => {
  database = await testDatabase();
  const { host, port, user, password, database: name } = database.connection;
  databaseUrl = `postgres://${user}:${password}@/${name}?host=${encodeURIComponent(host)}&port=${port}`;
});
afterAll(() => database.drop());

/** The answers that came over a connection: status, headers and body of each. */
function answersOf(connection: RawConnection): { status: number; head: string; body: string }[] {
  const answers = [];
  let rest = connection.received().replace('HTTP/1.1 100 Continue\r\n\r\n', '');
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    const head = rest.slice(0, end);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1]);
    if (end === -1 || rest.length < end + 4 + length) return answers;
    answers.push({ status: Number(head.slice(9, 12)), head, body: rest.slice(end + 4, end + 4 + length) });
    rest = rest.slice(end + 4 + length);
  }
}

const stopBegan = (service: RunningProcess) => eventually(() => service.log().includes('"stopping:'));
const hasPostmaster = async (folder: string) =>
  (await readdir(folder, { recursive: true })).some(file => path.basename(file) === 'postmaster.pid');

test('during a stop, requests in flight are answered and new ones get 503 with Retry-After, health included', async () => {
  const service = await startProcess({ DATABASE_URL: databaseUrl });
  for (const [url, request] of [
    [service.url, observe],
    [service.traceUrl, login],
  ] as const) {
    begun.push(await beginRequest(url, request));
  }
  const [packet, trace] = begun as [RawConnection, RawConnection];
  service.child.kill('SIGTERM');
  await stopBegan(service);

  packet.send(`${observe.slice(-10)}${requestText('/packets')}`);
  await eventually(() => answersOf(packet).length === 2);
  const [taken, refused] = answersOf(packet) as [{ status: number; body: string }, Refused];
  expect([taken.status, Object.keys(JSON.parse(taken.body))]).toEqual([201, ['packet_uuid']]);
  expect([refused.status, JSON.parse(refused.body)]).toEqual([
    503,
    { error: 'the service is stopping; try again' },
  ]);
  expect(refused.head).toMatch(/^retry-after: 5$/im);

  trace.send(`${login.slice(-10)}${requestText('/health')}`);
  await eventually(() => answersOf(trace).length === 2);
  const [, health] = answersOf(trace) as [object, Refused];
  expect([health.status, JSON.parse(health.body).status]).toEqual([503, 'STOPPING']);
  expect(await service.ended, service.output()).toBe(0);
});

test('with DRAIN_SECONDS, health is 503 first, and requests are served until a second signal', async () => {
  const service = await startProcess({ DATABASE_URL: databaseUrl, DRAIN_SECONDS: '600' });
  const packet = sender(service.url);
  service.child.kill('SIGTERM');
  await eventually(async () => (await packet('GET', '/health/ready')).status === 503);
  expect((await packet('GET', '/health')).body.status).toBe('STOPPING');
  expect((await packet('GET', '/health/live')).status).toBe(200);
  expect((await packet('POST', '/intake/scouting', observation)).status).toBe(201);
  expect((await sender(service.traceUrl)('GET', '/health')).status).toBe(503);
  service.child.kill('SIGTERM');
  expect(await service.ended, service.output()).toBe(0);
});

interface Refused {
  status: number;
  head: string;
  body: string;
}
const begun: RawConnection[] = [];

test('a terminal that is closed (SIGHUP) stops the process and its PostgreSQL cleanly', async () => {
  const { folder, remove } = await temporaryFolder();
  await emptyDataDir(folder);
  const service = await startProcess({ DATA_DIR: folder });
  expect(await hasPostmaster(folder)).toBe(true);
  service.child.kill('SIGHUP');
  expect(await service.ended, service.output()).toBe(0);
  expect(await hasPostmaster(folder)).toBe(false);
  await remove();
});

test('stalled clients are disconnected at the deadline: the stop is clean, PostgreSQL has ended, and acknowledged writes are stored', async () => {
  const { folder, remove } = await temporaryFolder();
  await emptyDataDir(folder);
  const service = await startProcess({ DATA_DIR: folder });
  const { packet_uuid } = (await service.send('POST', '/intake/scouting', observation)).body;
  const stalled = await Promise.all([
    beginRequest(service.url, observe),
    beginRequest(service.url, observe),
    beginRequest(service.traceUrl, login),
  ]);
  service.child.kill('SIGTERM');
  await Promise.all(stalled.map(({ closed }) => closed));
  expect(await service.ended, service.output()).toBe(0);
  expect(service.log()).toContain('closing the connections of requests that are still in flight');
  expect(await hasPostmaster(folder)).toBe(false);

  const next = await startProcess({ DATA_DIR: folder });
  expect((await next.send('GET', `/packets/${packet_uuid}`)).status).toBe(200);
  next.child.kill('SIGTERM');
  expect(await next.ended).toBe(0);
  await remove();
}, 240_000);

test('a second signal disconnects clients at once, and the stop is still clean', async () => {
  const { folder, remove } = await temporaryFolder();
  await emptyDataDir(folder);
  const service = await startProcess({ DATA_DIR: folder });
  const stalled = await beginRequest(service.url, observe);
  service.child.kill('SIGINT');
  await stopBegan(service);
  service.child.kill('SIGINT');
  await stalled.closed;
  expect(await service.ended, service.output()).toBe(0);
  expect(await hasPostmaster(folder)).toBe(false);
  await remove();
});

test('a service that does not stop is abandoned: PostgreSQL ends and the exit code is 0, since acknowledged writes are stored', async () => {
  const { folder, remove } = await temporaryFolder();
  const fixture = path.join(import.meta.dirname, '../fixtures/hanging-service.ts');
  const child = spawn(process.execPath, [fixture, folder], { stdio: ['ignore', 'pipe', 'pipe'] });
  let [log, said] = ['', ''];
  child.stdout.on('data', chunk => {
    log += chunk;
  });
  child.stderr.on('data', chunk => {
    said += chunk;
  });
  const ended = new Promise(resolve => child.once('close', code => resolve(code)));
  const url = await eventually(() => /listening at (\S+)/.exec(said)?.[1] as string);
  const { packet_uuid } = (await sender(url)('POST', '/intake/scouting', observation)).body;
  const stalled = await beginRequest(url, observe);
  child.kill('SIGTERM');
  await stalled.closed;
  expect(await ended, said).toBe(0);
  expect(log).toContain('closing the connections of requests that are still in flight');
  expect(log).toContain('the services did not stop in time');
  expect(await hasPostmaster(folder)).toBe(false);

  const next = await startProcess({ DATA_DIR: folder });
  expect((await next.send('GET', `/packets/${packet_uuid}`)).status).toBe(200);
  next.child.kill('SIGTERM');
  expect(await next.ended).toBe(0);
  await remove();
});
