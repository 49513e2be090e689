import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { stageDirectory } from '../../src/platform/embedded-postgres/fixtures/stage.ts';
import { download, upload } from '../helpers/attachments.ts';
import {
  backupHealth,
  backupSettings,
  fieldtrace,
  followRunbook,
  killEverything,
  LAG_SECONDS,
  observe,
  runbooks,
  startBackedUp,
  untilShipped,
  which,
  withSuperuser,
} from '../helpers/backup.ts';
import { eventually } from '../helpers/eventually.ts';
import { runToEnd, startProcess } from '../helpers/process.ts';
import { lackingLast, turnBack } from '../helpers/replaced.ts';
import { sender } from '../helpers/service.ts';

/** The objects of the only instance in a target, by kind. */
async function objectsOf(
  target: string,
): Promise<{ instance: string; of: (kind: string) => Promise<string[]> }> {
  const [instance] = (await readdir(target)) as [string];
  return { instance, of: async kind => (await readdir(path.join(target, instance, kind))).sort() };
}

/** A restore that does not know which instance is meant, or wants a time that there is not, says so. */
async function refusesUnclear(
  settings: Record<string, string>,
  stage: string,
  target: string,
): Promise<void> {
  const both = await fieldtrace(settings, 'restore', '--into', path.join(stage, 'z'));
  expect([both.code, both.err]).toEqual([2, expect.stringContaining('choose one with --instance')]);
  const instance = ['--instance', (await readdir(target)).sort()[0] as string];
  for (const [time, message] of [
    ['2020-01-01T00:00:00Z', 'the earliest time of'],
    ['2099-01-01T00:00:00Z', 'the backup has the WAL up to'],
  ] as const) {
    const words = ['restore', '--into', path.join(stage, 'x'), '--to', time, ...instance];
    const { code, err } = await fieldtrace(settings, ...words);
    expect([code, err]).toEqual([1, expect.stringContaining(message)]);
  }
}

