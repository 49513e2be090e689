import { spawn } from 'node:child_process';
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fstatSync,
  openSync,
  readSync,
  rmSync,
  statfsSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Account, serverEnvironment } from './account.ts';
import type { Binaries } from './binaries.ts';
import { type Layout, openLog } from './layout.ts';
import { readPidFile } from './postmaster.ts';
import { isSevere, newestLine, refusalOfProgram } from './refusals.ts';
import { serverArguments } from './server-settings.ts';

/** Dependencies of running the server of a data directory. */
export interface Server {
  layout: Layout;
  binaries: Binaries;
  account: Account;
  socketDirectory: string;
  /** Settings of this server alone: those of its archive, or of a recovery. */
  settings: Readonly<Record<string, string>>;
  logger: Logger;
}

/** A server process that we started. */
export interface Launch {
  pid: number;
  /** How it ended, once it has: an exit code or the name of a signal. */
  ended?: string;
  /** Offset of its lines in the log, in bytes. */
  logOffset: number;
}

/** The log may grow to this; then it is kept once more as server.log.1. */
const largestLog = 16 * 1024 * 1024;

/**
 * Starts the server in a session of its own, so that it outlives a killed fieldtrace and a Ctrl-C passes it by;
 * returns when it has written postmaster.pid or has ended. The caller holds the transition lock.
 * @param stalePid what a postmaster.pid that was left behind names
 */
export async function launch(server: Server, stalePid?: number): Promise<Launch> {
  const { layout, binaries, account, socketDirectory, settings, logger } = server;
  rotateLog(layout);
  const file = openLog(layout.log);
  const [command, ...words] = [
    ...account.prefix,
    binaries.postgres,
    ...serverArguments(layout.cluster, socketDirectory, settings),
  ];
  const environment = serverEnvironment();
  // PostgreSQL itself ignores a postmaster.pid with the pid of one of its ancestors, even if it is alive, after its
  // second check (shared memory). To remove the file here could hit one that was just written.
  if (stalePid !== undefined) environment.PG_GRANDPARENT_PID = String(stalePid);
  const launched: Launch = { pid: 0, logOffset: fstatSync(file).size };
  try {
    const child = spawn(command as string, words, {
      uid: account.uid,
      gid: account.gid,
      cwd: '/',
      env: environment,
      detached: true,
      stdio: ['ignore', file, file],
    });
    const ended = new Promise<void>((resolve, reject) => {
      child.once('error', error => {
        launched.ended = 'never started';
        reject(error);
      });
      child.once('exit', (code, signal) => {
        launched.ended = signal ?? String(code);
        logger[code === 0 ? 'debug' : 'error']({ pid: child.pid, ended: launched.ended }, 'PostgreSQL ended');
        resolve();
      });
    });
    child.unref();
    launched.pid = child.pid ?? 0;
    await Promise.race([ended, untilPidFile(layout, launched)]);
  } finally {
    closeSync(file);
  }
  return launched;
}

async function untilPidFile(layout: Layout, launched: Launch): Promise<void> {
  while (launched.ended === undefined) {
    const file = readPidFile(layout);
    if (file.is === 'alive' && file.pid === launched.pid) return;
    await sleep(2);
  }
}

/** Troubles that pass: another server is just starting, or the processes of a killed one still end. */
export function willPass(layout: Layout, launched: Launch): boolean {
  // Stopped by someone, or killed, perhaps for lack of memory.
  if (launched.ended === '0' || launched.ended === 'SIGKILL') return true;
  const text = logSince(layout, launched.logOffset).join('\n');
  return /lock file ".*" already exists|pre-existing shared memory block/.test(text);
}

/** The message for a server that ended while it was starting. */
export function startFailure(layout: Layout, launched: Launch): Error {
  const lines = logSince(layout, launched.logOffset);
  // On a full disk the log has nothing either.
  const { bavail, bsize } = statfsSync(layout.home);
  if (!lines.some(isSevere) && bavail * bsize < 64 * 1024) lines.push('No space left on device');
  return refusalOfProgram(layout.dataDir, 'PostgreSQL', launched.ended, lines, layout.log);
}

/** The server's last line, for progress messages. */
export function lastLogLine(layout: Layout): string {
  return newestLine(logSince(layout, 0));
}

/** The lines of the log from an offset in bytes, at most the last 64 kB of them. */
function logSince(layout: Layout, offset: number): string[] {
  if (!existsSync(layout.log)) return [];
  const file = openSync(layout.log, 'r');
  try {
    const { size } = fstatSync(file);
    // A log that was rotated meanwhile is read from its start.
    const from = Math.max(offset <= size ? offset : 0, size - 65_536);
    const bytes = Buffer.alloc(size - from);
    readSync(file, bytes, 0, bytes.length, from);
    return bytes
      .toString('utf8')
      .split('\n')
      .filter(line => line !== '');
  } finally {
    closeSync(file);
  }
}

/** Keeps the log bounded. The server goes on writing where the file now ends, because it appends. */
export function rotateLog(layout: Layout): void {
  if ((statSync(layout.log, { throwIfNoEntry: false })?.size ?? 0) < largestLog) return;
  const kept = `${layout.log}.1`;
  try {
    // Removed first: root must not write through an existing symbolic link.
    rmSync(kept, { force: true });
    copyFileSync(layout.log, kept, constants.COPYFILE_EXCL);
  } catch {
    // On a full disk the old lines go.
  }
  truncateSync(layout.log);
}
