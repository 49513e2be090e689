import { copyFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { migrate } from '../../src/platform/database/migrate.ts';
import type { TestDatabase } from './database.ts';
import { temporaryFolder } from './folder.ts';

const MIGRATIONS = new URL('../../src/trace-backend/migrations/', import.meta.url);

/**
 * Leaves the tables of the trace backend as the version before a migration had them, without rows.
 *
 * @param name file of the migration
 */
export async function migrateUpTo({ pool, connection }: TestDatabase, name: string): Promise<void> {
  await pool.query('DROP SCHEMA trace_backend CASCADE');
  const { folder, remove } = await temporaryFolder();
  for (const earlier of (await readdir(MIGRATIONS)).filter(file => file < name)) {
    await copyFile(new URL(earlier, MIGRATIONS), path.join(folder, earlier));
  }
  await migrate(connection, 'trace_backend', pathToFileURL(`${folder}/`));
  await remove();
}