/** The audit of a copy says who restored it, without paths or the target. */
async function isInAudit(data: string): Promise<void> {
  const { out } = await fieldtrace({ DATA_DIR: data }, 'audit');
  expect(out).toMatch(/^\S+Z restore \{"by":"[^"]+"\}\n$/);
}

test('a restore to a second between two writes has the first and not the second, and one to the end has both', {
  timeout: 240_000,
}, async () => {
  const stage = stageDirectory();
  const [data, target] = [path.join(stage, 'data'), path.join(stage, 'target')];
  const settings = backupSettings(data, target);
  const service = await startBackedUp(settings);
  const login = await sender(service.traceUrl)('POST', '/api/user/login', {
    username: 'admin@example.org',
    password: 'an administrator',
  });
  const cookie = /^[^;]+/.exec(login.headers.getSetCookie()[0] as string)?.[0] as string;
  const photo = await upload(service, 'a leaf');
  const first = await observe(service, { attachments: [photo.body.attachment_id] });
  const { since } = (await service.send('GET', '/sync/packets?since=')).body;
  const between = new Date();
  await eventually(() => Date.now() > between.getTime() + 100);
  const second = await observe(service);
  service.child.kill('SIGTERM');
  expect(await service.ended, service.output()).toBe(0);

  const listed = await fieldtrace(settings, 'backup', 'list');
  expect([listed.code, listed.out]).toEqual([0, expect.stringMatching(/GiB, restores to .* … /)]);
  await rm(data, { recursive: true });

  const runbook = await runbooks();
  const early = path.join(stage, 'early');
  const before = await followRunbook(
    runbook.get('Recovery from mistakes') as string,
    { '2026-03-01T08:14:59Z': between.toISOString(), '/var/lib/fieldtrace-before': early },
    settings,
  );
  expect(before.output()).toMatch(/unpacking the base backup: 100 %/);
  expect(before.output()).toMatch(
    /^restored to .* from base backup .*\nverified 1 packets .*: nothing differs\n/m,
  );
  const copy = before.service;
  expect(await which(copy, [first, second])).toEqual([first]);
  expect((await download(copy, photo.body.attachment_id)).bytes.toString()).toBe('a leaf');
  const trace = sender(copy.traceUrl);
  expect((await trace('GET', '/api/user/profile', undefined, { cookie })).status).toBe(401);
  expect((await copy.send('GET', `/sync/packets?since=${since}`)).status).toBe(200);
  copy.child.kill('SIGTERM');
  expect(await copy.ended, before.output()).toBe(0);
  await isInAudit(early);
  const again = await fieldtrace(settings, 'restore', '--into', early);
  expect([again.code, again.err]).toEqual([1, expect.stringContaining('is not empty')]);

  const late = path.join(stage, 'late');
  const { BACKUP_URL = '', BACKUP_KEY = '', ...others } = settings;
  const lost = await followRunbook(
    runbook.get('Machine loss') as string,
    {
      '/var/lib/fieldtrace': late,
      'BACKUP_URL=…': `BACKUP_URL=${BACKUP_URL}`,
      'BACKUP_KEY=…': `BACKUP_KEY=${BACKUP_KEY}`,
    },
    others,
  );
  expect(lost.output()).toContain('verified 2 packets');
  expect(await which(lost.service, [first, second])).toEqual([first, second]);
  // The copy writes its backups under an id of its own.
  await eventually(
    () => backupHealth(lost.service),
    ({ status }) => status === 'OK',
  );
  expect(await readdir(target)).toHaveLength(2);
  lost.service.child.kill('SIGTERM');
  expect(await lost.service.ended, lost.output()).toBe(0);
  await refusesUnclear(settings, stage, target);
});

test('an idle service closes no WAL segment, and closes one after a write', {
  timeout: 240_000,
}, async () => {
  const stage = stageDirectory();
  const data = path.join(stage, 'data');
  const service = await startBackedUp(backupSettings(data, path.join(stage, 'target')));
  await withSuperuser(data, async client => {
    const look = async () => {
      const { rows } = await client.query(
        `SELECT (SELECT archived_count FROM pg_stat_archiver) AS archived,
           (SELECT max(query_start)::text FROM pg_stat_activity
            WHERE query LIKE '%packet_service_jobs%keep_until < now()%' AND pid <> pg_backend_pid()) AS supervised`,
      );
      return rows[0] as { archived: string; supervised: string | null };
    };
    /** What it looks like when the job queue has been supervised again: several segments could have been closed. */
    const afterNext = (last: string | null) =>
      eventually(look, ({ supervised }) => supervised !== null && supervised !== last);
    // What the start left to do, such as analysing tables, may come in between.
    let before = await afterNext(null);
    await eventually(async () => {
      const after = await afterNext(before.supervised);
      const closed = after.archived !== before.archived;
      before = after;
      return !closed;
    });
    const { archived } = before;
    await observe(service);
    await eventually(look, now => now.archived !== archived);
  });
  service.child.kill('SIGTERM');
  expect(await service.ended, service.output()).toBe(0);
});

test('a restore after the loss of a machine under load has every write that is older than the lag', {
  timeout: 240_000,
}, async () => {
  const stage = stageDirectory();
  const [data, target] = [path.join(stage, 'data'), path.join(stage, 'target')];
  const settings = backupSettings(data, target);
  const service = await startBackedUp(settings);
  const written: { id: string; at: number }[] = [];
  let writing = true;
  const writers = [1, 2, 3].map(async () => {
    while (writing) {
      try {
        const id = await observe(service, { message: 'x'.repeat(2000) });
        written.push({ id, at: Date.now() });
      } catch (error) {
        if (writing) throw error;
      }
    }
  });
  await eventually(() => written.length > 0 && Date.now() > (written[0]?.at ?? 0) + 2.5 * LAG_SECONDS * 1000);
  writing = false;
  const lost = Date.now();
  await killEverything(service, data);
  await Promise.all(writers);
  await rm(data, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });

  const into = path.join(stage, 'restored');
  const restored = await fieldtrace(settings, 'restore', '--into', into);
  expect([restored.code, restored.out]).toEqual([0, expect.stringContaining('nothing differs')]);
  const copy = await startProcess({ DATA_DIR: into });
  const old = written.filter(({ at }) => at < lost - LAG_SECONDS * 1000).map(({ id }) => id);
  expect(old.length).toBeGreaterThan(0);
  const sample = [...old.slice(-100), ...old.slice(0, 20)];
  expect(await which(copy, sample)).toEqual(sample);
  copy.child.kill('SIGTERM');
  await copy.ended;
});

