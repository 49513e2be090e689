import path from 'node:path';
import type { Logger } from 'pino';
import type { Settings } from '../settings.ts';
import { type Connection, connectionFromUrl } from './database.ts';
import { startEmbeddedPostgres } from './embedded/index.ts';

/**
 * The configured database. An embedded one is shared with the other processes on the same DATA_DIR, and started if it
 * is not running.
 *
 * @throws EmbeddedPostgresError
 */
export async function openDatabase(
  { DATABASE_URL, DATA_DIR }: Pick<Settings, 'DATABASE_URL' | 'DATA_DIR'>,
  logger: Logger,
): Promise<{ connection: Connection; stop: () => Promise<void> }> {
  if (DATABASE_URL) return { connection: connectionFromUrl(DATABASE_URL), stop: async () => {} };
  return startEmbeddedPostgres({ dataDir: path.resolve(DATA_DIR), logger });
}
