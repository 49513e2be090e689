import { cpSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { stageDirectory } from '../../src/platform/embedded-postgres/fixtures/stage.ts';
import { fieldtrace, observe, which } from '../helpers/backup.ts';
import { emptyDataDir } from '../helpers/data-dir.ts';
import { testWith } from '../helpers/debian.ts';
import { startDebianPostgres } from '../helpers/debian-postgres.ts';
import { type RunningProcess, startProcess } from '../helpers/process.ts';
import { sender } from '../helpers/service.ts';
import { ADMIN } from '../helpers/trace.ts';

const test = await testWith('initdb');

const PACKETS = 3000;
const BATCH = 500;
const settings = { TRACE_ADMIN_EMAIL: ADMIN.username, TRACE_ADMIN_PASSWORD: ADMIN.password };

async function stop(service: RunningProcess): Promise<void> {
  service.child.kill('SIGTERM');
  expect(await service.ended, service.output()).toBe(0);
}

/** Logs in as the administrator. */
async function login({ traceUrl }: RunningProcess) {
  const send = sender(traceUrl);
  const { headers } = await send('POST', '/api/user/login', ADMIN);
  const cookie = headers.getSetCookie()[0]?.split(';')[0] as string;
  return (method: string, url: string, body?: unknown) => send(method, url, body, { cookie });
}

/** Observations, a thread with a message in several scripts, and a company. */
async function fill(service: RunningProcess): Promise<string[]> {
  const ids: string[] = [];
  for (let sent = 0; sent < PACKETS; sent += BATCH) {
    const items = Array.from({ length: BATCH }, (_, n) => ({
      intake: 'scouting',
      body: {
        observed_at: '2026-03-01T08:15:00+03:00',
        capture_point: { lat: (sent + n) / 100, lon: n / 3 },
        message: `Ròst 锈 ${sent + n}\t\\N`,
      },
    }));
    const { status, body, text } = await service.send('POST', '/intake/batch', items);
    expect(status, text).toBe(200);
    ids.push(...body.results.map(({ packet_uuid }: { packet_uuid: string }) => packet_uuid));
  }
  const { body } = await service.send('POST', '/chat/threads', { name: 'Rust', created_by: 'ana' });
  const message = { thread_id: body.thread_id, text: 'Rost an BLÄTTERN', from_user: 'ana', geoids: ['g'] };
  const said = await service.send('POST', '/intake/chat-message', message);
  expect(said.status, said.text).toBe(201);
  const admin = await login(service);
  for (const name of ['Umucyo', 'Ägina', 'zebra'])
    expect((await admin('POST', '/api/company/create', { name })).status).toBe(200);
  return [...ids, said.body.packet_uuid];
}

/** Everything that was filled in is there, searches and orders are as before, and more can be written. */
async function expectWhole(service: RunningProcess, ids: readonly string[]): Promise<void> {
  const sample = ids.filter((_, n) => n % 97 === 0 || n === ids.length - 1);
  expect(await which(service, sample)).toEqual(sample);
  const found = await service.send('POST', '/chat/query', { user_id: 'ana', keyword: 'blätt' });
  expect(found.body.results).toHaveLength(1);
  const admin = await login(service);
  const { body } = await admin('GET', '/api/company/admin/list?sortBy=name&sort=ASC');
  expect(body.data.items.map(({ name }: { name: string }) => name)).toEqual(['Umucyo', 'zebra', 'Ägina']);
  expect((await admin('GET', '/api/company/admin/list?query=ÄGI')).body.data.count).toBe(1);
  await observe(service);
}

test('a database goes from the embedded server to that of Debian and back, and both serve it', async () => {
  const stage = stageDirectory();
  const debian = await startDebianPostgres(stage);
  onTestFinished(debian.stop);
  expect(Number.parseInt(debian.version, 10)).toBeGreaterThanOrEqual(15);
  const [data, back] = [path.join(stage, 'data'), path.join(stage, 'back')];

  await emptyDataDir(data);
  let service = await startProcess({ ...settings, DATA_DIR: data });
  const ids = await fill(service);
  await stop(service);
  const there = await fieldtrace({}, 'move', '--from', data, '--to', debian.url);
  expect([there.code, there.out], there.err).toEqual([0, expect.stringMatching(/^moved \d+ tables with /)]);
  const external = { ...settings, DATA_DIR: data, DATABASE_URL: debian.url };
  const verified = await fieldtrace(external, 'verify');
  expect([verified.code, verified.out]).toEqual([0, expect.stringContaining('nothing differs')]);
  service = await startProcess(external);
  await expectWhole(service, ids);
  await stop(service);

  const again = await fieldtrace({}, 'move', '--from', debian.url, '--to', back);
  expect([again.code, again.out], again.err).toEqual([0, expect.stringMatching(/^moved \d+ tables with /)]);
  cpSync(path.join(data, 'files'), path.join(back, 'files'), { recursive: true });
  service = await startProcess({ ...settings, DATA_DIR: back });
  await expectWhole(service, ids);
  await stop(service);
}, 240_000);
