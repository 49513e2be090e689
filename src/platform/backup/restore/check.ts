import pLimit from 'p-limit';
import { readBase, readCatalogue } from '../catalogue.ts';
import { DamagedError } from '../objects/backup-error.ts';
import type { Vault } from '../objects/vault.ts';
import { contiguousFrom, isBefore, SEGMENT } from '../segments.ts';
import { getBlock } from './unpack.ts';

/** Objects that are read at the same time. */
const AT_ONCE = 4;

/** Counts of what was checked. */
export interface Checked {
  objects: number;
  bytes: number;
  /** one sentence for each, with the name of the object */
  faults: string[];
}

/**
 * Reads every object of an instance, and compares it with what was written: each is authenticated under its name. Then
 * looks whether base backups have all their parts, and the log has no gap after the newest.
 *
 * @param onProgress gets the part that is done, from 0 to 1
 */
export async function checkObjects(vault: Vault, onProgress: (part: number) => void): Promise<Checked> {
  const names: string[] = [];
  const checked: Checked = { objects: 0, bytes: 0, faults: [] };
  for await (const { name, bytes } of vault.list('')) {
    // Opening the vault has tried it.
    if (name === 'key') continue;
    names.push(name);
    checked.bytes += bytes;
  }
  const limit = pLimit(AT_ONCE);
  await limit.map(names, async name => {
    try {
      await readObject(vault, name);
    } catch (error) {
      if (!(error instanceof DamagedError)) throw error;
      // Retention may have removed it since the list was made; what is needed is looked for below.
      if (!error.message.endsWith(' is missing')) checked.faults.push(error.message);
    }
    onProgress(++checked.objects / names.length);
  });
  if (checked.faults.length === 0) checked.faults.push(...(await findMissing(vault)));
  checked.faults.sort();
  return checked;
}

async function readObject(vault: Vault, name: string): Promise<void> {
  if (name.startsWith('blocks/')) await getBlock(vault, name.slice('blocks/'.length));
  else await vault.get(name);
}

/** Objects that base backups need and the target lacks. */
async function findMissing(vault: Vault): Promise<string[]> {
  const catalogue = await readCatalogue(vault);
  const blocks = new Set<string>();
  for await (const { name } of vault.list('blocks/')) blocks.add(name.slice('blocks/'.length));
  const missing = new Set<string>();
  if (catalogue.bases.length === 0) missing.add(`${vault.instance} has no base backup`);
  for (const [index, id] of catalogue.bases.entries()) {
    const { cluster } = await readBase(vault, id);
    if (!cluster) continue;
    for (const { block } of cluster.files.flatMap(({ parts }) => parts)) {
      if (!blocks.has(block)) missing.add(`${vault.instance}/blocks/${block} is missing`);
    }
    const wal = contiguousFrom(cluster.startSegment, name => catalogue.segments.has(name));
    const last = wal.at(-1);
    if (!last || isBefore(last, cluster.stopSegment)) {
      missing.add(`the WAL that base backup ${id} needs is incomplete: it ends at ${last ?? 'nothing'}`);
    } else if (index === catalogue.bases.length - 1) {
      const beyond = [...catalogue.segments.keys()].filter(
        name => SEGMENT.test(name) && isBefore(last, name),
      );
      if (beyond.length > 0) missing.add(`the log has a gap after ${last}`);
    }
  }
  return [...missing];
}
