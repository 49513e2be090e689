import { chmodSync, existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { folderTarget } from '../../src/platform/backup/objects/folder-target.ts';
import { openSealing } from '../../src/platform/backup/objects/sealing.ts';
import { openVault } from '../../src/platform/backup/objects/vault.ts';
import {
  mountTmpfs,
  postmasterOf,
  stageDirectory,
} from '../../src/platform/embedded-postgres/fixtures/stage.ts';
import { fillDisk } from '../faults/stage.ts';
import { download, sha256, upload } from '../helpers/attachments.ts';
import {
  backupHealth,
  backupSettings,
  closeSegments,
  fieldtrace,
  killEverything,
  observe,
  spawnFieldtrace,
  startBackedUp,
  untilShipped,
  which,
} from '../helpers/backup.ts';
import { testDatabase } from '../helpers/database.ts';
import { eventually } from '../helpers/eventually.ts';
import { failingS3 } from '../helpers/failing-s3.ts';
import { type RunningProcess, runToEnd, startProcess } from '../helpers/process.ts';

function stage() {
  const folder = stageDirectory();
  return { folder, data: path.join(folder, 'data'), target: path.join(folder, 'target') };
}

async function stop(service: RunningProcess): Promise<void> {
  service.child.kill('SIGTERM');
  expect(await service.ended, service.output()).toBe(0);
}

/** Only the packet service, because it writes here. */
const packetSettings = (data: string, target: string) => ({
  ...backupSettings(data, target),
  SERVICES: 'packet',
});

const spooled = async (data: string) =>
  (await readdir(path.join(data, 'postgres/spool'))).filter(name => /^[0-9A-F]{24}$/.test(name));

test('the service continues and the spool stays within its limit while the target is full; a new base backup then closes the gap', {
  timeout: 240_000,
}, async context => {
  const { folder, data } = stage();
  const target = path.join(folder, 'mount');
  mountTmpfs(context, target, 'size=64m,mode=755');
  const settings = { ...packetSettings(data, target), BACKUP_MAX_SPOOL_BYTES: String(64 * 1024 ** 2) };
  const service = await startBackedUp(settings);
  const before = await observe(service);
  await untilShipped(data);
  const free = await fillDisk(target);
  await closeSegments(data, 8);
  const during = await observe(service);
  await eventually(
    () => backupHealth(service),
    ({ status }) => status === 'FAILING',
  );
  await eventually(
    () => service.log(),
    log => log.includes('NEWER WRITES ARE NOT BACKED UP'),
  );
  await eventually(
    () => spooled(data),
    ({ length }) => length <= 5,
  );
  await eventually(
    async () => (await service.send('GET', '/metrics')).text,
    text => /^backup_gap\{.*\} 1$/m.test(text),
  );
  expect((await service.send('GET', '/health')).status).toBe(200);

  await free();
  await eventually(
    () => backupHealth(service),
    ({ status }) => status === 'OK',
  );
  const after = await observe(service);
  await stop(service);
  const verified = await fieldtrace(settings, 'backup', 'verify');
  expect([verified.code, verified.out]).toEqual([0, expect.stringContaining('nothing differs')]);
  const into = path.join(folder, 'restored');
  expect((await fieldtrace(settings, 'restore', '--into', into)).code).toBe(0);
  const copy = await startProcess({ DATA_DIR: into, SERVICES: 'packet' });
  expect(await which(copy, [before, during, after])).toEqual([before, during, after]);
  await stop(copy);
});

test('health, metrics and log report a server that cannot write into the spool; afterwards its WAL is shipped', async () => {
  const { folder, data } = stage();
  const service = await startBackedUp(packetSettings(data, path.join(folder, 'target')));
  await untilShipped(data);
  const unarchived = async () =>
    Number(/^backup_unarchived_bytes\{.*\} (\d+)$/m.exec((await service.send('GET', '/metrics')).text)?.[1]);
  const spool = path.join(data, 'postgres/spool');
  chmodSync(spool, 0o500);
  try {
    await closeSegments(data, 2);
    const { message } = await eventually(
      () => backupHealth(service),
      ({ status }) => status === 'FAILING',
    );
    expect(message).toMatch(
      /archiving the log fails: PostgreSQL cannot put [0-9A-F]{24} into .*pg_wal grows/,
    );
    await eventually(unarchived, bytes => bytes >= 32 * 1024 ** 2);
    expect((await service.send('GET', '/metrics')).text).toMatch(/^backup_failing\{.*\} 1$/m);
    expect((await service.send('GET', '/health')).status).toBe(200);
  } finally {
    chmodSync(spool, 0o700);
  }
  await closeSegments(data, 1);
  await eventually(
    () => backupHealth(service),
    ({ status }) => status === 'OK',
  );
  await eventually(unarchived, bytes => bytes < 32 * 1024 ** 2);
  expect(service.log().match(/archiving the log fails/g)).toHaveLength(1);
  expect(service.log().match(/archiving the log works again/g)).toHaveLength(1);
  await stop(service);
});

test('an S3 that returns 503, is slow or is gone stops no write, and writes in the meantime are shipped later', {
  timeout: 240_000,
}, async () => {
  const { folder, data } = stage();
  const s3 = await failingS3();
  onTestFinished(s3.stop);
  const { S3_ENDPOINT, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY } = s3.environment;
  const settings = {
    ...packetSettings(data, 's3://field/one/two'),
    BACKUP_S3_ENDPOINT: S3_ENDPOINT as string,
    BACKUP_S3_ACCESS_KEY_ID: S3_ACCESS_KEY_ID as string,
    BACKUP_S3_SECRET_ACCESS_KEY: S3_SECRET_ACCESS_KEY as string,
  };
  const service = await startBackedUp(settings);
  const ids: string[] = [];
  for (const behaviour of ['busy', 'gone', 'slow'] as const) {
    s3.behaviour = behaviour;
    if (behaviour === 'busy') {
      const failed = await fieldtrace(settings, 'backup', 'now');
      expect([failed.code, failed.err]).toEqual([
        1,
        expect.stringMatching(
          /: reading \S+\/key in s3:\/\/field\/one\/two at http:\S+ failed: .*status 503$/m,
        ),
      ]);
    }
    const { requests } = s3;
    ids.push(
      await observe(service, { attachments: [(await upload(service, behaviour)).body.attachment_id] }),
    );
    await closeSegments(data, 1);
    await eventually(() => s3.requests > requests);
    if (behaviour !== 'slow') {
      await eventually(
        () => backupHealth(service),
        ({ status }) => status === 'FAILING',
      );
    }
    ids.push(await observe(service));
    expect((await service.send('GET', '/health')).status).toBe(200);
  }
  await untilShipped(data);
  s3.behaviour = 'well';
  await eventually(
    () => backupHealth(service),
    ({ status }) => status === 'OK',
  );
  await stop(service);
  const into = path.join(folder, 'restored');
  const restored = await fieldtrace(settings, 'restore', '--into', into);
  expect([restored.code, restored.out]).toEqual([0, expect.stringContaining('3 attachments in 3 files')]);
  const copy = await startProcess({ DATA_DIR: into, SERVICES: 'packet' });
  expect(await which(copy, ids)).toEqual(ids);
  await stop(copy);
});

test('a kill during a base backup, shipping or a restore leaves nothing that counts as complete, and the next try succeeds', {
  timeout: 240_000,
}, async () => {
  const { folder, data, target } = stage();
  const settings = packetSettings(data, target);
  const slow = { ...settings, BACKUP_MAX_MIB_PER_SECOND: '1' };
  let service = await startProcess(slow);
  const id = await observe(service);
  const kinds = async (kind: string) => {
    const [instance = ''] = await readdir(target).catch(() => []);
    return readdir(path.join(target, instance, kind)).catch(() => []);
  };
  await eventually(
    () => kinds('blocks'),
    ({ length }) => length > 1,
  );
  await killEverything(service, data);
  expect(await kinds('bases')).toEqual([]);
  const nothing = await fieldtrace(settings, 'restore', '--into', path.join(folder, 'x'));
  expect([nothing.code, nothing.err]).toEqual([1, expect.stringContaining('no base backup of')]);

  service = await startBackedUp(settings);
  await closeSegments(data, 6);
  await eventually(
    () => spooled(data),
    ({ length }) => length > 0,
  );
  service.child.kill('SIGKILL');
  await service.ended;
  service = await startBackedUp(settings);
  await untilShipped(data);
  await stop(service);
  expect(await spooled(data)).toEqual([]);

  const into = path.join(folder, 'restored');
  for (const sign of ['postgres/restore-unfinished', 'postgres/data/postmaster.pid']) {
    const { child, ended } = spawnFieldtrace(settings, 'restore', '--into', into);
    await eventually(() => existsSync(path.join(into, sign)));
    child.kill('SIGKILL');
    await ended;
    const { code, output } = await runToEnd({ DATA_DIR: into, SERVICES: 'packet' });
    expect([code, output]).toEqual([1, expect.stringContaining('contains an unfinished restore')]);
  }
  const restored = await fieldtrace(settings, 'restore', '--into', into);
  expect([restored.code, restored.out]).toEqual([0, expect.stringContaining('nothing differs')]);
  expect((await fieldtrace(settings, 'backup', 'verify')).code).toBe(0);
  const copy = await startProcess({ DATA_DIR: into, SERVICES: 'packet' });
  expect(await which(copy, [id])).toEqual([id]);
  await stop(copy);
});

test('an emptied target is reported with the remedy, and `backup begin` starts new backups while the service runs', {
  timeout: 240_000,
}, async () => {
  const { folder, data, target } = stage();
  const settings = packetSettings(data, target);
  const service = await startBackedUp(settings);
  await observe(service);
  await untilShipped(data);
  await rm(target, { recursive: true });
  await mkdir(target);
  const remedy = /is missing.* If the backups are gone, run `fieldtrace backup begin` to .* BACKUP_URL\./;
  await closeSegments(data, 1);
  const { message } = await eventually(
    () => backupHealth(service),
    ({ status }) => status === 'FAILING',
  );
  expect(message).toMatch(remedy);
  const failed = await fieldtrace(settings, 'backup', 'now');
  expect([failed.code, failed.err]).toEqual([1, expect.stringMatching(remedy)]);

  const begun = await fieldtrace(settings, 'backup', 'begin');
  const [instance] = await readdir(target);
  expect([begun.code, begun.out], begun.err).toEqual([
    0,
    expect.stringContaining(`started new backups in the folder ${target} as ${instance}: `),
  ]);
  await eventually(
    () => backupHealth(service),
    ({ status }) => status === 'OK',
  );
  await stop(service);
  const into = path.join(folder, 'restored');
  const restored = await fieldtrace(settings, 'restore', '--into', into);
  expect([restored.code, restored.out], restored.err).toEqual([
    0,
    expect.stringContaining('nothing differs'),
  ]);
  expect(restored.out).toContain('verified 1 packets');
});

/** The object of an attachment's content, found as a restore finds it. */
async function objectOf(settings: Record<string, string>, hash: string, target: string): Promise<string> {
  const sealing = openSealing(1);
  try {
    const [instance = ''] = await readdir(target);
    const opening = { target: folderTarget(target), sealing, backupKey: settings.BACKUP_KEY as string };
    const vault = await openVault(opening, instance, { create: false });
    return `${vault.aliasOf(`attachments/${hash}`)}.0.1`;
  } finally {
    await sealing.close();
  }
}

/** Changes one bit of a file. */
async function flipBit(file: string): Promise<void> {
  const bytes = await readFile(file);
  bytes[bytes.length - 3] = (bytes[bytes.length - 3] as number) ^ 1;
  await writeFile(file, bytes);
}

test('a restore leaves out the files whose objects are damaged, names them with their packets, and restores the rest', {
  timeout: 240_000,
}, async () => {
  const { folder, data, target } = stage();
  const settings = packetSettings(data, target);
  const service = await startBackedUp(settings);
  const ids: string[] = [];
  for (const photo of ['a leaf', 'a stem'])
    ids.push(await observe(service, { attachments: [(await upload(service, photo)).body.attachment_id] }));
  await untilShipped(data);
  await stop(service);
  const [instance = ''] = await readdir(target);
  const folderOf = path.join(target, instance, 'files');
  const objects = await readdir(folderOf);
  // The id of the file store is the third.
  expect(objects).toHaveLength(3);
  for (const name of objects) await flipBit(path.join(folderOf, name));
  const restored = await fieldtrace(settings, 'restore', '--into', path.join(folder, 'without'));
  expect([restored.code, restored.out], restored.err).toEqual([
    1,
    expect.stringContaining('or restore with --accept-missing'),
  ]);
  for (const name of objects)
    expect(restored.out).toMatch(
      new RegExp(`^${instance}/files/${name} is damaged .*; this file was not restored$`, 'm'),
    );
  for (const id of ids)
    expect(restored.out).toMatch(
      new RegExp(`^attachment att_\\w+: its file cannot be read: .* packet ${id}$`, 'm'),
    );

  // One that is whole again is restored.
  const lost = ids[1] as string;
  for (const name of objects) await flipBit(path.join(folderOf, name));
  // An object can be gone, too.
  const stem = await objectOf(settings, sha256(Buffer.from('a stem')), target);
  await rm(path.join(folderOf, stem));
  const into = path.join(folder, 'accepted');
  const accepted = await fieldtrace(settings, 'restore', '--into', into, '--accept-missing');
  expect([accepted.code, accepted.out], accepted.err).toEqual([0, expect.stringContaining(lost)]);
  const copy = await startProcess({ DATA_DIR: into, SERVICES: 'packet' });
  expect(await which(copy, ids)).toEqual(ids);
  const [kept, gone] = await Promise.all(
    ids.map(async id => {
      const { attachments } = (await copy.send('GET', `/packets/${id}`)).body.Body;
      return (await download(copy, attachments[0])).status;
    }),
  );
  expect([kept, gone]).toEqual([200, 500]);
  await stop(copy);
});

test('a server that was started without an archive is restarted with one as soon as nobody else uses it', {
  timeout: 240_000,
}, async () => {
  const { data, target } = stage();
  const settings = packetSettings(data, target);
  const plain = await startProcess({ DATA_DIR: data, SERVICES: 'packet' });
  const second = await startProcess(settings);
  const detail = await eventually(
    () => backupHealth(second),
    ({ status }) => status !== 'STARTING',
  );
  expect([detail.status, second.log()]).toEqual([
    'NOT_ARCHIVING',
    expect.stringContaining('NOTHING IS BACKED UP until all of them have stopped'),
  ]);
  await stop(second);
  const adopted = postmasterOf(data);
  plain.child.kill('SIGKILL');
  await plain.ended;
  const service = await startBackedUp(settings);
  expect(postmasterOf(data)).not.toBe(adopted);
  // One that outlives a kill is not left to fill the disk once backups are off.
  service.child.kill('SIGKILL');
  await service.ended;
  const archiving = postmasterOf(data);
  const without = await startProcess({ DATA_DIR: data, SERVICES: 'packet' });
  expect(postmasterOf(data)).not.toBe(archiving);
  await stop(without);
});

test('with an external database, files are backed up with its position, and each success is reported', {
  timeout: 240_000,
}, async () => {
  const { folder, data, target } = stage();
  const { connection, drop } = await testDatabase();
  onTestFinished(drop);
  const { user, password, host, port, database } = connection;
  const pings: string[] = [];
  const monitor = createServer((request, response) => {
    pings.push(request.url as string);
    response.end();
  });
  await new Promise<void>(resolve => monitor.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void monitor.close());
  const settings = {
    ...packetSettings(data, target),
    DATABASE_URL: `postgres://${user}:${password}@/${database}?host=${encodeURIComponent(host)}&port=${port}`,
    BACKUP_PING_URL: `http://127.0.0.1:${(monitor.address() as AddressInfo).port}/alive`,
  };
  expect(inject('databaseServer').port).toBe(port);
  const service = await startBackedUp(settings);
  await observe(service, { attachments: [(await upload(service, 'a leaf')).body.attachment_id] });
  expect(
    await eventually(
      () => pings,
      ({ length }) => length > 0,
    ),
  ).toEqual(['/alive']);
  const taken = await fieldtrace(settings, 'backup', 'now');
  expect([taken.code, taken.out]).toEqual([
    0,
    expect.stringMatching(/^backed up files as .* at [0-9A-F]+\/[0-9A-F]+,/),
  ]);
  expect(pings).toHaveLength(2);
  await stop(service);
  await rm(path.join(data, 'files'), { recursive: true });
  const restored = await fieldtrace(settings, 'restore', '--into', path.join(folder, 'restored'));
  expect([restored.code, restored.out]).toEqual([
    0,
    expect.stringMatching(
      /^restored 2 files of .*\nverified 1 packets .* 1 attachments in 1 files .*: nothing differs/,
    ),
  ]);
});
