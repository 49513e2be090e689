import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type FileLock, tryLock, whileLocked } from '../embedded-postgres/file-lock.ts';
import type { OpenDatabase } from '../embedded-postgres/open-database.ts';
import { openFileStore } from '../files/index.ts';
import type { Settings } from '../settings/settings.ts';
import type { Base } from './base.ts';
import { checkBackupSettings } from './check-settings.ts';
import type { BackupContext } from './context.ts';
import { type Loop, makeLoops, repeat } from './loops.ts';
import { openSealing } from './objects/sealing.ts';
import { throttle } from './objects/throttle.ts';
import { repeatLook } from './read-status.ts';
import { openState } from './state.ts';
import type { BackupStatus } from './status.ts';
import { troubleKeeper } from './troubles.ts';
import { makeWork } from './work.ts';

/** The backups of one process. Of several on one DATA_DIR one does the work; any may take over. */
export interface Backups {
  /** Begins to ship, and to take base backups when they are due. */
  start(): void;
  /** Takes a base backup now. @throws Error when it fails */
  takeBase(): Promise<Base>;
  /** The last known status; undefined before the first check. */
  status(): BackupStatus | undefined;
  /** Ends what needs the database. */
  pause(): Promise<void>;
  /** Ships what a database that has stopped left in the spool, for some seconds at most, and ends. */
  finish(): Promise<void>;
}

const MIB = 1024 ** 2;
/**
 * Niceness of the thread that compresses and encrypts. When the service uses both cores, the thread still gets a sixth of
 * one, which is enough for the WAL of that many writes.
 */
const SEALING_NICENESS = 5;
/** Longest that a stop waits for a request to the target, in milliseconds. */
const PAUSE_PATIENCE_MS = 5000;
/** Longest that a stop waits for the last of the log, in milliseconds. */
const FINISH_MS = 10_000;

/**
 * The backups that the settings ask for.
 *
 * @returns undefined without BACKUP_URL
 * @throws SettingsError
 */
export function openBackups(
  settings: Settings,
  database: Pick<OpenDatabase, 'connection' | 'backup'>,
  logger: Logger,
): Backups | undefined {
  if (settings.BACKUP_URL === undefined) return undefined;
  const { DATA_DIR, BACKUP_MAX_MIB_PER_SECOND } = settings;
  const { backupKey, target } = checkBackupSettings(settings);
  const context: BackupContext = {
    settings,
    backupKey,
    target,
    sealing: openSealing(1, SEALING_NICENESS),
    state: openState(DATA_DIR),
    pace: throttle(BACKUP_MAX_MIB_PER_SECOND * MIB),
    files: openFileStore(settings),
    connection: database.connection,
    server: database.backup,
    logger: logger.child({ service: 'backup' }),
  };
  return runBackups(context);
}

function runBackups(context: BackupContext): Backups {
  const { state, logger, sealing } = context;
  const stopping = new AbortController();
  const { signal } = stopping;
  const troubles = troubleKeeper(context);
  const work = makeWork(context, troubles, signal);
  const loops = makeLoops(work);
  let lock: FileLock | undefined;
  let known: BackupStatus | undefined;
  const running: Promise<void>[] = [];

  const isMine = async () => {
    const file = await state.lockFile('ship');
    if (lock) return true;
    lock = tryLock(file, 'exclusive');
    // Failures of the previous process are detected again.
    if (lock) await state.write('health', {});
    return lock !== undefined;
  };
  const begin = (chosen: Loop[]) => {
    running.push(...chosen.map(loop => repeat(loop, { isMine, troubles, signal })));
  };

  return {
    start() {
      begin([...loops.wal, ...loops.rest]);
      const keepStatus = (status: BackupStatus) => {
        known = status;
      };
      running.push(repeatLook(work.look, signal, keepStatus));
    },
    async takeBase() {
      begin(loops.wal);
      const wait = () => logger.warn('still waiting for the base backup of another process');
      return whileLocked(await state.lockFile('base'), wait, work.takeOne);
    },
    status: () => known,
    async pause() {
      stopping.abort(new Error('the process is stopping'));
      await Promise.race([Promise.all(running), sleep(PAUSE_PATIENCE_MS, undefined, { ref: false })]);
    },
    async finish() {
      const last = (async () => {
        if (await isMine()) await work.ship(AbortSignal.timeout(FINISH_MS));
      })()
        .catch(error => logger.warn({ err: error }, 'the rest of the WAL will be shipped at the next start'))
        // Not before: another process would ship what this one is still shipping.
        .finally(() => lock?.release());
      await Promise.race([last, sleep(FINISH_MS, undefined, { ref: false })]);
      await sealing.close();
    },
  };
}
