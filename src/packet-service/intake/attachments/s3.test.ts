import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  download,
  sha256,
  storedFiles,
  TUS,
  TUS_PATCH,
  upload,
} from '../../../../test/helpers/attachments.ts';
import { temporaryFolder } from '../../../../test/helpers/folder.ts';
import { type Bucket, bucket } from '../../../../test/helpers/s3.ts';
import { type RunningService, runningService } from '../../../../test/helpers/service.ts';
import { openFileStore } from '../../../platform/files/index.ts';
import { readSettings } from '../../../platform/settings/settings.ts';
import { contentKey } from './store-attachment.ts';
import { sweep } from './sweep.ts';

let s3: Bucket;
/** Two machines: one database, one bucket, a DATA_DIR each. */
let service: RunningService;
let other: RunningService;
let data: { folder: string; remove: () => Promise<void> };
beforeAll(async () => {
  s3 = await bucket();
  data = await temporaryFolder();
  service = await runningService({ ...s3.environment, DATA_DIR: data.folder });
  other = await runningService(s3.environment, service);
});
afterAll(async () => {
  await other.stop();
  await service.stop();
  await s3.stop();
  await data.remove();
});

test('a file that one machine took in is served by the other, in whole and in part', async () => {
  const bytes = randomBytes(500_000);
  const stored = await upload(service, bytes);
  expect(stored.status, stored.text).toBe(201);
  expect((await upload(other, bytes, { id: stored.body.attachment_id })).status).toBe(200);
  const id = stored.body.attachment_id;
  expect((await download(other, id)).bytes.equals(bytes)).toBe(true);
  const part = await download(other, id, { range: 'bytes=1000-1999' });
  expect(part.status).toBe(206);
  expect(part.bytes.equals(bytes.subarray(1000, 2000))).toBe(true);
  expect(await storedFiles(data.folder)).toEqual([]);
});

test('an upload that was begun at one machine is completed at the other', async () => {
  const bytes = randomBytes(5_000_000);
  const begun = await service.send('POST', '/attachments/uploads', undefined, {
    ...TUS,
    'upload-length': String(bytes.length),
  });
  const path = begun.headers.get('location') as string;
  const patch = async (at: RunningService, from: number, to: number) =>
    (await at.send('PATCH', path, bytes.subarray(from, to), { ...TUS_PATCH, 'upload-offset': String(from) }))
      .status;
  expect(await patch(service, 0, 3_000_000)).toBe(204);
  expect(await patch(other, 3_000_000, 5_000_000)).toBe(204);
  expect(sha256((await download(service, begun.body.attachment_id)).bytes)).toBe(sha256(bytes));
});

test('expired files are removed from the bucket', async () => {
  const { attachment_id: id, sha256: hash } = (await upload(service, 'expires')).body;
  const files = openFileStore(readSettings({ ...s3.environment, DATA_DIR: data.folder }));
  expect(await files.size(contentKey(hash))).toBe(7);
  for (const days of [31, 33]) {
    const now = new Date(Date.now() + days * 24 * 3600 * 1000);
    await sweep({ pool: service.pool, files, expireDays: 30 }, now);
  }
  expect((await download(other, id)).status).toBe(404);
  expect(await files.size(contentKey(hash))).toBeUndefined();
});

test('uploads get 503 while the bucket is not responding', async () => {
  const cut = await runningService({ ...s3.environment, S3_ENDPOINT: 'http://127.0.0.1:1' }, service);
  const { status, headers, body } = await upload(cut, 'x');
  expect([status, headers.get('retry-after')]).toEqual([503, '10']);
  expect(body.error).not.toContain('127.0.0.1');
  await cut.stop();
});
