import { resolve } from 'node:path';
import type { Logger } from 'pino';
import { applicationDatabase, applicationRole, prepareDatabase } from './control.ts';
import { readPassword } from './layout.ts';
import { SYSTEM_DIRECTORY } from './outside.ts';
import { asRefusal, EmbeddedPostgresError, refusalOfProgram } from './refusals.ts';
import { socketPort } from './socket.ts';
import { acquireServer, releaseServer, type ServerLease } from './supervisor.ts';
import { type Watch, watchServer } from './watch.ts';

export { EmbeddedPostgresError };

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
 * @param options.systemDirectory where root keeps what other accounts cannot reach elsewhere
 * @throws EmbeddedPostgresError with one sentence for the operator
 */
export async function startEmbeddedPostgres(options: {
  dataDir: string;
  logger: Logger;
  systemDirectory?: string;
}): Promise<EmbeddedPostgres> {
  const dataDir = resolve(options.dataDir);
  try {
    const lease = await acquireServer(dataDir, options.logger, options.systemDirectory ?? SYSTEM_DIRECTORY);
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
    stop: () => {
      stopped ??= end().then(() => releaseServer(lease));
      return stopped;
    },
  };
}
