import { rm } from 'node:fs/promises';
import path from 'node:path';
import pLimit from 'p-limit';
import type { Logger } from 'pino';
import {
  type EmbeddedPostgres,
  EmbeddedPostgresError,
  startEmbeddedPostgres,
} from '../../embedded-postgres/index.ts';
import { beginRestore } from '../../embedded-postgres/restoring.ts';
import type { FileStore } from '../../files/index.ts';
import type { Base, ClusterCopy } from '../base.ts';
import { type Catalogue, readBase, readCatalogue } from '../catalogue.ts';
import { type FileIndex, isComplete, openFile, readFileIndex } from '../files.ts';
import { BackupError, DamagedError } from '../objects/backup-error.ts';
import type { Vault } from '../objects/vault.ts';
import { findLastRecovered } from '../store.ts';
import { fetchWal, RESTORE_COMMAND, unpackCluster, WAL_FOLDER } from './unpack.ts';

/** Files that are fetched at the same time. */
const AT_ONCE = 4;

export interface Restoring {
  vault: Vault;
  /** DATA_DIR of the copy: missing or empty */
  into: string;
  /** the state that is wanted; the newest where it is not given */
  to: Date | undefined;
  /** where its files go */
  files: FileStore;
  /** gets the current step and its progress, from 0 to 1 */
  onProgress: (what: string, part: number) => void;
  /** called for each file that is not restored, because an object of it is damaged or missing */
  onLost: (error: DamagedError) => void;
  logger: Logger;
}

export interface Restored {
  base: Base;
  /** of the last transaction that was restored; undefined for an external database */
  time: Date | undefined;
  /** how many files were fetched */
  files: number;
  /** how many files were not restored */
  lost: number;
}

/**
 * Restores a database and its files into a new DATA_DIR. A kill at any moment leaves a DATA_DIR that no start accepts,
 * and that another restore begins again with. A file whose backup is damaged is left out, and everything else restored.
 *
 * @param finish what is done on the restored database, before anybody uses it
 * @throws DamagedError, SettingsError, EmbeddedPostgresError; Error when the time cannot be reached
 */
export async function restore<Finished>(
  restoring: Restoring,
  finish: (database: Pick<EmbeddedPostgres, 'connection' | 'owner'>, restored: Restored) => Promise<Finished>,
): Promise<Restored & { finished: Finished | undefined }> {
  const { vault, into, to } = restoring;
  const catalogue = await readCatalogue(vault);
  const base = await chooseBase(vault, catalogue, to);
  if (!base.cluster) {
    return { base, time: undefined, ...(await restoreFiles(restoring)), finished: undefined };
  }
  const end = await beginRestore(into);
  const server = await recover(restoring, { ...base, cluster: base.cluster }, catalogue);
  let finished: Finished;
  let restored: Restored;
  try {
    const time = await lastTime(server, base);
    restored = { base, time, ...(await restoreFiles(restoring)) };
    finished = await finish(server, restored);
  } finally {
    await server.stop();
  }
  await rm(path.join(server.backup.cluster, WAL_FOLDER), { recursive: true, force: true });
  end();
  return { ...restored, finished };
}

/** The newest base backup that had ended at a time. */
async function chooseBase(vault: Vault, { bases }: Catalogue, to: Date | undefined): Promise<Base> {
  let earliest: Base | undefined;
  for (const id of bases.toReversed()) {
    const base = await readBase(vault, id);
    if (!to || Date.parse(base.endedAt) <= to.getTime()) return base;
    earliest = base;
  }
  if (!earliest) throw new BackupError(`no base backup of ${vault.instance} found in ${vault.location}`);
  throw new BackupError(`the earliest time of ${vault.instance} in ${vault.location} is ${earliest.endedAt}`);
}

/** Fills the data directory and has the server replay the log; gives the server when it takes sessions. */
async function recover(
  { vault, into, to, onProgress, logger }: Restoring,
  base: Base & { cluster: ClusterCopy },
  { segments }: Catalogue,
): Promise<EmbeddedPostgres> {
  const names = new Set(segments.keys());
  const fill = async (directory: string, owner: { uid: number; gid: number }) => {
    const unpacking = { vault, directory, owner };
    await unpackCluster(
      { ...unpacking, onProgress: part => onProgress('unpacking the base backup', part) },
      base.cluster,
    );
    await fetchWal(
      { ...unpacking, onProgress: part => onProgress('fetching the log', part) },
      base,
      names,
      to,
    );
    return base.cluster.passwords;
  };
  // Sessions begin when the recovery has ended.
  const recovery = {
    hot_standby: 'off',
    restore_command: RESTORE_COMMAND,
    recovery_target_timeline: 'current',
  };
  const start = (target: Record<string, string>) => {
    onProgress('replaying the log', 0);
    return startEmbeddedPostgres({ dataDir: into, logger, fill, recovery: { ...recovery, ...target } });
  };
  if (!to) return start({});
  try {
    // Abbreviations such as Z are unknown while the server reads its command line.
    return await start({
      recovery_target_time: to.toISOString().replace('Z', '+00'),
      recovery_target_action: 'promote',
    });
  } catch (error) {
    // The log reaches beyond the time, as `fetchWal` has made sure, and nothing was committed after it.
    const quiet = /recovery ended before configured recovery target was reached/;
    if (error instanceof EmbeddedPostgresError && quiet.test(error.message)) return start({});
    throw error;
  }
}

async function lastTime(server: EmbeddedPostgres, base: Base): Promise<Date> {
  const client = await server.backup.connect();
  try {
    return (await findLastRecovered(client)) ?? new Date(base.endedAt);
  } finally {
    await client.end();
  }
}

/**
 * Fetches the files that the store lacks, but for those that were gone at the time. One that is damaged in the target is
 * reported and left out.
 */
async function restoreFiles({
  vault,
  to,
  files,
  onProgress,
  onLost,
}: Restoring): Promise<Pick<Restored, 'files' | 'lost'>> {
  const index = await readFileIndex(vault);
  const wanted = [...index.parts.keys()].filter(name => {
    const gone = index.gone.get(name);
    return isComplete(index, name) && (!gone || (to !== undefined && gone > to));
  });
  const limit = pLimit(AT_ONCE);
  const lost = new Map<string, DamagedError>();
  let done = 0;
  let fetched = 0;
  await limit.map(wanted, async name => {
    try {
      if (await restoreFile({ vault, files }, index, name)) fetched++;
    } catch (error) {
      if (!(error instanceof DamagedError)) throw error;
      lost.set(name, error);
    }
    onProgress('fetching files', ++done / wanted.length);
  });
  // A bucket outlives the machine and may have them.
  if (lost.size > 0) for await (const key of files.list()) lost.delete(vault.aliasOf(key));
  for (const error of lost.values()) onLost(error);
  return { files: fetched, lost: lost.size };
}

/**
 * @returns whether the store lacked the file
 * @throws DamagedError; Problem unavailable if it cannot be stored
 */
async function restoreFile(
  { vault, files }: Pick<Restoring, 'vault' | 'files'>,
  index: FileIndex,
  name: string,
): Promise<boolean> {
  const { key, size, content } = await openFile(vault, index, name);
  if ((await files.size(key)) === size) return false;
  const received = await files.receive(content, size, () => new Error(`${key} is larger than it should be`));
  try {
    await files.put(key, received);
    return true;
  } finally {
    await received.discard();
  }
}