test('backup verify names every object that was changed, and a wrong key is refused', {
  timeout: 240_000,
}, async () => {
  const stage = stageDirectory();
  const [data, target] = [path.join(stage, 'data'), path.join(stage, 'target')];
  const settings = backupSettings(data, target);
  const service = await startBackedUp(settings);
  await observe(service, { attachments: [(await upload(service, 'a leaf')).body.attachment_id] });
  await untilShipped(data);
  // A second base backup while the service runs, with the passages of the first that did not change.
  const { instance, of } = await objectsOf(target);
  const blocks = (await of('blocks')).length;
  const taken = await fieldtrace(settings, 'backup', 'now');
  expect([taken.code, taken.out]).toEqual([0, expect.stringContaining('is complete')]);
  expect(await of('bases')).toHaveLength(2);
  expect((await of('blocks')).length).toBeLessThan(2 * blocks);

  const good = await fieldtrace(settings, 'backup', 'verify');
  expect([good.code, good.out]).toEqual([
    0,
    expect.stringMatching(/read .* objects .*\nrestored to .*\nverified 1 pack/),
  ]);
  await eventually(
    () => backupHealth(service),
    ({ message }) => /last verified \d+ min ago/.test(message),
  );
  const status = await fieldtrace(settings, 'status');
  expect([status.code, status.out]).toEqual([
    0,
    expect.stringMatching(/^backup: OK, last base backup \d+ min ago, last verified \d+ min ago$/m),
  ]);
  const metrics = (await service.send('GET', '/metrics')).text;
  for (const name of ['backup_last_base_timestamp_seconds', 'backup_last_verified_timestamp_seconds'])
    expect(metrics).toMatch(new RegExp(`^${name}\\{.*\\} 1\\d{9}`, 'm'));
  service.child.kill('SIGTERM');
  await service.ended;

  const broken: string[] = [];
  for (const kind of ['blocks', 'wal', 'files', 'bases']) {
    const [name] = await of(kind);
    const file = path.join(target, instance, kind, name as string);
    const bytes = await readFile(file);
    bytes[bytes.length - 3] = (bytes[bytes.length - 3] as number) ^ 1;
    await writeFile(file, bytes);
    broken.push(`${instance}/${kind}/${name} is damaged`);
  }
  const bad = await fieldtrace(settings, 'backup', 'verify');
  expect(bad.code).toBe(1);
  for (const sentence of broken) expect(bad.out).toContain(sentence);
  expect(bad.out).toContain(': 4 faults');

  const wrong = { ...settings, BACKUP_KEY: 'another passphrase of twenty' };
  for (const words of [
    ['backup', 'list'],
    ['restore', '--into', path.join(stage, 'x')],
  ]) {
    const refused = await fieldtrace(wrong, ...words);
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('BACKUP_KEY does not open')]);
  }
});

