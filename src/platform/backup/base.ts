import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { withSession } from '../database/database.ts';
import type { ServerFiles } from '../embedded-postgres/index.ts';
import { VERSION } from '../version.ts';
import type { BackupContext } from './context.ts';
import { type Copied, copyCluster } from './copy-cluster.ts';
import { BackupError } from './objects/backup-error.ts';
import type { Vault } from './objects/vault.ts';
import { isBefore, segmentBefore } from './segments.ts';
import { findLsn, type StoppedBackup, startBackup, stopBackup } from './store.ts';

/** A base backup, as the object `bases/<id>` describes it. */
export interface Base {
  format: 1;
  /** its start, in ISO 8601 without punctuation */
  id: string;
  fieldtrace: string;
  startedAt: string;
  /** a restore to an earlier time needs an earlier base */
  endedAt: string;
  /** bytes of the data directory */
  bytes: number;
  /** where an external database was, which has backups of its own */
  externalLsn?: string;
  /** of the embedded server; absent with an external one */
  cluster?: ClusterCopy;
}

export interface ClusterCopy extends Copied {
  startSegment: string;
  stopSegment: string;
  label: string;
  tablespaces: string;
  /** by the names of their files */
  passwords: Record<string, string>;
}

/** Blocks that are encrypted and written at the same time. */
const AT_ONCE = 2;
/** How often the end of shipping is looked for, in milliseconds. */
const LOOK_MS = 100;
/** Longest wait for the log of a base backup to be shipped, in milliseconds. */
const SHIPPING_MS = 30 * 60_000;

/**
 * Takes a base backup of the embedded server. It exists once its description does, which is written last.
 *
 * @param complete waits for what else belongs to it: the files that the rows name
 * @throws Error when the log that it needs has a gap
 */
export async function takeBase(
  context: BackupContext,
  vault: Vault,
  { complete, signal }: { complete: () => Promise<unknown>; signal: AbortSignal },
): Promise<Base> {
  const startedAt = new Date();
  const { server } = context;
  const about = {
    format: 1 as const,
    id: startedAt.toISOString().replaceAll(/[-:.]/g, ''),
    fieldtrace: VERSION,
    startedAt: startedAt.toISOString(),
  };
  const base = server
    ? await baseOfCluster(context, server, vault, about, signal)
    : {
        ...about,
        bytes: 0,
        externalLsn: await withSession(context.connection, findLsn),
        endedAt: new Date().toISOString(),
      };
  await complete();
  if (base.cluster) await untilShipped(context, vault.instance, base.cluster, signal);
  const stored = await vault.put(`bases/${base.id}`, Buffer.from(JSON.stringify(base)));
  if (stored === 'differs') throw new BackupError(`another base backup ${base.id} exists`);
  const { id, bytes, cluster } = base;
  await context.state.write('base', {
    instance: vault.instance,
    id,
    at: base.endedAt,
    startSegment: cluster?.startSegment,
    bytes,
  });
  return base;
}

async function baseOfCluster(
  { pace }: BackupContext,
  server: ServerFiles,
  vault: Vault,
  about: Pick<Base, 'format' | 'id' | 'fieldtrace' | 'startedAt'>,
  signal: AbortSignal,
): Promise<Base> {
  if (!(await server.archives())) {
    throw new BackupError(
      'PostgreSQL was started without an archive: stop every process that uses it, then start again',
    );
  }
  const client = await server.connect();
  let copied: { copied: Copied; bytes: number };
  let stopped: StoppedBackup;
  try {
    // A lost session ends the backup automatically.
    await startBackup(client, `fieldtrace ${about.id}`);
    copied = await storeBlocks(server, vault, { pace, signal });
    stopped = await stopBackup(client);
  } finally {
    await client.end().catch(() => {});
  }
  const startSegment = /\(file ([0-9A-F]{24})\)/.exec(stopped.label)?.[1];
  if (!startSegment) throw new BackupError('the backup label that PostgreSQL wrote names no segment');
  return {
    ...about,
    endedAt: new Date().toISOString(),
    bytes: copied.bytes,
    cluster: {
      ...copied.copied,
      startSegment,
      stopSegment: segmentBefore(startSegment.slice(0, 8), stopped.lsn),
      label: stopped.label,
      tablespaces: stopped.tablespaces,
      passwords: server.passwords(),
    },
  };
}

/** Stores the blocks of a data directory that the target does not have. Exported for a test with a slow target. */
export async function storeBlocks(
  server: Pick<ServerFiles, 'cluster'>,
  vault: Vault,
  { pace, signal }: Pick<BackupContext, 'pace'> & { signal: AbortSignal },
): Promise<{ copied: Copied; bytes: number }> {
  const there = new Set<string>();
  for await (const { name } of vault.list('blocks/')) there.add(name.slice('blocks/'.length));
  const limit = pLimit(AT_ONCE);
  const failing = new AbortController();
  const stopping = AbortSignal.any([signal, failing.signal]);
  const storing: Promise<void>[] = [];
  let bytes = 0;
  const copied = await copyCluster(
    server.cluster,
    async block => {
      bytes += block.length;
      const name = vault.aliasOf(block);
      if (there.has(name)) return name;
      there.add(name);
      // At most a few blocks wait in memory.
      if (storing.length > AT_ONCE) await storing.shift();
      const stored = limit(() => vault.putOnce(`blocks/${name}`, block));
      stored.catch(error => failing.abort(error));
      storing.push(stored);
      return name;
    },
    { pace, signal: stopping },
  );
  await Promise.all(storing);
  return { copied, bytes };
}

async function untilShipped(
  { state }: BackupContext,
  instance: string,
  { startSegment, stopSegment }: ClusterCopy,
  signal: AbortSignal,
): Promise<void> {
  for (const began = Date.now(); Date.now() - began < SHIPPING_MS; ) {
    const shipped = await state.read('shipped');
    if (shipped && shipped.instance !== instance)
      throw new BackupError('the backups got a new id in the meantime');
    if (shipped?.gap && !isBefore(shipped.gap.from, startSegment))
      throw new BackupError(`the WAL lacks ${shipped.gap.from}, which the base backup needs`);
    if (shipped?.last && !isBefore(shipped.last, stopSegment)) return;
    await sleep(LOOK_MS, undefined, { signal }).catch(error => {
      throw signal.reason ?? error;
    });
  }
  throw new BackupError(`WAL segment ${stopSegment} was not shipped in time`);
}
