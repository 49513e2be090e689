import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { generateX25519Identity } from 'age-encryption';
import { pino } from 'pino';
import { afterAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../../test/helpers/folder.ts';
import { SettingsError } from '../settings/settings.ts';
import type { Base } from './base.ts';
import { readCatalogue } from './catalogue.ts';
import { folderTarget } from './objects/folder-target.ts';
import { openSealing } from './objects/sealing.ts';
import { openVault, type Vault } from './objects/vault.ts';
import { checkObjects } from './restore/check.ts';
import { expire } from './retention.ts';
import { nextSegment, SEGMENT_BYTES, segmentBefore } from './segments.ts';
import { limitSpoolAndTell, shipSpool } from './ship.ts';
import { openState, type StateStore } from './state.ts';
import { baseIsDue, hasGap } from './status.ts';

const logger = pino({ level: 'silent' });
const sealing = openSealing(1);
afterAll(() => sealing.close());
const KEY = await generateX25519Identity();
const never = new AbortController().signal;
const segment = (number: number) =>
  `0000000100000000000000${number.toString(16).toUpperCase().padStart(2, '0')}`;

let folder: string;
beforeEach(async () => {
  const made = await temporaryFolder();
  folder = made.folder;
  onTestFinished(made.remove);
});

const target = () => folderTarget(path.join(folder, 'target'));
const vaultOf = (instance: string, backupKey = KEY) =>
  openVault({ target: target(), sealing, backupKey }, instance, { create: true });

/** A DATA_DIR with a spool, as an embedded server fills it. */
async function machine(name: string): Promise<{
  state: StateStore;
  spool: string;
  archive(number: number, content?: string): Promise<void>;
  ship(): Promise<number>;
  vault(): Promise<Vault>;
}> {
  const state = openState(path.join(folder, name));
  const spool = path.join(folder, name, 'spool');
  await mkdir(spool, { recursive: true });
  const vault = async () => vaultOf(await state.instance());
  return {
    state,
    spool,
    vault,
    async archive(number, content = `segment ${number}`) {
      const bytes = Buffer.alloc(SEGMENT_BYTES);
      bytes.write(content);
      await writeFile(path.join(spool, segment(number)), bytes);
    },
    ship: () => shipSpool({ spool, state, logger }, vault, { signal: never }),
  };
}

async function shippedBy(vault: Vault): Promise<string[]> {
  return [...(await readCatalogue(vault)).segments.keys()].sort();
}

test('segments follow each other across the end of a log file, and a position belongs to the segment before it', () => {
  expect(nextSegment('0000000200000001000000FF')).toBe('000000020000000200000000');
  expect(nextSegment('000000020000000100000009')).toBe('00000002000000010000000A');
  expect(segmentBefore('00000001', '0/3000000')).toBe('000000010000000000000002');
  expect(segmentBefore('00000001', '0/3000001')).toBe('000000010000000000000003');
  expect(segmentBefore('00000001', '1/0')).toBe('0000000100000000000000FF');
});

test('a segment shipped by a process that was killed before recording it is shipped once, and is no gap', async () => {
  const { archive, ship, state, spool, vault } = await machine('data');
  await archive(1);
  await ship();
  const instance = await state.instance();
  await archive(1);
  await archive(2);
  expect(await ship()).toBe(2);
  expect(await state.instance()).toBe(instance);
  expect(await readdir(spool)).toEqual([]);
  expect(await shippedBy(await vault())).toEqual([segment(1), segment(2)]);
  expect(await state.read('shipped')).toMatchObject({ last: segment(2) });
  expect((await state.read('shipped'))?.gap).toBeUndefined();
});

test('a segment that the server did not archive is a gap, after which a base backup is due', async () => {
  const { archive, ship, state } = await machine('data');
  await archive(1);
  await archive(3);
  await ship();
  const shipped = await state.read('shipped');
  expect(shipped).toMatchObject({ last: segment(3), gap: { from: segment(2) } });
  const instance = await state.instance();
  const statusFrom = (startSegment: string) => ({
    instance,
    base: { instance, id: 'b', at: new Date().toISOString(), startSegment, bytes: 1 },
    shipped,
    verified: undefined,
    trouble: undefined,
    waitingSince: undefined,
    waitingSegments: 0,
    unarchivedSegments: 0,
    archives: true,
  });
  const limits = { maxLagSeconds: 60, everyHours: 24 };
  expect([hasGap(statusFrom(segment(1))), baseIsDue(statusFrom(segment(1)), limits, new Date())]).toEqual([
    true,
    true,
  ]);
  expect([hasGap(statusFrom(segment(3))), baseIsDue(statusFrom(segment(3)), limits, new Date())]).toEqual([
    false,
    false,
  ]);
  const tomorrow = new Date(Date.now() + 25 * 3600_000);
  expect(baseIsDue(statusFrom(segment(3)), limits, tomorrow)).toBe(true);
});

test('a spool over its limit keeps the oldest segments and records the gap once', async () => {
  const { archive, state, spool } = await machine('data');
  for (let number = 1; number <= 6; number++) await archive(number);
  const limit = () => limitSpoolAndTell({ spool, state, logger }, 4 * SEGMENT_BYTES);
  await limit();
  expect(await readdir(spool)).toEqual([1, 2, 3, 4].map(segment));
  const first = await state.read('shipped');
  expect(first?.gap?.from).toBe(segment(5));
  await archive(7);
  await limit();
  expect(await readdir(spool)).toEqual([1, 2, 3, 4].map(segment));
  expect(await state.read('shipped')).toEqual(first);
});

test('a machine and its copy cannot spoil the backups of each other: the second one takes a new id', async () => {
  const [first, second] = [await machine('one'), await machine('other')];
  const id = await first.state.instance();
  await second.state.instance();
  await writeFile(path.join(folder, 'other/backup/instance'), id);
  await first.archive(1);
  await second.archive(1);
  await first.ship();
  await second.ship();
  expect(await second.state.instance()).toBe(id);
  await first.archive(2, 'what one wrote');
  await second.archive(2, 'what the other wrote');
  await first.ship();
  await second.ship();
  expect(await first.state.instance()).toBe(id);
  expect(await second.state.instance()).not.toBe(id);
  const read = async (vault: Vault) => (await vault.get(`wal/${segment(2)}`)).toString('utf8', 0, 20);
  expect(await read(await first.vault())).toContain('what one wrote');
  expect(await read(await second.vault())).toContain('what the other wrote');
});

test('an object under another name, with another byte or encrypted with another key is not accepted', async () => {
  const vault = await vaultOf('20260101T000000Z-00000001');
  await vault.put('wal/a', Buffer.from('one'));
  await vault.put('wal/b', Buffer.from('two'));
  expect([
    await vault.put('wal/a', Buffer.from('one')),
    await vault.put('wal/a', Buffer.from('two')),
  ]).toEqual(['same', 'differs']);
  const store = target();
  const bytes = (await store.get(`${vault.instance}/wal/a`)) as Uint8Array;
  await store.remove([`${vault.instance}/wal/b`]);
  await store.put(`${vault.instance}/wal/b`, bytes);
  await expect(vault.get('wal/b')).rejects.toThrow(
    `${vault.instance}/wal/b is damaged (it is a copy of wal/a)`,
  );
  await expect(vault.get('wal/c')).rejects.toThrow(`${vault.instance}/wal/c is missing`);
  for (const backupKey of ['another passphrase of some length', await generateX25519Identity()]) {
    await expect(vaultOf(vault.instance, backupKey)).rejects.toThrow(SettingsError);
  }
  const damaged = Buffer.from(bytes);
  damaged[damaged.length - 5] = (damaged[damaged.length - 5] as number) ^ 1;
  await store.remove([`${vault.instance}/wal/a`, `${vault.instance}/wal/b`]);
  await store.put(`${vault.instance}/wal/a`, damaged);
  const { faults } = await checkObjects(vault, () => {});
  expect(faults).toEqual([expect.stringContaining(`${vault.instance}/wal/a is damaged`)]);
});

test('retention keeps what a restore to any time of the last days needs, and nothing else', async () => {
  const vault = await vaultOf('20260101T000000Z-00000002');
  const now = new Date('2026-03-20T12:00:00Z');
  const store = async (day: number, start: number, blocks: string[]) => {
    const at = `2026-03-${String(day).padStart(2, '0')}T00:00:00.000Z`;
    const id = at.replaceAll(/[-:.]/g, '');
    const files = blocks.map(block => ({
      path: block,
      parts: [{ block: vault.aliasOf(block), at: 0, bytes: 1 }],
    }));
    const cluster = { folders: [], files, startSegment: segment(start), stopSegment: segment(start) };
    const base = { format: 1, id, startedAt: at, endedAt: at, bytes: 1, cluster } as unknown as Base;
    for (const block of blocks) await vault.putOnce(`blocks/${vault.aliasOf(block)}`, Buffer.from(block));
    await vault.put(`bases/${id}`, Buffer.from(JSON.stringify(base)));
    return id;
  };
  const ids = [
    await store(1, 2, ['first', 'always']),
    await store(8, 4, ['second', 'always']),
    await store(15, 6, ['third', 'always']),
    await store(20, 8, ['fourth', 'always']),
  ];
  for (let number = 1; number <= 9; number++) await vault.put(`wal/${segment(number)}`, Buffer.alloc(8));
  await vault.putOnce(
    'blocks/0123456789012345678901234567890123456789',
    Buffer.from('of a base that was cut off'),
  );

  await expire(vault, 7, now);
  const { bases, segments } = await readCatalogue(vault);
  // The base of the 8th is needed for the time from the 13th to the 15th.
  expect(bases).toEqual(ids.slice(1));
  expect([...segments.keys()].sort()).toEqual([4, 5, 6, 7, 8, 9].map(segment));
  const blocks: string[] = [];
  for await (const { name } of vault.list('blocks/')) blocks.push(name);
  expect(blocks.sort()).toEqual(
    ['always', 'fourth', 'second', 'third'].map(block => `blocks/${vault.aliasOf(block)}`).sort(),
  );
  expect((await checkObjects(vault, () => {})).faults).toEqual([]);
  await expire(vault, 1, new Date('2026-06-01T00:00:00Z'));
  expect((await readCatalogue(vault)).bases).toEqual(ids.slice(3));
});