test('a backup of v0.1.0 is restored and upgraded, and one that is older is refused with the version that restores it', {
  timeout: 240_000,
}, async () => {
  const stage = stageDirectory();
  const [data, target] = [path.join(stage, 'data'), path.join(stage, 'target')];
  const settings = backupSettings(data, target);
  const service = await startBackedUp(settings);
  const id = await observe(service);
  const connection = {
    host: path.join(data, 'postgres/socket'),
    user: 'fieldtrace_superuser',
    password: (await readFile(path.join(data, 'postgres/superuser-password'), 'utf8')).trim(),
    database: 'fieldtrace',
    options: '-c role=fieldtrace_owner',
  };
  const role = { ...connection, options: '-c role=fieldtrace' };
  await turnBack(connection, undefined, role);
  await untilShipped(data);
  const into = path.join(stage, 'restored');
  const restored = await fieldtrace(settings, 'restore', '--into', into);
  expect([restored.code, restored.out]).toEqual([0, expect.stringContaining('nothing differs')]);
  const copy = await startProcess({ DATA_DIR: into });
  expect(copy.log()).not.toContain('"migrated"');
  expect(await which(copy, [id])).toEqual([id]);
  copy.child.kill('SIGTERM');
  await copy.ended;

  await turnBack(connection, lackingLast('packet_service'), role);
  await untilShipped(data);
  const sentence =
    /older than fieldtrace v0\.1\.0 \(it has 26 of 27 migrations\).* restore or verify this backup with v0\.1\.0 \(git checkout v0\.1\.0\), into an empty directory/;
  const older = path.join(stage, 'older');
  for (const words of [
    ['restore', '--into', older],
    ['backup', 'verify'],
  ]) {
    const { code, err } = await fieldtrace(settings, ...words);
    expect([code, err]).toEqual([1, expect.stringMatching(sentence)]);
  }
  const start = await runToEnd({ DATA_DIR: older });
  expect([start.code, start.output]).toEqual([1, expect.stringMatching(/cannot start: .*restore/)]);
  service.child.kill('SIGTERM');
  await service.ended;
});

test('a passphrase encrypts as well as an identity, and neither a target inside DATA_DIR nor a missing key is accepted', {
  timeout: 240_000,
}, async () => {
  const stage = stageDirectory();
  const [data, target] = [path.join(stage, 'data'), path.join(stage, 'target')];
  const settings = { ...backupSettings(data, target), BACKUP_KEY: 'correct horse battery staple' };
  const insideUrl = `file://${data}/backups`;
  const inside = await fieldtrace({ ...settings, BACKUP_URL: insideUrl }, 'backup', 'now');
  expect([inside.code, inside.err]).toEqual([2, expect.stringContaining('must not be inside DATA_DIR')]);
  const { BACKUP_KEY: _, ...keyless } = settings;
  const sentence = 'BACKUP_URL is set but BACKUP_KEY is missing. Set BACKUP_KEY to ';
  const missing = await fieldtrace(keyless, 'backup', 'now');
  expect([missing.code, missing.err]).toEqual([2, expect.stringContaining(sentence)]);
  const unlisted = await fieldtrace(keyless, 'backup', 'list');
  expect([unlisted.code, unlisted.err]).toEqual([
    2,
    expect.stringContaining('BACKUP_KEY is missing. Set it'),
  ]);
  for (const [wrong, why] of [
    [keyless, sentence],
    [{ ...settings, BACKUP_URL: insideUrl }, 'BACKUP_URL must not be inside DATA_DIR'],
  ] as const) {
    const start = await runToEnd(wrong);
    expect([start.code, start.output]).toEqual([1, expect.stringContaining(`cannot start: ${why}`)]);
  }
  // All of it was refused before PostgreSQL was started.
  expect(existsSync(data)).toBe(false);
  await mkdir(path.join(data, 'files/attachments'), { recursive: true });
  const taken = await fieldtrace(settings, 'backup', 'now');
  expect([taken.code, taken.err]).toEqual([0, '']);
  // Plain `age` opens it: the key of the instance with the passphrase, everything else with that key.
  const { instance } = await objectsOf(target);
  expect((await readFile(path.join(target, instance, 'key'))).toString('latin1')).toMatch(
    /^age-encryption.org\/v1\n-> scrypt /,
  );
  await cp(target, path.join(stage, 'other'), { recursive: true });
  const listed = await fieldtrace({ ...settings, BACKUP_URL: `file://${stage}/other` }, 'backup', 'list');
  expect(listed.out).toContain(instance);
});
