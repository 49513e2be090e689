import { randomBytes } from 'node:crypto';
import path from 'node:path';
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
import { type RunningService, runningService } from '../../../../test/helpers/service.ts';
import { type FileStore, openFileStore } from '../../../platform/files/index.ts';
import { readSettings } from '../../../platform/settings/settings.ts';
import { newUlid } from '../../core/packet-format/ulid.ts';
import { sweep } from './sweep.ts';

const DAY_MS = 24 * 3600 * 1000;

let service: RunningService;
let files: FileStore;
let data: { folder: string; remove: () => Promise<void> };
beforeAll(async () => {
  data = await temporaryFolder();
  service = await runningService({ DATA_DIR: data.folder });
  files = openFileStore(readSettings({ DATA_DIR: data.folder }));
});
afterAll(async () => {
  await service.stop();
  await data.remove();
});

/** Runs the hourly sweep a number of days from now, in several processes at once. */
async function sweepIn(days: number): Promise<void> {
  const now = new Date(Date.now() + days * DAY_MS);
  const sweeping = { pool: service.pool, files, expireDays: 30 };
  await Promise.all([sweep(sweeping, now), sweep(sweeping, now), sweep(sweeping, now)]);
}

const status = async (id: string) => (await download(service, id)).status;
const contents = async () =>
  (await storedFiles(data.folder))
    .filter(file => file.startsWith('attachments/'))
    .map(file => path.basename(file));

test('an attachment that no packet names goes after 30 days, one that a packet names stays', async () => {
  const named = (await upload(service, 'named')).body.attachment_id;
  const forgotten = (await upload(service, 'forgotten')).body.attachment_id;
  const packet = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };
  await service.send('POST', '/intake/scouting', { ...packet, attachments: [named] });
  await sweepIn(29.9);
  expect([await status(named), await status(forgotten)]).toEqual([200, 200]);
  await sweepIn(30.1);
  expect([await status(named), await status(forgotten)]).toEqual([200, 404]);
  // The content stays a day longer: somebody may be uploading the same.
  expect((await contents()).sort()).toEqual(
    [sha256(Buffer.from('named')), sha256(Buffer.from('forgotten'))].sort(),
  );
  await sweepIn(31.2);
  expect(await contents()).toEqual([sha256(Buffer.from('named'))]);
  await sweepIn(10_000);
  expect(await status(named)).toBe(200);
});

test('a packet that is stored before its file keeps it too, and a file that went may come again', async () => {
  const id = `att_${newUlid()}`;
  const packet = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };
  const gone = (await upload(service, 'gone')).body.attachment_id;
  await service.send('POST', '/intake/scouting', { ...packet, attachments: [{ id }] });
  await upload(service, 'late', { id });
  await sweepIn(40);
  await sweepIn(50);
  expect([await status(id), await status(gone)]).toEqual([200, 404]);
  expect((await upload(service, 'gone', { id: gone })).status).toBe(201);
  expect(String((await download(service, gone)).bytes)).toBe('gone');
});

test('a content is removed with its last attachment', async () => {
  const bytes = randomBytes(1000);
  const packet = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };
  const kept = (await upload(service, bytes)).body.attachment_id;
  const expired = (await upload(service, bytes)).body.attachment_id;
  await service.send('POST', '/intake/scouting', { ...packet, attachments: [kept] });
  await sweepIn(31);
  await sweepIn(33);
  expect([await status(kept), await status(expired)]).toEqual([200, 404]);
  expect((await download(service, kept)).bytes.equals(bytes)).toBe(true);
});

test('an upload that was never completed goes after 7 days, with all that had come', async () => {
  const begun = await service.send('POST', '/attachments/uploads', undefined, {
    ...TUS,
    'upload-length': '3000000',
  });
  const at = begun.headers.get('location') as string;
  await service.send('PATCH', at, Buffer.alloc(2_500_000), { ...TUS_PATCH, 'upload-offset': '0' });
  const pieces = async () =>
    (await storedFiles(data.folder)).filter(file => file.startsWith('uploads/')).length;
  expect(await pieces()).toBeGreaterThan(0);
  await sweepIn(6.9);
  expect((await service.send('HEAD', at, undefined, TUS)).status).toBe(200);
  await sweepIn(7.1);
  expect((await service.send('HEAD', at, undefined, TUS)).status).toBe(404);
  expect(await pieces()).toBe(0);
});

test('sweeps during uploads of the same content never remove it from an attachment', async () => {
  const bytes = randomBytes(1000);
  let day = 100;
  const packet = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };
  const ids: string[] = [];
  for (let n = 0; n < 20; n++) {
    const id = `att_${newUlid()}`;
    // The packet first, so that the attachment itself is never one to remove.
    await service.send('POST', '/intake/scouting', { ...packet, attachments: [id] });
    const content = n % 2 ? bytes : randomBytes(100);
    let sending = true;
    const sent = upload(service, content, { id }).finally(() => {
      sending = false;
    });
    while (sending) {
      // Far in the future: whatever has no attachment at that instant is removed at once.
      day += 2;
      await sweepIn(day);
    }
    // For this sweep, the upload in progress is a hundred days old, too: the client must send it again.
    if ((await sent).status !== 201) expect((await upload(service, content, { id })).status).toBe(201);
    ids.push(id);
  }
  for (const id of ids) expect(await status(id)).toBe(200);
});
