import type { Dirent } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import path from 'node:path';
import { BackupError } from './objects/backup-error.ts';
import type { Throttle } from './objects/throttle.ts';

/** A stretch of a file, and where it is in a block. */
export interface Part {
  block: string;
  at: number;
  bytes: number;
}

/** Parts of a copy of a data directory. Paths are relative, with /. */
export interface Copied {
  folders: string[];
  files: { path: string; parts: Part[] }[];
}

/** A block: large enough for a target in which each object costs a request, and the unit of what need not be copied again. */
const BLOCK_BYTES = 4 * 1024 * 1024;
/** A larger file has blocks of its own, at the same offsets each day; smaller ones share blocks. */
const SMALL_BYTES = 512 * 1024;
const CONTROL = 'global/pg_control';

// "Backing Up the Data Directory" in PostgreSQL's documentation, Continuous Archiving and Point-in-Time Recovery.
const LEFT_EMPTY = new Set(
  'pg_wal pg_replslot pg_dynshmem pg_notify pg_serial pg_snapshots pg_stat_tmp pg_subtrans'.split(' '),
);
const LEFT_OUT =
  /^(postmaster\.(pid|opts)|backup_label(\.old)?|tablespace_map(\.old)?|current_logfiles|pg_internal\.init(\..*)?|recovery\.signal|standby\.signal|pgsql_tmp.*)$/;
/** Folders inside the empty ones that the server expects. */
const EXPECTED = ['pg_wal/archive_status', 'pg_wal/summaries'];

/**
 * Copies a data directory block by block while the server writes to it; between `pg_backup_start` and `pg_backup_stop`,
 * whose part of the log makes the copy consistent.
 *
 * @param keep stores a block and gives its name
 * @throws Error when there is a tablespace outside the directory
 */
export async function copyCluster(
  cluster: string,
  keep: (block: Buffer) => Promise<string>,
  { pace, signal }: { pace: Throttle; signal: AbortSignal },
): Promise<Copied> {
  const copied: Copied = { folders: [...EXPECTED], files: [] };
  const pack = packer(keep);

  async function visit(folder: string): Promise<void> {
    const entries: Dirent[] = await readdir(path.join(cluster, folder), { withFileTypes: true });
    for (const entry of entries) {
      const inside = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (LEFT_OUT.test(entry.name) || inside === CONTROL) continue;
      if (entry.isSymbolicLink())
        throw new BackupError(`${inside} is a tablespace outside the data directory`);
      if (entry.isFile()) await copyFile(inside);
      if (!entry.isDirectory()) continue;
      copied.folders.push(inside);
      if (!LEFT_EMPTY.has(inside)) await visit(inside);
    }
  }

  async function copyFile(name: string): Promise<void> {
    const handle = await open(path.join(cluster, name)).catch((error: NodeJS.ErrnoException) => {
      // Dropped meanwhile: the log drops it in the copy, too.
      if (error.code !== 'ENOENT') throw error;
    });
    if (!handle) return;
    try {
      const { size } = await handle.stat();
      const parts: Part[] = [];
      copied.files.push({ path: name, parts });
      for (let at = 0; at < size; ) {
        const wanted = Math.min(BLOCK_BYTES, size - at);
        await pace(wanted, signal);
        const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafeSlow(wanted), 0, wanted, at);
        if (bytesRead === 0) break;
        await pack.add(buffer.subarray(0, bytesRead), parts, size <= SMALL_BYTES);
        at += bytesRead;
      }
    } finally {
      await handle.close();
    }
  }

  await visit('');
  // The last, as pg_basebackup does it: its checkpoint must not be older than what was copied.
  await copyFile(CONTROL);
  await pack.flush();
  return copied;
}

/** Gathers small files into blocks. A part gets its block when the block is stored. */
function packer(keep: (block: Buffer) => Promise<string>) {
  let pieces: Buffer[] = [];
  let waiting: Part[] = [];
  let gathered = 0;

  async function flush(): Promise<void> {
    if (gathered === 0) return;
    const [block, parts] = [Buffer.concat(pieces), waiting];
    [pieces, waiting, gathered] = [[], [], 0];
    const name = await keep(block);
    for (const part of parts) part.block = name;
  }

  return {
    flush,
    async add(bytes: Buffer, parts: Part[], shared: boolean): Promise<void> {
      if (!shared) {
        parts.push({ block: await keep(bytes), at: 0, bytes: bytes.length });
        return;
      }
      const part = { block: '', at: gathered, bytes: bytes.length };
      parts.push(part);
      waiting.push(part);
      pieces.push(bytes);
      gathered += bytes.length;
      if (gathered >= BLOCK_BYTES) await flush();
    },
  };
}
