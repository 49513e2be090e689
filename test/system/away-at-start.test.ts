import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../helpers/database.ts';
import { eventually } from '../helpers/eventually.ts';
import { failingS3 } from '../helpers/failing-s3.ts';
import { freePort } from '../helpers/free-port.ts';
import { launch, runToEnd, startProcess } from '../helpers/process.ts';
import { openRelay } from '../helpers/relay.ts';

let database: TestDatabase;
let url: (port: number, password?: string, name?: string) => string;
beforeAll(async () => {
  database = await testDatabase();
  const { user, password: own, database: kept } = database.connection;
  url = (port, password = own, name = kept) => `postgres://${user}:${password}@127.0.0.1:${port}/${name}`;
});
afterAll(() => database.drop());

const observation = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };

async function freePorts() {
  const [packet, trace, pages] = [await freePort(), await freePort(), await freePort()];
  const settings = { PACKET_PORT: `${packet}`, TRACE_PORT: `${trace}`, CONSOLE_PORT: `${pages}` };
  const urls = [packet, trace, pages].map(port => `http://127.0.0.1:${port}`) as [string, string, string];
  return { settings, urls };
}

/** The answer of a server that may not listen yet. */
const answerOf = (address: string, init?: RequestInit) =>
  eventually(() => fetch(address, init).catch(() => undefined)) as Promise<Response>;

/** A server that accepts connections and closes them, as a proxy does while what is behind it is away. */
async function hangingUp(port: number) {
  let count = 0;
  const server = createServer(socket => {
    count++;
    socket.on('error', () => {}).destroy();
  });
  await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve));
  return { count: () => count, close: () => new Promise(resolve => server.close(resolve)) };
}

test.each([1, 2])(
  '%i process(es) wait for a database that is away at the start, answer 503 meanwhile, and serve when it is back',
  async workers => {
    const port = await freePort();
    const away = await hangingUp(port);
    const { settings, urls } = await freePorts();
    const [packet, trace, pages] = urls;
    const starting = startProcess({
      ...settings,
      DATABASE_URL: url(port),
      WORKERS: `${workers}`,
      DATABASE_POOL: '4',
    });
    const intake = await answerOf(`${packet}/intake/scouting`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(observation),
    });
    expect([intake.status, intake.headers.get('retry-after'), await intake.json()]).toEqual([
      503,
      '5',
      { error: 'the database is not responding; try again' },
    ]);
    const login = await answerOf(`${trace}/api/user/login`, { method: 'POST' });
    expect([login.status, await login.json()]).toEqual([
      503,
      { status: 'UPSTREAM_HTTP_ERROR', errorMessage: 'the database is not responding; try again' },
    ]);
    for (const [address, service] of [
      [packet, 'packet-service'],
      [trace, 'trace-backend'],
      [pages, 'console'],
    ] as const) {
      const ready = await answerOf(`${address}/health/ready`);
      expect([ready.status, await ready.json()]).toEqual([
        503,
        expect.objectContaining({ service, status: 'DATABASE_UNREACHABLE', details: [] }),
      ]);
      expect((await answerOf(`${address}/health/live`)).status).toBe(200);
    }
    await eventually(() => away.count() > 2);
    await away.close();
    const relay = await openRelay(database.connection, port);

    const service = await starting;
    expect((await service.send('POST', '/intake/scouting', observation)).status).toBe(201);
    expect(service.log().match(/"the start is waiting/g), service.log()).toHaveLength(1);
    service.child.kill('SIGTERM');
    expect(await service.ended, service.output()).toBe(0);
    await relay.close();
  },
);

test('a signal ends the wait for a database', async () => {
  const { settings, urls } = await freePorts();
  const { child, ended, output } = launch({ ...settings, DATABASE_URL: url(await freePort()) });
  expect((await answerOf(`${urls[0]}/health`)).status).toBe(503);
  child.kill('SIGTERM');
  expect(await ended, output()).toBe(0);
});

test('a start waits for S3, too', async () => {
  const s3 = await failingS3();
  onTestFinished(s3.stop);
  s3.behaviour = 'gone';
  const own = await testDatabase();
  onTestFinished(own.drop);
  const { settings, urls } = await freePorts();
  const relay = await openRelay(own.connection);
  const { port } = relay.connection as { port: number };
  const DATABASE_URL = url(port, undefined, own.connection.database);
  const starting = startProcess({ ...settings, ...s3.environment, DATABASE_URL });
  const refused = await answerOf(`${urls[0]}/packets`);
  expect([refused.status, await refused.json()]).toEqual([
    503,
    { error: 'the file store is not responding; try again' },
  ]);
  s3.behaviour = 'well';
  const service = await starting;
  service.child.kill('SIGTERM');
  expect(await service.ended, service.output()).toBe(0);
  await relay.close();
});

test('a wrong password, database or host ends the start at once', async () => {
  const relay = await openRelay(database.connection);
  const { port } = relay.connection as { port: number };
  for (const [address, said] of [
    [url(port, 'hunter2'), /^fieldtrace cannot start: DATABASE_URL: password authentication failed.*\n$/],
    [url(port, undefined, 'nowhere'), /^fieldtrace cannot start: DATABASE_URL: database "nowhere".*\n$/],
    [
      'postgres://user:hunter2@host.invalid/x',
      /^fieldtrace cannot start: DATABASE_URL: .*host\.invalid.*\n$/,
    ],
  ] as const) {
    const { code, output } = await runToEnd({ DATABASE_URL: address, LOG_LEVEL: 'silent' });
    expect([code, output]).toEqual([1, expect.stringMatching(said)]);
    expect(output).not.toContain('hunter2');
  }
  await relay.close();
});
