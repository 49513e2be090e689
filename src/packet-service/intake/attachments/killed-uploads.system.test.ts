import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { download, sha256, TUS, TUS_PATCH } from '../../../../test/helpers/attachments.ts';
import { eventually } from '../../../../test/helpers/eventually.ts';
import { temporaryFolder } from '../../../../test/helpers/folder.ts';
import { startProcess } from '../../../../test/helpers/process.ts';
import { type RunningService, runningService } from '../../../../test/helpers/service.ts';

let service: RunningService;
let data: { folder: string; remove: () => Promise<void> };
beforeAll(async () => {
  data = await temporaryFolder();
  service = await runningService({ DATA_DIR: data.folder });
});
afterAll(async () => {
  await service.stop();
  await data.remove();
});

test('a killed process blocks nothing: another one continues at once', async () => {
  const bytes = randomBytes(9_000_000);
  const headers = { ...TUS, 'upload-length': String(bytes.length) };
  const begun = await service.send('POST', '/attachments/uploads', undefined, headers);
  const path = begun.headers.get('location') as string;
  const id = begun.body.attachment_id;
  const { host, port, user, password, database } = service.connection;
  const url = `postgres://${user}:${password}@/${database}?host=${encodeURIComponent(host as string)}&port=${port}`;
  const killed = await startProcess({ SERVICES: 'packet', DATABASE_URL: url, DATA_DIR: data.folder });
  const socket = connect(Number(new URL(killed.url).port), '127.0.0.1');
  socket.on('error', () => {});
  socket.write(
    `PATCH ${path} HTTP/1.1\r\nhost: localhost\r\ntus-resumable: 1.0.0\r\nupload-offset: 0\r\n` +
      `content-type: application/offset+octet-stream\r\ncontent-length: ${bytes.length}\r\n\r\n`,
  );
  socket.write(bytes.subarray(0, 6_000_000));
  const reached = await eventually(
    async () => Number((await service.send('HEAD', path, undefined, TUS)).headers.get('upload-offset')),
    offset => offset > 4_000_000,
  );
  killed.child.kill('SIGKILL');
  await killed.ended;
  const rest = await service.send('PATCH', path, bytes.subarray(reached), {
    ...TUS_PATCH,
    'upload-offset': String(reached),
  });
  expect(rest.status, rest.text).toBe(204);
  expect(sha256((await download(service, id)).bytes)).toBe(sha256(bytes));
});
