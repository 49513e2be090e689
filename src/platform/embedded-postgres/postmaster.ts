import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Layout } from './layout.ts';

/** The content of postmaster.pid. */
export type PidFile =
  | { is: 'absent' }
  /** A server has just created it and is about to write it. */
  | { is: 'unwritten' }
  /** A power cut left it without a pid; PostgreSQL would wait for a person to remove it. */
  | { is: 'empty' }
  /** This process is the server of this data directory; not ready: it starts, replays its log or shuts down. */
  | { is: 'alive'; pid: number; ready: boolean }
  /** Left behind; the pid is free or belongs to another process by now. */
  | { is: 'stale'; pid: number };

/** Counted from 0; pg_ctl uses it too. Connecting to the socket instead would log a line each time. */
const statusLine = 7;

/** How long an empty postmaster.pid may belong to a server that is just about to write it. */
const writingMilliseconds = 5_000;

/** Where a server writes its process id. */
export function pidFile(layout: Layout): string {
  return join(layout.cluster, 'postmaster.pid');
}

/** Checks whether the process in postmaster.pid is the server of this data directory. */
export function readPidFile(layout: Layout): PidFile {
  const path = pidFile(layout);
  let lines: string[];
  try {
    lines = readFileSync(path, 'utf8').split('\n');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { is: 'absent' };
    throw error;
  }
  const pid = Number.parseInt(lines[0] ?? '', 10);
  if (!(pid > 0)) {
    const written = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    return { is: Date.now() - written < writingMilliseconds ? 'unwritten' : 'empty' };
  }
  if (!isPostmaster(pid, layout.cluster)) return { is: 'stale', pid };
  return { is: 'alive', pid, ready: lines[statusLine]?.trim() === 'ready' };
}

/**
 * The pid alone proves nothing: containers reuse the same few numbers after every restart, and a zombie (whose
 * command line is empty) still accepts signals.
 */
function isPostmaster(pid: number, cluster: string): boolean {
  const command = commandLine(pid);
  if (!/(^|\/)postgres /.test(command)) return false;
  try {
    // A server works in its data directory: true even when that was moved or is reached by another path.
    const here = statSync(cluster);
    const there = statSync(`/proc/${pid}/cwd/`);
    return there.dev === here.dev && there.ino === here.ino;
  } catch {
    // No /proc, or not allowed to look: go by the arguments that we start it with.
    return `${command} `.includes(` -D ${cluster} `);
  }
}

/** The arguments with spaces between them; empty if the process does not exist. */
export function commandLine(pid: number): string {
  if (process.platform === 'linux') {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    } catch {
      return '';
    }
  }
  const { stdout } = spawnSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout ?? '';
}

/**
 * Stops the server with a fast shutdown: sessions are ended, everything is written, and the next start is quick.
 * Waits until it is gone, as long as that takes.
 * @param onWait called every ten seconds of waiting
 */
export async function stopPostmaster(layout: Layout, pid: number, onWait: () => void): Promise<void> {
  try {
    process.kill(pid, 'SIGINT');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
  let reportedAt = Date.now();
  while (isPostmaster(pid, layout.cluster)) {
    await sleep(10);
    if (Date.now() - reportedAt > 10_000) {
      reportedAt = Date.now();
      onWait();
    }
  }
}
