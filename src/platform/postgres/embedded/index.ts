import { resolve } from 'node:path';
import type pg from 'pg';
import type { Logger } from 'pino';
import { archiveMatches } from './archive.ts';
import { applicationDatabase, applicationRole, askServer, prepareDatabase } from './control.ts';
import { readPassword, readPasswords } from './layout.ts';
import { SYSTEM_DIRECTORY } from './outside.ts';
import { asRefusal, EmbeddedPostgresError, refusalOfProgram } from './refusals.ts';
import { socketPort } from './socket.ts';
import {
  acquireServer,
  releaseServer,
  type ServerLease,
  type ServerOptions,
  stopUnlike,
} from './supervisor.ts';
import { type Watch, watchServer } from './watch.ts';

export { EmbeddedPostgresError };

/** A server's files, and a way in that stays open when pools have taken every place. */
export interface ServerFiles {
  /** PostgreSQL's data directory. */
  cluster: string;
  /** Where it archives its write-ahead log. */
  spool: string;
  /** The passwords of its roles, by the names of their files. */
  passwords(): Record<string, string>;
  /** Whether the server was started with the archive that the options ask for. */
  archives(): Promise<boolean>;
  /** A new session of the superuser; the caller ends it. */
  connect(): Promise<pg.Client>;
}

export interface EmbeddedPostgres {
  /** For new pg.Pool(connection) and new pg.Client(connection). The same after every restart of the server. */
  connection: {
    /** The directory of a unix socket. */
    host: string;
    port: number;
    user: string;
    password: string;
    database: string;
    /** Given, so that a PGSSLMODE in the environment does not ask the socket for TLS. */
    ssl: false;
  };
  /** What a backup needs of the server. */
  backup: ServerFiles;
  /**
   * Leaves the server; stops it when no other fieldtrace process uses it. End the pools before: their statements
   * would be aborted. May be called twice.
   */
  stop(): Promise<void>;
}

/**
 * Starts PostgreSQL under DATA_DIR, or adopts the one that runs there, and keeps it running until stop(): when
 * it dies it is started again, and pools reconnect. Several processes may use one DATA_DIR; they share one
 * server. See docs/decisions/embedded-postgres.md.
 * @param options.dataDir DATA_DIR; made if missing
 * @param options.archiveSeconds turns the archive on; see ServerOptions
 * @param options.systemDirectory where root keeps what other accounts cannot reach elsewhere
 * @throws EmbeddedPostgresError with one sentence for the operator
 */
export async function startEmbeddedPostgres(
  options: ServerOptions & { dataDir: string; logger: Logger; systemDirectory?: string },
): Promise<EmbeddedPostgres> {
  const dataDir = resolve(options.dataDir);
  try {
    const system = options.systemDirectory ?? SYSTEM_DIRECTORY;
    const lease = await acquireServer(dataDir, options.logger, system, options);
    return await occupy(lease);
  } catch (error) {
    throw asRefusal(dataDir, error);
  }
}

async function occupy(lease: ServerLease): Promise<EmbeddedPostgres> {
  let watch: Watch | undefined;
  let password: string;
  try {
    password = readPassword(lease.layout, lease.layout.password);
    await stopUnlike(lease);
    watch = await watchServer(lease);
    await prepareDatabase(watch.control(), password).catch(error => {
      throw refusalOfProgram(
        lease.layout.dataDir,
        'PostgreSQL',
        undefined,
        [error.message],
        lease.layout.log,
      );
    });
  } catch (error) {
    await watch?.end();
    await releaseServer(lease).catch(err => lease.logger.error({ err }, 'PostgreSQL is left as it is'));
    throw error;
  }
  const { end } = watch;
  let stopped: Promise<void> | undefined;
  return {
    connection: {
      host: lease.socketDirectory,
      port: socketPort,
      user: applicationRole,
      password,
      database: applicationDatabase,
      ssl: false,
    },
    backup: {
      cluster: lease.layout.cluster,
      spool: lease.layout.spool,
      passwords: () => readPasswords(lease.layout),
      archives: () => withSession(lease, client => archiveMatches(client, lease.settings)),
      connect: () => openSession(lease),
    },
    stop: () => {
      stopped ??= end().then(() => releaseServer(lease));
      return stopped;
    },
  };
}

/** @throws Error while the server is away */
async function openSession({ socketDirectory, superuserPassword }: ServerLease): Promise<pg.Client> {
  const answer = await askServer(socketDirectory, superuserPassword);
  if (typeof answer === 'object') return answer;
  throw new Error('PostgreSQL takes no sessions at present');
}

async function withSession<T>(lease: ServerLease, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await openSession(lease);
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
