import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from './helpers/eventually.ts';
import { temporaryFolder } from './helpers/folder.ts';
import { type RunningProcess, startProcess } from './helpers/process.ts';

const WRITERS = 32;
const observation = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };

/** Sends observations one after the other until the service is gone; notes each id that was acknowledged. */
async function write(service: RunningProcess, acknowledged: Set<string>): Promise<void> {
  for (;;) {
    try {
      const { status, body } = await service.send('POST', '/intake/scouting', observation);
      if (status === 201) acknowledged.add(body.packet_uuid);
    } catch {
      return;
    }
  }
}

async function postmasterPid(folder: string): Promise<number> {
  const files = await readdir(folder, { recursive: true });
  const pidFile = files.find(file => path.basename(file) === 'postmaster.pid') as string;
  return Number((await readFile(path.join(folder, pidFile), 'utf8')).split('\n')[0]);
}

test('kill -9 of Node and PostgreSQL under 32 writers, three times, loses nothing that was acknowledged', async () => {
  const { folder, remove } = await temporaryFolder();
  const acknowledged = new Set<string>();
  for (let round = 1; round <= 3; round++) {
    const service = await startProcess({ DATA_DIR: folder });
    const writers = Array.from({ length: WRITERS }, () => write(service, acknowledged));
    const enough = acknowledged.size + 500;
    while (acknowledged.size < enough) await new Promise(resolve => setTimeout(resolve, 5));
    const postgres = await postmasterPid(folder);
    service.child.kill('SIGKILL');
    process.kill(postgres, 'SIGKILL');
    await Promise.all([...writers, service.ended]);
  }

  const service = await startProcess({ DATA_DIR: folder });
  expect(acknowledged.size).toBeGreaterThanOrEqual(1500);
  const ids = [...acknowledged];
  for (let at = 0; at < ids.length; at += 100) {
    const answers = await Promise.all(
      ids.slice(at, at + 100).map(id => service.send('GET', `/packets/${id}/verify`)),
    );
    for (const { status, body } of answers) expect([status, body.valid]).toEqual([200, true]);
  }
  service.child.kill('SIGTERM');
  expect(await service.ended, service.output()).toBe(0);
  await remove();
});

test('kill -9 of PostgreSQL alone: the service goes on with a new one, and every write is answered truthfully', async () => {
  const { folder, remove } = await temporaryFolder();
  const service = await startProcess({ DATA_DIR: folder });
  const acknowledged = new Set<string>();
  const answers = Array.from({ length: WRITERS }, async (_, writer) => {
    for (let n = 0; n < 40; n++) {
      const { status, body } = await service.send('POST', '/intake/scouting', { ...observation, writer, n });
      if (status === 201) acknowledged.add(body.packet_uuid);
      else expect(status, JSON.stringify(body)).toBe(503);
    }
  });
  while (acknowledged.size < 200) await new Promise(resolve => setTimeout(resolve, 5));
  process.kill(await postmasterPid(folder), 'SIGKILL');
  await Promise.all(answers);
  // The last writes may have been refused because the new server had not begun yet.
  await eventually(
    () => service.send('GET', '/health'),
    ({ status }) => status === 200,
  );
  for (const id of acknowledged) expect((await service.send('GET', `/packets/${id}`)).status).toBe(200);
  service.child.kill('SIGTERM');
  expect(await service.ended, service.output()).toBe(0);
  await remove();
});
