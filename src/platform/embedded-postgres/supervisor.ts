import { existsSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import { chooseAccount, refuseForeignCluster } from './account.ts';
import { archiveMatches, prepareArchive } from './archive.ts';
import { findBinaries } from './binaries.ts';
import { type Answer, queryServer } from './control.ts';
import { type FileLock, tryLock, whileLocked } from './file-lock.ts';
import { type Fill, hasCluster, initialise, removeUnfinished } from './initialise.ts';
import { type Launch, lastLogLine, launch, type Server, startFailure, willPass } from './launch.ts';
import { type Layout, prepareLayout, readPassword } from './layout.ts';
import { type PidFile, pidFile, readPidFile, stopPostmaster } from './postmaster.ts';
import { EmbeddedPostgresError } from './refusals.ts';
import { prepareSocketDirectory, removeSocketDirectory } from './socket.ts';

/** The use of a server by one process. */
export interface ServerLease extends Server {
  superuserPassword: string;
  /** Shared lock, by which others see that this process uses the server. */
  lock: FileLock;
}

/** How a server differs from one that only serves. */
export interface ServerOptions {
  /** Archives the write-ahead log into the spool. */
  archives?: boolean;
  /** Settings of a server that recovers from a backup. */
  recovery?: Readonly<Record<string, string>>;
  /** Fills a directory that is missing with a data directory, in place of initdb. */
  fill?: Fill;
  /** Only reads: roles and tables stay as an earlier version made them, and `owner` is the superuser. */
  asItIs?: boolean;
}

/** How long a start is retried after transient failures. */
const patienceMilliseconds = 30_000;
/** Interval of log lines while waiting. */
const reportMilliseconds = 10_000;

/**
 * Registers this process as a user of the server on this DATA_DIR; creates the database if there is none. From then
 * on, no other process stops the server.
 */
export async function acquireServer(
  dataDir: string,
  logger: Logger,
  system: string,
  options: ServerOptions,
): Promise<ServerLease> {
  const installed = findBinaries();
  const layout = prepareLayout(dataDir);
  if (options.fill === undefined && existsSync(layout.unfinishedRestore)) {
    throw new EmbeddedPostgresError(
      `DATA_DIR ${dataDir} contains an unfinished restore: run fieldtrace restore again.`,
    );
  }
  const lease = await inTransition(layout, logger, async () => {
    // It is only held exclusively within a transition.
    const lock = tryLock(layout.usersLock, 'shared');
    if (lock === undefined) {
      throw new EmbeddedPostgresError(
        `DATA_DIR ${dataDir} cannot be used: another program locks ${layout.usersLock}.`,
      );
    }
    try {
      removeUnfinished(layout);
      refuseForeignCluster(layout);
      // Faults of the directory are reported before those of accounts, which may all be refused.
      const exists = hasCluster(layout, installed);
      const choice = chooseAccount(layout, installed, system);
      if ('movedTo' in choice) {
        lock.release();
        logger.info(`no other account can reach ${layout.home}: the database will be in ${choice.movedTo}`);
        return undefined;
      }
      const { account, binaries } = choice;
      if (binaries !== installed) logger.info(`PostgreSQL runs from ${binaries.postgres}, which is a copy`);
      const socketDirectory = prepareSocketDirectory(layout, account);
      if (!exists) await initialise(layout, binaries, account, logger, options.fill);
      const superuserPassword = readPassword(layout, layout.superuserPassword);
      const { archives, recovery } = options;
      const settings = archives ? prepareArchive(layout, account) : { ...recovery };
      return { layout, binaries, account, socketDirectory, settings, superuserPassword, lock, logger };
    } catch (error) {
      lock.release();
      throw error;
    }
  });
  return lease ?? (await acquireServer(dataDir, logger, system, options));
}

/**
 * Returns the supervisor's session on a running server, starting it if necessary. Waits for a server that is
 * starting, replaying its WAL or shutting down as long as its process lives.
 * @throws EmbeddedPostgresError when the server does not start
 */
export async function connect(lease: ServerLease, signal: AbortSignal): Promise<pg.Client> {
  const began = Date.now();
  let reportedAt = began;
  let launched: Launch | undefined;
  for (;;) {
    signal.throwIfAborted();
    const file = readPidFile(lease.layout);
    const answer = mayAnswer(file) ? await tryToConnect(lease) : 'busy';
    if (typeof answer === 'object') {
      if (launched === undefined) lease.logger.info('using the running PostgreSQL');
      return answer;
    }
    if (answer === 'absent' && file.is !== 'alive') {
      if (launched?.ended !== undefined) await considerAnother(lease, launched, began);
      launched = await inTransition(lease.layout, lease.logger, () => launchIfAbsent(lease));
    }
    // Quick at first; a replay of the log may take minutes.
    await sleep(Math.min(5 + (Date.now() - began) / 50, 200));
    if (Date.now() - reportedAt > reportMilliseconds) {
      reportedAt = Date.now();
      lease.logger.info(`still waiting for PostgreSQL, which says: ${lastLogLine(lease.layout)}`);
    }
  }
}

/** A server whose process is not visible may answer too: in another container, on the same volume. */
function mayAnswer(file: PidFile): boolean {
  return file.is === 'alive' ? file.ready : file.is !== 'unwritten';
}

/**
 * Stops a server that runs already with other settings of its archive, such as one that outlived a kill of fieldtrace,
 * so that it is started with ours. One that other processes use goes on as it is.
 */
export async function stopUnlike(lease: ServerLease): Promise<void> {
  const { layout, logger } = lease;
  await inTransition(layout, logger, async () => {
    const file = readPidFile(layout);
    if (file.is !== 'alive' || !file.ready) return;
    const answer = await tryToConnect(lease);
    if (typeof answer !== 'object') return;
    const matches = await archiveMatches(answer, lease.settings).finally(() => answer.end());
    if (matches) return;
    lease.lock.release();
    const alone = tryLock(layout.usersLock, 'exclusive');
    try {
      if (alone) await stopPostmaster(layout, file.pid, () => {});
    } finally {
      alone?.release();
      lease.lock = tryLock(layout.usersLock, 'shared') as FileLock;
    }
    if (alone) logger.info('the running PostgreSQL archives to another place: restarting it');
    else if (lease.settings.archive_mode === 'on')
      logger.error(
        'PostgreSQL was started without an archive, and other processes use it: NOTHING IS BACKED UP until all of them have stopped',
      );
  });
}

/** Ends the use of the server; stops it if no other process uses it. */
export async function releaseServer(lease: ServerLease): Promise<void> {
  const { layout, logger } = lease;
  await inTransition(layout, logger, async () => {
    lease.lock.release();
    const alone = tryLock(layout.usersLock, 'exclusive');
    if (alone === undefined) {
      logger.info('left PostgreSQL to the other fieldtrace processes on this DATA_DIR');
      return;
    }
    try {
      await stopServer(lease);
    } finally {
      alone.release();
    }
  });
}

async function stopServer(lease: ServerLease): Promise<void> {
  const file = readPidFile(lease.layout);
  if (file.is === 'alive') {
    const onWait = () =>
      lease.logger.info(`still waiting for PostgreSQL to stop: ${lastLogLine(lease.layout)}`);
    await stopPostmaster(lease.layout, file.pid, onWait);
    removeSocketDirectory(lease.layout, lease.socketDirectory);
    lease.logger.info({ pid: file.pid }, 'stopped PostgreSQL');
    return;
  }
  const answer = await tryToConnect(lease);
  if (answer === 'absent') return;
  if (typeof answer === 'object') await answer.end();
  // For example one in another container on the same volume.
  lease.logger.warn('PostgreSQL keeps running: its process is not visible from here');
}

function inTransition<T>(layout: Layout, logger: Logger, work: () => Promise<T>): Promise<T> {
  const onWait = () =>
    logger.info('still waiting for another fieldtrace process that is starting or stopping PostgreSQL');
  return whileLocked(layout.transitionLock, onWait, work);
}

async function tryToConnect(lease: ServerLease): Promise<Answer> {
  try {
    return await queryServer(lease.socketDirectory, lease.superuserPassword);
  } catch (error) {
    const { code = '', message, syscall } = error as NodeJS.ErrnoException;
    if (syscall !== undefined) throw error;
    const hint = code.startsWith('28')
      ? `: ${lease.layout.superuserPassword} is not the file that was made with it`
      : '';
    throw new EmbeddedPostgresError(
      `PostgreSQL in DATA_DIR ${lease.layout.dataDir} rejected its supervisor (${message})${hint}.`,
      error,
    );
  }
}

async function launchIfAbsent(lease: ServerLease): Promise<Launch | undefined> {
  // Another process may have launched it while this one waited.
  const file = readPidFile(lease.layout);
  if (file.is === 'alive' || file.is === 'unwritten') return undefined;
  const answer = await tryToConnect(lease);
  if (typeof answer === 'object') await answer.end();
  if (answer !== 'absent') return undefined;
  // It may have been removed since the first launch, as it may be in /tmp.
  prepareSocketDirectory(lease.layout, lease.account);
  if (file.is === 'empty') rmSync(pidFile(lease.layout), { force: true });
  const launched = await launch(lease, file.is === 'stale' ? file.pid : undefined);
  if (launched.ended === undefined) lease.logger.info({ pid: launched.pid }, 'started PostgreSQL');
  return launched;
}

/** After a failed launch: waits a moment, or throws if another one would fail too. */
async function considerAnother(lease: ServerLease, launched: Launch, began: number): Promise<void> {
  const inTime = Date.now() - began < patienceMilliseconds;
  if (!inTime || !willPass(lease.layout, launched)) throw startFailure(lease.layout, launched);
  await sleep(200);
}
