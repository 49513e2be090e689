import { open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { mountTmpfs, stageDirectory } from '../../src/platform/embedded-postgres/fixtures/stage.ts';
import { fillDisk } from '../faults/stage.ts';
import { fieldtrace } from '../helpers/backup.ts';
import { asService, testDatabase } from '../helpers/database.ts';
import { eventually } from '../helpers/eventually.ts';
import { startProcess } from '../helpers/process.ts';

const observation = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };

test('a service whose log has no disk space keeps serving, counts dropped lines, and logs again once there is space', async context => {
  const folder = `${stageDirectory()}/log`;
  mountTmpfs(context, folder, 'size=1m');
  const file = path.join(folder, 'fieldtrace.log');
  const log = await open(file, 'a');
  const database = await testDatabase();
  const { host, port, user, password, database: name } = asService(database.connection);
  const settings = {
    DATABASE_URL: `postgres://${user}:${password}@/${name}?host=${encodeURIComponent(host)}&port=${port}`,
    DATA_DIR: path.join(folder, '..'),
    LOG_LEVEL: 'debug',
    SERVICES: 'packet',
  };
  const service = await startProcess(settings, log.fd);
  onTestFinished(async () => {
    service.child.kill('SIGKILL');
    await service.ended;
    await log.close();
    await database.drop();
  });

  const free = await fillDisk(folder);
  const dropped = async () => {
    expect((await service.send('POST', '/intake/scouting', observation)).status).toBe(201);
    const { text } = await service.send('GET', '/metrics');
    return Number(/^log_lines_dropped_total\{.*\} (\d+)$/m.exec(text)?.[1]);
  };
  await eventually(dropped, count => count > 10);
  const doctor = await fieldtrace({ ...settings, PACKET_PORT: new URL(service.url).port }, 'doctor');
  expect(doctor.out).toMatch(/packet-service .*log lines that could not be written: \d+/);

  await free();
  const noted = async () => {
    await dropped();
    return readFile(file, 'utf8');
  };
  await eventually(noted, text => /"lines":\d+,"msg":"lines of the log could not be written"/.test(text));
  service.child.kill('SIGTERM');
  expect(await service.ended, service.output()).toBe(0);
  expect(await readFile(file, 'utf8')).toContain('stopping: finishing requests in flight first');
});
