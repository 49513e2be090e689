import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { stageDirectory } from '../src/platform/embedded-postgres/fixtures/stage.ts';
import { download, upload } from './helpers/attachments.ts';
import { backupSettings, fieldtrace, observe, startBackedUp, which } from './helpers/backup.ts';
import { emptyDataDir } from './helpers/data-dir.ts';
import { startProcess } from './helpers/process.ts';

test('a restore of a lost machine has every packet and attachment, and only the right key opens the backup', async () => {
  const stage = stageDirectory();
  const [data, target, copy] = ['data', 'target', 'copy'].map(name => path.join(stage, name)) as [
    string,
    string,
    string,
  ];
  const settings: Record<string, string> = { ...backupSettings(data, target), SERVICES: 'packet' };
  await emptyDataDir(data);
  const service = await startBackedUp(settings);
  const photo = await upload(service, 'a leaf');
  const first = await observe(service, { attachments: [photo.body.attachment_id] });
  const second = await observe(service);
  service.child.kill('SIGTERM');
  expect(await service.ended, service.output()).toBe(0);
  await rm(data, { recursive: true });
  expect(await readdir(target)).toHaveLength(1);

  const wrong = { ...settings, BACKUP_KEY: 'another passphrase of twenty' };
  const refused = await fieldtrace(wrong, 'restore', '--into', copy);
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('BACKUP_KEY does not open')]);
  const restored = await fieldtrace(settings, 'restore', '--into', copy);
  expect([restored.code, restored.out], restored.err).toEqual([
    0,
    expect.stringMatching(/verified 2 packets .*: nothing differs/),
  ]);

  const next = await startProcess({ DATA_DIR: copy, SERVICES: 'packet' });
  expect(await which(next, [first, second])).toEqual([first, second]);
  expect((await download(next, photo.body.attachment_id)).bytes.toString()).toBe('a leaf');
  next.child.kill('SIGTERM');
  expect(await next.ended, next.output()).toBe(0);
});
