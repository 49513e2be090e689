import { resolve } from 'node:path';
import type pg from 'pg';
import type { Logger } from 'pino';
import { type ArchiverState, archiveMatches, closeSegment, readArchiverState } from './archive.ts';
import { applicationDatabase, applicationRole, ownerRole, prepareDatabase, queryServer } from './control.ts';
import { superuser } from './initialise.ts';
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

/** A server's files, and a way in that stays open when pools have taken every connection. */
export interface ServerFiles {
  /** PostgreSQL's data directory. */
  cluster: string;
  /** Where it archives its write-ahead log. */
  spool: string;
  /** The passwords of its roles, by the names of their files. */
  passwords(): Record<string, string>;
  /** Whether the server was started with the archive that the options ask for. */
  archives(): Promise<boolean>;
  /** Whether the archive takes what the server wants to put there. */
  archiver(): Promise<ArchiverState>;
  /**
   * Closes the segment of the log if anything was written since the last time, of which this returned what to pass;
   * undefined closes it in any case.
   */
  closeSegment(since: string | undefined): Promise<string>;
  /** The server's own log. */
  log: string;
  /** A new session of the superuser; the caller ends it. */
  connect(): Promise<pg.Client>;
}

/** For new pg.Pool(connection) and new pg.Client(connection). The same after every restart of the server. */
export interface EmbeddedConnection {
  /** The directory of a unix socket. */
  host: string;
  port: number;
  user: string;
  password: string;
  database: string;
  /** Given, so that a PGSSLMODE in the environment does not ask the socket for TLS. */
  ssl: false;
}

export interface EmbeddedPostgres {
  /** of the role of the services, which cannot change packets, log and audit */
  connection: EmbeddedConnection;
  /** of the role that owns the tables, and migrates them */
  owner: EmbeddedConnection;
  /** The server as a backup needs it. */
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
 * @param options.archives turns the archive on; see ServerOptions
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
    return await occupy(lease, options.asItIs === true);
  } catch (error) {
    throw asRefusal(dataDir, error);
  }
}

async function occupy(lease: ServerLease, asItIs: boolean): Promise<EmbeddedPostgres> {
  let watch: Watch | undefined;
  let service: string;
  let owner: { user: string; password: string };
  try {
    service = readPassword(lease.layout, lease.layout.password);
    await stopUnlike(lease);
    watch = await watchServer(lease);
    if (!asItIs) await prepare(lease, watch.control());
    owner = asItIs
      ? { user: superuser, password: lease.superuserPassword }
      : { user: ownerRole, password: readPassword(lease.layout, lease.layout.ownerPassword) };
  } catch (error) {
    await watch?.end();
    await releaseServer(lease).catch(err => lease.logger.error({ err }, 'leaving PostgreSQL as it is'));
    throw error;
  }
  const connectionOf = (user: string, password: string): EmbeddedConnection => ({
    host: lease.socketDirectory,
    port: socketPort,
    user,
    password,
    database: applicationDatabase,
    ssl: false,
  });
  const { end } = watch;
  let stopped: Promise<void> | undefined;
  return {
    connection: connectionOf(applicationRole, service),
    owner: connectionOf(owner.user, owner.password),
    backup: {
      cluster: lease.layout.cluster,
      spool: lease.layout.spool,
      passwords: () => readPasswords(lease.layout),
      archives: () => withSession(lease, client => archiveMatches(client, lease.settings)),
      archiver: () => withSession(lease, readArchiverState),
      closeSegment: since => withSession(lease, client => closeSegment(client, since)),
      log: lease.layout.log,
      connect: () => openSession(lease),
    },
    stop: () => {
      stopped ??= end().then(() => releaseServer(lease));
      return stopped;
    },
  };
}

/** @throws EmbeddedPostgresError */
async function prepare(lease: ServerLease, control: pg.Client): Promise<void> {
  const { layout } = lease;
  try {
    await prepareDatabase(control, layout, () => openSession(lease, applicationDatabase));
  } catch (error) {
    if (error instanceof EmbeddedPostgresError) throw error;
    throw refusalOfProgram(layout.dataDir, 'PostgreSQL', undefined, [(error as Error).message], layout.log);
  }
}

/** @throws Error while the server is away */
async function openSession(
  { socketDirectory, superuserPassword }: ServerLease,
  database?: string,
): Promise<pg.Client> {
  const answer = await queryServer(socketDirectory, superuserPassword, database);
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
