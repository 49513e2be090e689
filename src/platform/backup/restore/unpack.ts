import { chown, mkdir, open, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import pLimit from 'p-limit';
import type { Base, ClusterCopy } from '../base.ts';
import { BackupError, DamagedError } from '../objects/backup-error.ts';
import type { Vault } from '../objects/vault.ts';
import { contiguousFrom, isBefore, SEGMENT_BYTES, unpackSegment } from '../segments.ts';

/** Objects that are fetched at the same time. */
const AT_ONCE = 4;
/** The folder that the server reads WAL from, inside its data directory, so that no path needs quoting. */
export const WAL_FOLDER = 'restored_wal';
/** Ends at the first segment that is missing; `cp` keeps holes. */
export const RESTORE_COMMAND = `cp "${WAL_FOLDER}/%f" "%p"`;
const ZEROS = Buffer.alloc(8192);

export interface Unpacking {
  vault: Vault;
  /** an empty data directory */
  directory: string;
  owner: { uid: number; gid: number };
  /** gets the part that is done, from 0 to 1 */
  onProgress: (part: number) => void;
}

/** Writes a data directory as a base backup has it, with what tells the server to recover. */
export async function unpackCluster(unpacking: Unpacking, cluster: ClusterCopy): Promise<void> {
  const { vault, directory, owner, onProgress } = unpacking;
  const inside = (name: string) => path.join(directory, ...name.split('/'));
  const folders = [...cluster.folders, WAL_FOLDER].sort();
  for (const folder of folders) {
    await mkdir(inside(folder), { recursive: true, mode: 0o700 });
    await chown(inside(folder), owner.uid, owner.gid);
  }
  const write = async (name: string, bytes: string | Buffer) => {
    await writeFile(inside(name), bytes, { mode: 0o600 });
    await chown(inside(name), owner.uid, owner.gid);
  };
  const wanted = new Map<string, { file: string; offset: number; at: number; bytes: number }[]>();
  for (const { path: name, parts } of cluster.files) {
    await write(name, '');
    let offset = 0;
    for (const { block, at, bytes } of parts) {
      const writes = wanted.get(block) ?? [];
      wanted.set(block, writes);
      writes.push({ file: inside(name), offset, at, bytes });
      offset += bytes;
    }
  }
  const limit = pLimit(AT_ONCE);
  let done = 0;
  await limit.map([...wanted], async ([block, writes]) => {
    const content = await getBlock(vault, block);
    for (const { file, offset, at, bytes } of writes) {
      const handle = await open(file, 'r+');
      try {
        await handle.write(content, at, bytes, offset);
      } finally {
        await handle.close();
      }
    }
    onProgress(++done / wanted.size);
  });
  await write('backup_label', cluster.label);
  if (cluster.tablespaces !== '') await write('tablespace_map', cluster.tablespaces);
  await write('recovery.signal', '');
}

/** @throws DamagedError */
export async function getBlock(vault: Vault, block: string): Promise<Buffer> {
  const content = await vault.get(`blocks/${block}`);
  if (vault.aliasOf(content) !== block)
    throw new DamagedError(`${vault.instance}/blocks/${block} is damaged`);
  return content;
}

/**
 * Fetches the log that leads from a base backup to a time, or to the end.
 *
 * @param segments what the target has
 * @returns the time up to which the log has what was committed
 * @throws DamagedError; Error when the target has no log of that time
 */
export async function fetchWal(
  { vault, directory, owner, onProgress }: Unpacking,
  { cluster, endedAt, id }: Base & { cluster: ClusterCopy },
  segments: ReadonlySet<string>,
  to: Date | undefined,
): Promise<Date> {
  const wanted = contiguousFrom(cluster.startSegment, name => segments.has(name));
  const last = wanted.at(-1);
  if (!last || isBefore(last, cluster.stopSegment)) {
    throw new DamagedError(
      `the WAL that base backup ${id} needs is incomplete: it ends at ${last ?? 'nothing'}`,
    );
  }
  let reach = new Date(endedAt);
  for (let at = 0; at < wanted.length; at += AT_ONCE) {
    const fetched = await Promise.all(
      wanted.slice(at, at + AT_ONCE).map(async name => {
        const { bytes, closedAt } = unpackSegment(await vault.get(`wal/${name}`));
        if (bytes.length !== SEGMENT_BYTES)
          throw new DamagedError(`${vault.instance}/wal/${name} is damaged`);
        await writeSparse(path.join(directory, WAL_FOLDER, name), bytes, owner);
        return closedAt;
      }),
    );
    for (const closedAt of fetched) if (closedAt > reach) reach = closedAt;
    onProgress((at + fetched.length) / wanted.length);
    const needed = wanted[at + fetched.length - 1] as string;
    if (to && reach >= to && !isBefore(needed, cluster.stopSegment)) break;
  }
  if (to && reach < to) {
    throw new BackupError(
      `the backup has the WAL up to ${reach.toISOString()}, so it cannot be restored to ${to.toISOString()}; ` +
        'if nothing was written in between, the newest state is the same: leave out --to',
    );
  }
  return reach;
}

/** A segment that was closed early is zeros for the most part: those take no space. */
async function writeSparse(file: string, bytes: Buffer, owner: Unpacking['owner']): Promise<void> {
  let end = bytes.length;
  while (end > 0 && bytes.subarray(end - ZEROS.length, end).equals(ZEROS)) end -= ZEROS.length;
  await writeFile(file, bytes.subarray(0, end), { mode: 0o600 });
  await truncate(file, bytes.length);
  await chown(file, owner.uid, owner.gid);
}
