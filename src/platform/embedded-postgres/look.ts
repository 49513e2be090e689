import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { applicationDatabase, applicationRole, ownerRole } from './control.ts';
import type { EmbeddedConnection } from './index.ts';
import { findLayout, type Layout } from './layout.ts';
import { readPidFile } from './postmaster.ts';
import { socketDirectory, socketPort } from './socket.ts';

/** State of the embedded server in a DATA_DIR, read without starting, stopping or using it. */
export interface EmbeddedLook {
  /**
   * - none: nothing was ever started there
   * - gone: a server ran there, and its database is not there any more
   * - stopped: there is a database, and no server
   * - busy: the server starts, recovers or stops
   * - running: it accepts connections
   */
  state: 'none' | 'gone' | 'stopped' | 'busy' | 'running';
  layout: Layout | undefined;
  /** the major version that made the database */
  major: string | undefined;
  /** as the role of the services; undefined unless it is running */
  connection: EmbeddedConnection | undefined;
  owner: EmbeddedConnection | undefined;
  /** what the server's log says of the last 24 hours */
  troubles: ServerTroubles;
}

/** Lines of a server's log, oldest first. */
export interface ServerTroubles {
  /** one for each time that it was killed or crashed: of its recovery, or, if it has not recovered, of its end */
  crashes: string[];
  /** what could not be written, such as on a full disk */
  failedWrites: string[];
}

/** A DATA_DIR without an embedded server, or none at all. */
export const NO_DATABASE: EmbeddedLook = {
  state: 'none',
  layout: undefined,
  major: undefined,
  connection: undefined,
  owner: undefined,
  troubles: { crashes: [], failedWrites: [] },
};

const DAY_MS = 24 * 3600_000;
/** Bytes at the end of the server's log that are read, at most. */
const LOG_BYTES = 1024 * 1024;
/** After a crash or a kill, of one of its processes or of all; not after a restore, whose data was interrupted, too. */
const RECOVERY = /database system was not properly shut down/;
/** How a crash begins. */
const CRASH = /was terminated by signal|PANIC:/;
const CLEAN_END = /database system is shut down/;
const FAILED_WRITE = /could not (?:write|extend|fsync)/;

/**
 * Looks at the embedded server of a DATA_DIR. It takes no lock and makes no file.
 *
 * @throws file system errors, for example when its files belong to another user
 */
export function lookAtEmbedded(dataDir: string, now: Date): EmbeddedLook {
  const layout = findLayout(dataDir);
  const version = layout && join(layout.cluster, 'PG_VERSION');
  if (!layout || !version || !existsSync(version)) {
    return { ...NO_DATABASE, state: layout && existsSync(layout.log) ? 'gone' : 'none', layout };
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
    troubles: troublesIn(endOf(layout.log), now),
  };
}

/** The end of a log, as text. */
function endOf(path: string): string {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0) return '';
  const bytes = Buffer.alloc(Math.min(size, LOG_BYTES));
  const file = openSync(path, 'r');
  try {
    readSync(file, bytes, 0, bytes.length, size - bytes.length);
  } finally {
    closeSync(file);
  }
  return bytes.toString('utf8');
}

/** Events of the last 24 hours in a server's log. Each line begins with its time in UTC (log_line_prefix). */
export function troublesIn(log: string, now: Date): ServerTroubles {
  const crashes: string[] = [];
  const failedWrites: string[] = [];
  let crashed: string | undefined;
  for (const line of log.split('\n')) {
    const time = Date.parse(`${line.slice(0, 23).replace(' ', 'T')}Z`);
    if (!(now.getTime() - time < DAY_MS)) continue;
    if (RECOVERY.test(line)) crashes.push(line);
    if (FAILED_WRITE.test(line)) failedWrites.push(line);
    if (CRASH.test(line)) crashed = line;
    else if (RECOVERY.test(line) || CLEAN_END.test(line)) crashed = undefined;
  }
  if (crashed !== undefined) crashes.push(crashed);
  return { crashes, failedWrites };
}
