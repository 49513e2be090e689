import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { tryLock } from '../embedded-postgres/file-lock.ts';
import { type Base, takeBase } from './base.ts';
import { type BackupContext, vaultOpener } from './context.ts';
import { filePass } from './file-pass.ts';
import { checkKey, type Vault } from './objects/vault.ts';
import { ping } from './ping.ts';
import { looker } from './read-status.ts';
import { expire } from './retention.ts';
import { limitSpoolAndTell, shipSpool } from './ship.ts';
import type { StateStore } from './state.ts';
import { baseIsDue } from './status.ts';
import type { Troubles } from './troubles.ts';

/** The files in a bucket outlive this machine: they are looked through this often, in milliseconds. */
const BUCKET_MS = 3600_000;
/** Longest that the log waits for files, in milliseconds. */
const FILES_PATIENCE_MS = 5000;
const SHIPPING = 'shipping the log';
const FILES = 'shipping files';
const ARCHIVING = 'archiving the log';
const CLOSING = 'closing a segment of the log';

export type BackupWork = ReturnType<typeof makeWork>;

/** Closes a segment of the log, if anything was written since the last call. */
function segmentCloser(server: BackupContext['server']): () => Promise<void> {
  let closed: string | undefined;
  return async () => {
    closed = await server?.closeSegment(closed);
  };
}

/** Removes old backups after a new one, and logs it. */
async function finishBase(
  { settings, state, logger }: BackupContext,
  vault: Vault,
  base: Base,
): Promise<void> {
  await expire(vault, settings.BACKUP_KEEP_DAYS, new Date()).catch(error =>
    logger.warn({ err: error }, 'could not remove old backups; will retry after the next base backup'),
  );
  await noteVerification(vault, state).catch(error =>
    logger.debug({ err: error }, 'could not read the last verification'),
  );
  logger.info({ base: base.id, bytes: base.bytes }, 'took a base backup');
  await ping(settings.BACKUP_PING_URL, logger);
}

/** The jobs of the process that makes backups. */
export function makeWork(context: BackupContext, troubles: Troubles, signal: AbortSignal) {
  const { settings, state, server, logger } = context;
  const openVault = vaultOpener(context);
  const shipFilesOnce = filePass(context);
  const look = looker(context);
  const lagMs = settings.BACKUP_MAX_LAG_SECONDS * 1000;
  const limits = { maxLagSeconds: settings.BACKUP_MAX_LAG_SECONDS, everyHours: settings.BACKUP_EVERY_HOURS };
  const shipping = server && { spool: server.spool, state, logger };
  const oneByOne = pLimit(1);

  // A file should be in the target before the row that names it. A large file does not delay the WAL.
  async function filesFirst(stopped: AbortSignal): Promise<void> {
    if (settings.S3_BUCKET) return;
    const pass = openVault().then(vault => shipFilesOnce(vault, stopped));
    const reported = pass.catch(error => troubles.report(FILES, error));
    await Promise.race([reported, sleep(Math.min(lagMs / 4, FILES_PATIENCE_MS), undefined, { ref: false })]);
  }

  /** The caller holds the lock of base backups. */
  async function takeOne(): Promise<Base> {
    const vault = await openVault();
    await checkKey(context.target, vault.instance);
    const base = await takeBase(context, vault, { complete: () => shipFilesOnce(vault, signal), signal });
    await finishBase(context, vault, base);
    return base;
  }

  return {
    SHIPPING,
    FILES,
    ARCHIVING,
    CLOSING,
    look,
    takeOne,
    /** Waits for what this process ships already: a request in flight may outlive the patience of a stop. */
    async ship(stopped = signal): Promise<void> {
      if (!shipping) return;
      const prepare = () => filesFirst(stopped);
      await oneByOne(() => shipSpool(shipping, openVault, { signal: stopped, prepare }));
    },
    closeSegment: segmentCloser(server),
    // The other half of the time is for shipping it.
    closingPauseMs: (tookMs: number) => Math.max(0, lagMs / 2 - tookMs),
    async limitSpool(): Promise<void> {
      if (shipping) await limitSpoolAndTell(shipping, settings.BACKUP_MAX_SPOOL_BYTES);
    },
    /** @throws Error while the server cannot put its log into the spool */
    async checkArchiver(): Promise<void> {
      const { failing } = (await server?.archiver()) ?? {};
      if (failing === undefined) return;
      throw new Error(
        `PostgreSQL cannot put ${failing} into ${server?.spool}, so pg_wal grows; see its log, ${server?.log}`,
      );
    },
    shipFiles: async () => shipFilesOnce(await openVault(), signal),
    // A pass over many files takes its time: it may take a twentieth of it.
    filesPauseMs: (tookMs: number) => (settings.S3_BUCKET ? BUCKET_MS : Math.max(lagMs / 2, 20 * tookMs)),
    async takeBaseIfDue(): Promise<void> {
      const status = await look();
      if (
        !status.archives ||
        troubles.has(SHIPPING) ||
        troubles.has(ARCHIVING) ||
        !baseIsDue(status, limits, new Date())
      )
        return;
      const alone = tryLock(await state.lockFile('base'), 'exclusive');
      if (alone) await takeOne().finally(() => alone.release());
    },
  };
}

/** A backup may have been verified on another machine. */
async function noteVerification(vault: Vault, state: StateStore): Promise<void> {
  for await (const { name, modified } of vault.list('verified/')) {
    const verified = {
      instance: vault.instance,
      id: name.slice('verified/'.length),
      at: modified.toISOString(),
    };
    await state.update('verified', before => (before && before.at >= verified.at ? undefined : verified));
  }
}
