import path from 'node:path';
import type { Logger } from 'pino';
import { type Connection, connectionFromUrl } from '../database/database.ts';
import { type Settings, SettingsError } from '../settings/settings.ts';
import { type ServerFiles, startEmbeddedPostgres } from './index.ts';

export type DatabaseSettings = Pick<
  Settings,
  | 'DATABASE_URL'
  | 'DATABASE_OWNER_URL'
  | 'READ_DATABASE_URL'
  | 'DATA_DIR'
  | 'BACKUP_URL'
  | 'BACKUP_MAX_LAG_SECONDS'
>;

/** A database that the services can use. */
export interface OpenDatabase {
  /** of the role of the services */
  connection: Connection;
  /** of the role that owns the tables; the same object if one role does everything */
  owner: Connection;
  /** of an embedded server, what its backup needs */
  backup?: ServerFiles;
  stop: () => Promise<void>;
}

/**
 * The configured database. An embedded one is shared with the other processes on the same DATA_DIR, and started if it
 * is not running.
 *
 * @throws EmbeddedPostgresError, SettingsError
 */
export async function openDatabase(settings: DatabaseSettings, logger: Logger): Promise<OpenDatabase> {
  const { DATABASE_URL, DATA_DIR, BACKUP_URL } = settings;
  if (DATABASE_URL) return { ...externalDatabase(DATABASE_URL, settings), stop: async () => {} };
  for (const name of ['DATABASE_OWNER_URL', 'READ_DATABASE_URL'] as const)
    if (settings[name]) throw new SettingsError(`${name} needs DATABASE_URL as well`);
  return startEmbeddedPostgres({
    dataDir: path.resolve(DATA_DIR),
    logger,
    archives: BACKUP_URL !== undefined,
  });
}

/** How both roles reach a server of the operator's own. */
export function externalDatabase(
  url: string,
  { DATABASE_OWNER_URL }: Pick<Settings, 'DATABASE_OWNER_URL'>,
): Pick<OpenDatabase, 'connection' | 'owner'> {
  const connection = connectionFromUrl(url);
  return { connection, owner: DATABASE_OWNER_URL ? connectionFromUrl(DATABASE_OWNER_URL) : connection };
}
