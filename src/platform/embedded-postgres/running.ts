import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { findBinaries } from './binaries.ts';
import { applicationDatabase, applicationRole } from './control.ts';
import type { EmbeddedConnection } from './index.ts';
import { EmbeddedPostgresError } from './refusals.ts';
import { socketDirectory, socketPort } from './socket.ts';

/**
 * How to reach the server that another fieldtrace keeps running in a DATA_DIR, where its database is of another major
 * version than the PostgreSQL which this fieldtrace brings; undefined where it is of the same one.
 *
 * @throws EmbeddedPostgresError where there is no database, or no server running
 */
export function otherMajorIn(dataDir: string): EmbeddedConnection | undefined {
  const version = join(dataDir, 'postgres', 'data', 'PG_VERSION');
  if (!existsSync(version)) throw new EmbeddedPostgresError(`DATA_DIR ${dataDir} contains no database.`);
  const major = readFileSync(version, 'utf8').trim();
  if (major === findBinaries().major) return undefined;
  const home = realpathSync(join(dataDir, 'postgres'));
  const host = socketDirectory({ home, cluster: join(home, 'data') });
  if (!existsSync(join(host, `.s.PGSQL.${socketPort}`))) {
    throw new EmbeddedPostgresError(
      `DATA_DIR ${dataDir} contains a database of PostgreSQL ${major}, which this version cannot start: start the ` +
        'fieldtrace version that created it, and keep it running until the move has ended.',
    );
  }
  return {
    host,
    port: socketPort,
    user: applicationRole,
    password: readFileSync(join(home, 'password'), 'utf8').trim(),
    database: applicationDatabase,
    ssl: false,
  };
}
