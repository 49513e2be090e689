import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { mountTmpfs, stageDirectory } from '../../src/platform/embedded-postgres/fixtures/stage.ts';
import { fillDisk } from '../faults/stage.ts';
import { upload } from '../helpers/attachments.ts';
import { emptyDataDir } from '../helpers/data-dir.ts';
import { eventually } from '../helpers/eventually.ts';
import { startProcess } from '../helpers/process.ts';
import { sender } from '../helpers/service.ts';

const ADMIN = { TRACE_ADMIN_EMAIL: 'admin@example.org', TRACE_ADMIN_PASSWORD: 'an administrator' };
const observation = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };
/** Not to be compressed: more than PostgreSQL has room for in the pages that are there. */
const long = randomBytes(50_000).toString('hex');

test('on a full disk, writes are 503 with Retry-After, reads and /health still work, and everything recovers once there is space', async context => {
  const folder = `${stageDirectory()}/mount`;
  mountTmpfs(context, folder, 'size=256m,mode=755');
  await emptyDataDir(folder);
  const service = await startProcess({ DATA_DIR: folder, ...ADMIN });
  const trace = sender(service.traceUrl);
  const { packet_uuid } = (await service.send('POST', '/intake/scouting', observation)).body;
  const login = await trace('POST', '/api/user/login', {
    username: ADMIN.TRACE_ADMIN_EMAIL,
    password: ADMIN.TRACE_ADMIN_PASSWORD,
  });
  const cookie = /^[^;]+/.exec(login.headers.getSetCookie()[0] as string)?.[0] as string;
  const writes = {
    observation: () => service.send('POST', '/intake/scouting', { ...observation, message: long }),
    thread: () => service.send('POST', '/chat/threads', { name: 'Lot 7', created_by: long.slice(0, 255) }),
    product: () => trace('POST', '/api/product/create', { name: 'Tea', about: long }, { cookie }),
  };
  const free = await fillDisk(folder);
  const refused = await eventually(writes.observation, ({ status }) => status === 503);
  expect([refused.headers.get('retry-after'), refused.body.error]).toEqual([
    '10',
    expect.stringContaining('no disk space left'),
  ]);
  for (const [name, write] of Object.entries(writes)) {
    // What finds room in the pages that are there is taken.
    const { status, headers } = await eventually(write, answer => answer.status === 503);
    expect([name, status, headers.get('retry-after')]).toEqual([name, 503, '10']);
  }
  const health = () => service.send('GET', '/health');
  const full = await eventually(health, ({ body }) => body.status === 'WRITES_REFUSED');
  expect(full.status).toBe(200);
  const other = await eventually(
    () => trace('GET', '/health'),
    ({ body }) => body.status === 'WRITES_REFUSED',
  );
  expect(other.status).toBe(200);
  expect((await service.send('GET', `/packets/${packet_uuid}`)).status).toBe(200);
  const file = await upload(service, 'x'.repeat(3_000_000));
  expect([file.status, file.headers.get('retry-after'), file.body.error]).toEqual([
    503,
    '10',
    'the file store has no space left; try again',
  ]);
  // Probes during writes in flight do not find space that is not there.
  const busy = async () => {
    for (let count = 0; count < 60; count++) await writes.observation();
  };
  await Promise.all(Array.from({ length: 8 }, busy));
  expect((await health()).body.status).toBe('WRITES_REFUSED');
  const lines = service
    .log()
    .split('\n')
    .filter(line => line.includes('"packet-service"'));
  expect(
    lines.filter(line => /"status":"WRITES_REFUSED"|accepts reads and writes again/.test(line)),
  ).toHaveLength(1);
  expect((await service.send('GET', '/metrics')).text).toMatch(/^writes_refused\{.*\} 1$/m);
  expect(service.log()).toContain('"status":"WRITES_REFUSED"');

  await free();
  for (const write of Object.values(writes)) await eventually(write, ({ status }) => status < 300);
  await eventually(health, ({ body }) => body.status === 'OK');
  service.child.kill('SIGTERM');
  expect(await service.ended, service.output()).toBe(0);
});
