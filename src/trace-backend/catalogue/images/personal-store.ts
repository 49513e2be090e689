import type pg from 'pg';
import sql from 'sql-template-tag';
import { type Database, execute } from '../../../platform/database/database.ts';
import type { Image } from './store.ts';

export type PersonalImage = Omit<Image, 'userId'>;

/** The images and documents that a user uploaded. */
export function imagesBy(userId: number): pg.QueryConfig {
  return sql`
    SELECT id, storage_key AS "storageKey", kind, name, content_type AS "contentType", size,
      uploaded_at AS "uploadedAt"
    FROM images WHERE user_id = ${userId} ORDER BY id`;
}

/** Marks a user's orphaned images and documents for removal by the next sweep. */
export async function expireImagesBy(database: Database, userId: number): Promise<void> {
  await execute(
    database,
    sql`
    UPDATE images SET unused_since = to_timestamp(0) WHERE user_id = ${userId} AND unused_since IS NOT NULL`,
  );
}
