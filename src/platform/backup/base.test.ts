import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { generateX25519Identity } from 'age-encryption';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../../test/helpers/eventually.ts';
import { temporaryFolder } from '../../../test/helpers/folder.ts';
import { storeBlocks } from './base.ts';
import { folderTarget } from './objects/folder-target.ts';
import { openSealing } from './objects/sealing.ts';
import { throttle } from './objects/throttle.ts';
import { openVault } from './objects/vault.ts';

const BLOCK_BYTES = 4 * 1024 * 1024;
const BLOCKS = 8;

/** A folder that stores an object once it is let, as one does that a network is in front of. */
function slowFolder(folder: string) {
  const waiting: (() => void)[] = [];
  const target = folderTarget(folder);
  return {
    waiting,
    target: {
      ...target,
      async put(name: string, bytes: Uint8Array) {
        if (name.includes('/blocks/')) await new Promise<void>(resolve => waiting.push(resolve));
        return target.put(name, bytes);
      },
    },
  };
}

test('a throttled copy ends with the reason why a block could not be stored', async () => {
  const { folder, remove } = await temporaryFolder();
  const sealing = openSealing(1);
  onTestFinished(async () => {
    await sealing.close();
    await remove();
  });
  const cluster = path.join(folder, 'data');
  await mkdir(path.join(cluster, 'global'), { recursive: true });
  await writeFile(path.join(cluster, 'table'), randomBytes(3 * BLOCK_BYTES));
  const failing = folderTarget(path.join(folder, 'target'));
  const target = {
    ...failing,
    async put(name: string, bytes: Uint8Array) {
      if (name.includes('/blocks/')) throw new Error(`storing ${name} failed: status 503`);
      return failing.put(name, bytes);
    },
  };
  const opening = { target, sealing, backupKey: await generateX25519Identity() };
  const vault = await openVault(opening, '20260101T000000Z-00000001', { create: true });
  const signal = new AbortController().signal;
  // The second block is due in a quarter of a day.
  const pace = throttle(BLOCK_BYTES / 20_000);
  await expect(storeBlocks({ cluster }, vault, { pace, signal })).rejects.toThrow(
    /^storing 20260101T000000Z-00000001\/blocks\/\w+ failed: status 503$/,
  );
});

test('a target that stores blocks slowly and out of order holds the copy back, and nothing else in the process', async () => {
  const { folder, remove } = await temporaryFolder();
  const sealing = openSealing(1);
  onTestFinished(async () => {
    await sealing.close();
    await remove();
  });
  const cluster = path.join(folder, 'data');
  await mkdir(path.join(cluster, 'global'), { recursive: true });
  await writeFile(path.join(cluster, 'table'), randomBytes(BLOCKS * BLOCK_BYTES));
  await writeFile(path.join(cluster, 'global/pg_control'), 'control');
  const { waiting, target } = slowFolder(path.join(folder, 'target'));
  const opening = { target, sealing, backupKey: await generateX25519Identity() };
  const vault = await openVault(opening, '20260101T000000Z-00000001', { create: true });

  let read = 0;
  const unlimited = throttle(Number.MAX_SAFE_INTEGER);
  const pace = (bytes: number, signal: AbortSignal) => {
    read += bytes;
    return unlimited(bytes, signal);
  };
  const storing = storeBlocks({ cluster }, vault, { pace, signal: new AbortController().signal });
  await eventually(() => waiting.length === 2);
  // The second is stored long before the first: the third begins, and no further one.
  waiting[1]?.();
  await eventually(() => waiting.length === 3);
  for (let turn = 0; turn < 10; turn++) await setImmediate();
  expect(waiting).toHaveLength(3);
  expect(read).toBeLessThanOrEqual(5 * BLOCK_BYTES);
  const finished = storing.then(() => true);
  while (!(await Promise.race([finished, setImmediate(false)]))) for (const release of waiting) release();
  const { copied, bytes } = await storing;
  expect(bytes).toBe(BLOCKS * BLOCK_BYTES + 'control'.length);
  const blocks = copied.files.flatMap(({ parts }) => parts.map(({ block }) => block));
  const there: string[] = [];
  for await (const { name } of vault.list('blocks/')) there.push(name.slice('blocks/'.length));
  expect(there.toSorted()).toEqual(blocks.toSorted());
});
