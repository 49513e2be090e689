import sql from 'sql-template-tag';
import type { Database } from './database.ts';
import { ADVISORY_LOCKS } from './locks/advisory-locks.ts';

/** Locks the store's id until the end of the transaction. */
export async function lockFileStoreId(database: Database): Promise<void> {
  await database.query(sql`SELECT pg_advisory_xact_lock(${ADVISORY_LOCKS.fileStore})`);
}

/** The id of the store that holds the service's files; undefined while none is recorded. */
export async function findFileStoreId(database: Database): Promise<string | undefined> {
  const { rows } = await database.query<{ id: string }>(sql`SELECT id FROM file_store`);
  return rows[0]?.id;
}

export async function recordFileStoreId(database: Database, id: string, now: Date): Promise<void> {
  await database.query(sql`
    INSERT INTO file_store (id, recorded_at) VALUES (${id}, ${now})
    ON CONFLICT (one) DO UPDATE SET id = excluded.id, recorded_at = excluded.recorded_at`);
}
