import { copyFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { migrate } from '../../src/platform/database/migrate.ts';
import type { TestDatabase } from './database.ts';
import { temporaryFolder } from './folder.ts';

const MIGRATIONS = {
  trace_backend: new URL('../../src/trace-backend/migrations/', import.meta.url),
  packet_service: new URL('../../src/packet-service/migrations/', import.meta.url),
};

/**
 * Leaves the tables of a service as the version before a migration had them, without rows.
 *
 * @param name file of the migration
 */
export async function migrateUpTo(
  { pool, connection }: TestDatabase,
  name: string,
  schema: keyof typeof MIGRATIONS = 'trace_backend',
): Promise<void> {
  await pool.query(`DROP SCHEMA ${schema} CASCADE`);
  const { folder, remove } = await temporaryFolder();
  for (const earlier of (await readdir(MIGRATIONS[schema])).filter(file => file < name)) {
    await copyFile(new URL(earlier, MIGRATIONS[schema]), path.join(folder, earlier));
  }
  await migrate(connection, schema, pathToFileURL(`${folder}/`));
  await remove();
}
