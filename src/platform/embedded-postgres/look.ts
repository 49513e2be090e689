import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { applicationDatabase, applicationRole, ownerRole } from './control.ts';
import type { EmbeddedConnection } from './index.ts';
import { findLayout, type Layout } from './layout.ts';
import { readPidFile } from './postmaster.ts';
import { socketDirectory, socketPort } from './socket.ts';

/** What can be seen of the embedded server in a DATA_DIR without starting, stopping or using it. */
export interface EmbeddedLook {
  /**
   * - none: nothing was ever started there
   * - gone: a server ran there, and its database is not there any more
   * - stopped: there is a database, and no server
   * - busy: the server starts, recovers or stops
   * - running: it can be asked
   */
  state: 'none' | 'gone' | 'stopped' | 'busy' | 'running';
  layout: Layout | undefined;
  /** the major version that made the database */
  major: string | undefined;
  /** as the role of the services; undefined unless it is running */
  connection: EmbeddedConnection | undefined;
  owner: EmbeddedConnection | undefined;
  /** what the server's log says of crashes in the last 24 hours, oldest first */
  crashes: string[];
}

const DAY_MS = 24 * 3600_000;
/** Bytes at the end of the server's log that are read, at most. */
const LOG_BYTES = 1024 * 1024;
/** A session or the server itself was killed; the server was not shut down before this start. */
const CRASH =
  /was terminated by signal|database system was interrupted|not properly shut down|could not write|PANIC:/;

/**
 * Looks at the embedded server of a DATA_DIR. It takes no lock and makes no file.
 *
 * @throws file system errors, for example when its files belong to another user
 */
export function lookAtEmbedded(dataDir: string, now: Date): EmbeddedLook {
  const layout = findLayout(dataDir);
  const version = layout && join(layout.cluster, 'PG_VERSION');
  if (!layout || !version || !existsSync(version)) {
    return {
      state: layout && existsSync(layout.log) ? 'gone' : 'none',
      layout,
      major: undefined,
      connection: undefined,
      owner: undefined,
      crashes: [],
    };
  }
  const file = readPidFile(layout);
  const host = socketDirectory(layout);
  // The process of a server in another container is not visible, its socket is.
  const hasSocket = existsSync(join(host, `.s.PGSQL.${socketPort}`));
  const isReady = file.is === 'alive' ? file.ready : hasSocket;
  const state = isReady ? 'running' : file.is === 'alive' || file.is === 'unwritten' ? 'busy' : 'stopped';
  const connectionOf = (user: string, passwordFile: string): EmbeddedConnection | undefined => {
    if (state !== 'running' || !existsSync(passwordFile)) return undefined;
    const password = readFileSync(passwordFile, 'utf8').trim();
    return { host, port: socketPort, user, password, database: applicationDatabase, ssl: false };
  };
  return {
    state,
    layout,
    major: readFileSync(version, 'utf8').trim(),
    connection: connectionOf(applicationRole, layout.password),
    owner: connectionOf(ownerRole, layout.ownerPassword),
    crashes: crashesIn(layout.log, now),
  };
}

/** The lines of the server's log about crashes. Each begins with its time in UTC (log_line_prefix). */
function crashesIn(log: string, now: Date): string[] {
  const size = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0) return [];
  const bytes = Buffer.alloc(Math.min(size, LOG_BYTES));
  const file = openSync(log, 'r');
  try {
    readSync(file, bytes, 0, bytes.length, size - bytes.length);
  } finally {
    closeSync(file);
  }
  return bytes
    .toString('utf8')
    .split('\n')
    .filter(line => CRASH.test(line))
    .filter(line => {
      const time = Date.parse(`${line.slice(0, 23).replace(' ', 'T')}Z`);
      return now.getTime() - time < DAY_MS;
    });
}
