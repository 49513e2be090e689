import { afterAll, beforeAll, expect, test } from 'vitest';
import { emptyDataDir } from '../helpers/data-dir.ts';
import { type TestDatabase, testDatabase } from '../helpers/database.ts';
import { eventually } from '../helpers/eventually.ts';
import { openFeed } from '../helpers/feed.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { type RunningProcess, runToEnd, startProcess } from '../helpers/process.ts';

const observation = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };

let database: TestDatabase;
let databaseUrl: string;
beforeAll(async () => {
  database = await testDatabase();
  const { host, port, user, password, database: name } = database.connection;
  databaseUrl = `postgres://${user}:${password}@/${name}?host=${encodeURIComponent(host)}&port=${port}`;
});
afterAll(() => database.drop());

/** The lines of the log that say something. */
function linesOf({ log }: RunningProcess, msg: string): { worker: number; pid: number }[] {
  // The last one may not be complete.
  const lines = log().split('\n').slice(0, -1);
  return lines.map(line => JSON.parse(line)).filter(line => line.msg === msg);
}

const pidsOf = (service: RunningProcess) => linesOf(service, 'worker started').map(({ pid }) => pid);

/** Writes until it is over, over new connections each time; notes what was acknowledged. */
async function write(service: RunningProcess, over: () => boolean): Promise<string[]> {
  const acknowledged: string[] = [];
  while (!over()) {
    try {
      const answer = await service.send('POST', '/intake/scouting', observation, { connection: 'close' });
      if (answer.status === 201) acknowledged.push(answer.body.packet_uuid);
      else if (answer.status !== 503) throw new Error(answer.text);
    } catch (error) {
      // The connection of a worker that was killed.
      if (!(error instanceof TypeError)) throw error;
    }
  }
  return acknowledged;
}

test('two workers serve on one port; one that is killed under load is replaced, and nothing acknowledged is lost', async () => {
  const service = await startProcess({ DATABASE_URL: databaseUrl, DATABASE_POOL: '4', WORKERS: '2' });
  const [first, second] = pidsOf(service);
  expect(second).not.toBe(first);
  const { body } = await service.send('POST', '/chat/threads', { name: 'Coffee', created_by: 'amina' });
  const say = () =>
    service.send(
      'POST',
      '/intake/chat-message',
      { thread_id: body.thread_id, text: 'hello' },
      { connection: 'close' },
    );

  let isOver = false;
  const writers = Array.from({ length: 4 }, () => write(service, () => isOver));
  await eventually(async () => {
    const { rows } = await database.pool.query('SELECT count(*)::int AS count FROM packets');
    return rows[0].count > 20;
  });
  process.kill(first as number, 'SIGKILL');
  await eventually(() => linesOf(service, 'a worker ended; starting another one').length === 1);
  // Feed and sync go on with the other worker, and with the next one.
  const feed = await eventually(() => openFeed(service.url, 'amina').catch(() => undefined));
  await eventually(async () => (await say().catch(() => undefined))?.status === 201);
  await eventually(() => (feed?.events.length ?? 0) > 0);
  feed?.close();
  await eventually(() => pidsOf(service).length === 3);
  isOver = true;
  const acknowledged = (await Promise.all(writers)).flat();

  const synced = new Set<string>();
  for (let since = '0'; acknowledged.some(id => !synced.has(id)); ) {
    const answer = await service.send('GET', `/sync/packets?since=${since}&limit=1000&wait=1`);
    for (const { packet } of answer.body.packets) synced.add(packet.Header.id);
    since = answer.body.since;
  }
  expect(new Set(acknowledged).size).toBe(acknowledged.length);

  service.child.kill('SIGTERM');
  expect(await service.ended, service.output()).toBe(0);
  for (const pid of pidsOf(service)) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  const lines = service
    .log()
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line));
  expect(new Set(lines.map(({ worker }) => worker))).toEqual(new Set([undefined, 1, 2]));
  expect(lines.filter(({ msg }) => msg === 'migrated')).toEqual([]);
}, 240_000);

test('every worker answers with the metrics of all, and of the supervisor', async () => {
  const service = await startProcess({ DATABASE_URL: databaseUrl, DATABASE_POOL: '4', WORKERS: '2' });
  for (const [url, name] of [
    [service.url, 'packet-service'],
    [service.traceUrl, 'trace-backend'],
  ]) {
    const text = await (await fetch(`${url}/metrics`)).text();
    expect(text.match(/^# TYPE fieldtrace_build_info /gm)).toHaveLength(1);
    for (const worker of [1, 2]) {
      expect(text).toMatch(
        new RegExp(`^fieldtrace_build_info\\{.*service="${name}",worker="${worker}"\\} 1$`, 'm'),
      );
    }
    expect(text).toContain(`workers{service="${name}"} 2\n`);
    expect(text).toContain(`worker_restarts_total{service="${name}"} 0\n`);
  }
  // A terminal sends it to the whole group: it counts once.
  for (const pid of pidsOf(service)) process.kill(pid, 'SIGINT');
  service.child.kill('SIGINT');
  expect(await service.ended, service.output()).toBe(0);
}, 240_000);

test('the supervisor starts the embedded PostgreSQL before its workers, and stops it after them', async () => {
  const { folder, remove } = await temporaryFolder();
  await emptyDataDir(folder);
  const environment = { DATA_DIR: folder, DATABASE_POOL: '4', WORKERS: '2' };
  const service = await startProcess(environment);
  const { status, body } = await service.send('POST', '/intake/scouting', observation);
  expect(status).toBe(201);
  service.child.kill('SIGTERM');
  expect(await service.ended, service.output()).toBe(0);
  expect(linesOf(service, 'stopped PostgreSQL')).toHaveLength(1);
  expect(service.log().trim().split('\n').at(-1)).toContain('stopped PostgreSQL');

  const alone = await startProcess({ DATA_DIR: folder });
  expect((await alone.send('GET', `/packets/${body.packet_uuid}`)).status).toBe(200);
  alone.child.kill('SIGTERM');
  expect(await alone.ended, alone.output()).toBe(0);
  await remove();
}, 240_000);

test('more workers than the server has connections for do not start', async () => {
  const { code, output } = await runToEnd({ DATABASE_URL: databaseUrl, WORKERS: '64', LOG_LEVEL: 'silent' });
  expect(code).toBe(1);
  expect(output).toMatch(
    /^fieldtrace cannot start: DATABASE_POOL: 64 workers open up to \d+ connections and the server allows \d+: /,
  );
}, 240_000);

test('a port that cannot be used is an error at the start', async () => {
  const { code, output } = await runToEnd({
    DATABASE_URL: databaseUrl,
    DATABASE_POOL: '4',
    WORKERS: '2',
    HOST: '192.0.2.1',
    LOG_LEVEL: 'silent',
  });
  expect(code).toBe(1);
  expect(output).toMatch(
    /^fieldtrace cannot start: HOST 192\.0\.2\.1 is not an address of this machine\. Set HOST to /m,
  );
}, 240_000);
