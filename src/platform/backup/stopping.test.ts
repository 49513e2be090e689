import { execFile } from 'node:child_process';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { generateX25519Identity } from 'age-encryption';
import { pino } from 'pino';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../../test/helpers/eventually.ts';
import { temporaryFolder } from '../../../test/helpers/folder.ts';
import type { ServerFiles } from '../embedded-postgres/index.ts';
import { openFileStore } from '../files/index.ts';
import { readSettings } from '../settings/settings.ts';
import type { BackupContext } from './context.ts';
import { folderTarget } from './objects/folder-target.ts';
import { openSealing, SealingEnded } from './objects/sealing.ts';
import type { BackupTarget } from './objects/target.ts';
import { throttle } from './objects/throttle.ts';
import { SEGMENT_BYTES } from './segments.ts';
import { openState } from './state.ts';
import { troubleKeeper } from './troubles.ts';
import { makeWork } from './work.ts';

const SEGMENT = '000000010000000000000001';
const backupKey = await generateX25519Identity();

let folder: string;
beforeEach(async () => {
  const made = await temporaryFolder();
  folder = made.folder;
  onTestFinished(made.remove);
});

/** What one process on a DATA_DIR does, with a server that has archived one segment. */
async function processOn(dataDir: string, target: BackupTarget) {
  const settings = readSettings({ DATA_DIR: dataDir });
  const spool = path.join(dataDir, 'spool');
  await mkdir(spool, { recursive: true });
  await writeFile(path.join(spool, SEGMENT), Buffer.alloc(SEGMENT_BYTES));
  const sealing = openSealing(1);
  onTestFinished(() => sealing.close());
  const context: BackupContext = {
    settings,
    backupKey,
    target,
    sealing,
    state: openState(dataDir),
    pace: throttle(Number.MAX_SAFE_INTEGER),
    files: openFileStore(settings),
    connection: {},
    server: { spool } as ServerFiles,
    logger: pino({ level: 'silent' }),
  };
  const work = makeWork(context, troubleKeeper(context), new AbortController().signal);
  return { ...context, spool, work };
}

test("a stop during the comparison of a segment keeps the instance's id", async () => {
  const store = folderTarget(path.join(folder, 'target'));
  const first = await processOn(path.join(folder, 'data'), store);
  await first.work.ship();
  const instance = await first.state.instance();

  const target: BackupTarget = {
    ...store,
    async get(name) {
      const bytes = await store.get(name);
      if (name.includes('/wal/')) await second.sealing.close();
      return bytes;
    },
  };
  const second = await processOn(path.join(folder, 'data'), target);
  await expect(second.work.ship()).rejects.toThrow(SealingEnded);
  expect(await second.state.instance()).toBe(instance);
  expect(await readdir(path.join(folder, 'target'))).toEqual([instance]);

  const third = await processOn(path.join(folder, 'data'), store);
  await third.work.ship();
  expect(await third.state.instance()).toBe(instance);
  expect(await readdir(third.spool)).toEqual([]);
});

test('an object that is removed during its comparison is stored at the next try, under the same id', async () => {
  const store = folderTarget(path.join(folder, 'target'));
  const first = await processOn(path.join(folder, 'data'), store);
  await first.work.ship();
  const instance = await first.state.instance();
  const target: BackupTarget = {
    ...store,
    async put(name, bytes) {
      const outcome = await store.put(name, bytes);
      if (outcome === 'exists') await store.remove([name]);
      return outcome;
    },
  };
  const second = await processOn(path.join(folder, 'data'), target);
  await expect(second.work.ship()).rejects.toThrow('was removed during the comparison');
  await second.work.ship();
  expect(await second.state.instance()).toBe(instance);
  expect(await readdir(second.spool)).toEqual([]);
});

test('at a stop, the last WAL waits for a segment that is still being shipped', async () => {
  const store = folderTarget(path.join(folder, 'target'));
  const waiting: (() => void)[] = [];
  const target: BackupTarget = {
    ...store,
    async put(name, bytes) {
      if (name.includes('/wal/')) await new Promise<void>(resolve => waiting.push(resolve));
      return store.put(name, bytes);
    },
  };
  const { work, spool, state } = await processOn(path.join(folder, 'data'), target);
  const [during, last] = [work.ship(), work.ship(AbortSignal.abort(new Error('too late')))];
  await eventually(() => waiting.length === 1);
  let ended = false;
  last.finally(() => {
    ended = true;
  });
  for (let turn = 0; turn < 10; turn++) await setImmediate();
  expect(ended).toBe(false);
  waiting[0]?.();
  // Nothing is left, so it does not matter that its time is over.
  await Promise.all([during, last]);
  expect(waiting).toHaveLength(1);
  expect(await readdir(spool)).toEqual([]);
  expect(await state.read('shipped')).toMatchObject({ last: SEGMENT });
});

test('processes that need an id at the same time get the same one', async () => {
  const dataDir = path.join(folder, 'data');
  const states = Array.from({ length: 8 }, () => openState(dataDir));
  const idsFrom = async (idOf: (state: (typeof states)[number]) => Promise<string>) => {
    const ids = new Set(await Promise.all(states.map(idOf)));
    expect(ids.size).toBe(1);
    const [id] = [...ids] as [string];
    expect(await openState(dataDir).instance()).toBe(id);
    return id;
  };
  const made = await idsFrom(state => state.instance());
  expect(await idsFrom(state => state.instanceAt('one target'))).toBe(made);
  const moved = await idsFrom(state => state.instanceAt('another target'));
  expect(moved).not.toBe(made);
  const renewed = await idsFrom(state => state.renew(moved));
  expect([made, moved]).not.toContain(renewed);
});

test('a process that closes its threads while an answer is pending runs to its end', async () => {
  // Both answers are there when the loop goes on: the first ends the work, and the second comes while the threads end.
  const program = `
    import { openSealing } from ${JSON.stringify(new URL('./objects/sealing.ts', import.meta.url).href)};
    const sealing = openSealing(1);
    const { identity } = await sealing.request({ do: 'make-key', backupKey: ${JSON.stringify(backupKey)} });
    const open = () => sealing.request({ do: 'open', identity, bytes: Buffer.from('damaged') });
    const all = Promise.all([open(), open()]);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    const failure = await all.catch(error => error.message);
    await sealing.close();
    console.log('closed after: ' + failure);`;
  const file = path.join(folder, 'program.mjs');
  await writeFile(file, program);
  const { stdout } = await promisify(execFile)(process.execPath, [file]);
  expect(stdout).toMatch(/^closed after: /);
});
