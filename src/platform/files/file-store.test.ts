import { createHash, randomBytes } from 'node:crypto';
import { readdir, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/helpers/folder.ts';
import { type Bucket, bucket } from '../../../test/helpers/s3.ts';
import { Problem } from '../http/problems.ts';
import { readSettings } from '../settings/settings.ts';
import { type FileStore, openFileStore } from './index.ts';

let files: { folder: string; remove: () => Promise<void> };
let s3: Bucket;
const stores: Record<string, FileStore> = {};
beforeAll(async () => {
  files = await temporaryFolder();
  s3 = await bucket();
  stores.folder = openFileStore(readSettings({ DATA_DIR: path.join(files.folder, 'own') }));
  stores.S3 = openFileStore(readSettings({ DATA_DIR: path.join(files.folder, 'staged'), ...s3.environment }));
});
afterAll(async () => {
  await s3.stop();
  await files.remove();
});

const tooLarge = () => new Problem('body.too_large');

test.each(['folder', 'S3'])(
  '%s: what is put is read as a whole, in part, and not after its removal',
  async name => {
    const store = stores[name] as FileStore;
    const bytes = randomBytes(300_000);
    const chunks = [bytes.subarray(0, 1000), bytes.subarray(1000)];
    const received = await store.receive(chunks, 300_000, tooLarge);
    expect(received.sha256).toBe(createHash('sha256').update(bytes).digest('hex'));
    expect(received.size).toBe(300_000);
    expect(received.head.equals(bytes.subarray(0, 4100))).toBe(true);

    expect(await store.size('things/one')).toBeUndefined();
    await store.put('things/one', received);
    await received.discard();
    expect(await store.size('things/one')).toBe(300_000);
    expect((await buffer(await store.read('things/one'))).equals(bytes)).toBe(true);
    const part = await buffer(await store.read('things/one', { start: 999, end: 1000 }));
    expect(part.equals(bytes.subarray(999, 1001))).toBe(true);

    await store.put('things/one', Buffer.from('other'));
    expect(String(await buffer(await store.read('things/one')))).toBe('other');
    await store.remove('things/one');
    await store.remove('things/one');
    expect(await store.size('things/one')).toBeUndefined();
    await expect(store.read('things/one')).rejects.toThrow(Problem);
  },
);

test.each(['folder', 'S3'])('%s: all of one owner is removed, and nothing of its neighbours', async name => {
  const store = stores[name] as FileStore;
  for (const key of ['uploads/a/1', 'uploads/a/2', 'uploads/ab/1']) await store.put(key, Buffer.from(key));
  await store.removeAll('uploads/a');
  await store.removeAll('uploads/a');
  expect(await store.size('uploads/a/1')).toBeUndefined();
  expect(await store.size('uploads/a/2')).toBeUndefined();
  expect(await store.size('uploads/ab/1')).toBe('uploads/ab/1'.length);
});

test('a file that is too large or aborted leaves nothing', async () => {
  const store = stores.folder as FileStore;
  const left = () => readdir(path.join(files.folder, 'own/files/.receiving'));
  await expect(store.receive([Buffer.alloc(10)], 9, tooLarge)).rejects.toThrow('too large');
  const breaking = async function* () {
    yield Buffer.alloc(5);
    throw new Error('broken off');
  };
  await expect(store.receive(breaking(), 9, tooLarge)).rejects.toThrow('broken off');
  expect(await left()).toEqual([]);
});

test('leftovers of a killed process are removed after a day', async () => {
  const store = stores.folder as FileStore;
  const left = await store.receive([Buffer.alloc(1)], 9, tooLarge);
  const now = Date.now();
  await store.removeForgotten(new Date(now + 3600_000));
  await utimes(left.path, now / 1000, now / 1000);
  expect(await readdir(path.dirname(left.path))).toHaveLength(1);
  await store.removeForgotten(new Date(now + 25 * 3600_000));
  expect(await readdir(path.dirname(left.path))).toEqual([]);
});

test('no key leads out of the folder', async () => {
  const store = stores.folder as FileStore;
  for (const key of ['../x', 'a/../../x', '/etc/passwd', 'a', 'a//b', 'a/.b', 'a/b\0', 'A/b', 'a\\b/c']) {
    await expect(store.put(key, Buffer.alloc(1)), key).rejects.toThrow();
    await expect(store.size(key), key).rejects.toThrow();
    await expect(store.removeAll(key), key).rejects.toThrow();
  }
});

test('the folder is for its owner alone', async () => {
  await (stores.folder as FileStore).put('things/private', Buffer.alloc(1));
  for (const folder of ['own/files', 'own/files/.receiving', 'own/files/things']) {
    expect((await stat(path.join(files.folder, folder))).mode & 0o777, folder).toBe(0o700);
  }
});

test('half of a key pair keeps it from opening', () => {
  expect(() => openFileStore(readSettings({ S3_BUCKET: 'field', S3_ACCESS_KEY_ID: 'x' }))).toThrow(
    /S3_SECRET_ACCESS_KEY/,
  );
});
