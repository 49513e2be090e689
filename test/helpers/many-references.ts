import type { Database } from '../../src/platform/database/database.ts';

/** Stores the rows of so many pictures without their bytes, by SQL alone, and gives their storage keys. */
export async function fillImages(database: Database, userId: number, count: number): Promise<string[]> {
  const { rows } = await database.query<{ key: string }>({
    text: `INSERT INTO images (storage_key, kind, name, content_type, size, user_id, uploaded_at)
      SELECT gen_random_uuid(), 'image', 'photo.jpg', 'image/jpeg', 6681, $1, now() FROM generate_series(1, $2::int)
      RETURNING storage_key AS key`,
    values: [userId, count],
  });
  return rows.map(({ key }) => key);
}

/** Stores a few value chains by SQL alone, and gives their ids. */
export async function fillValueChains(database: Database, userId: number): Promise<number[]> {
  const { rows } = await database.query<{ id: number }>({
    text: `INSERT INTO value_chains (name, status, folded, created_by, created_at, updated_at)
      SELECT name, 'ENABLED', lower(name), $1, now(), now() FROM unnest(ARRAY['Coffee', 'Tea', 'Cocoa']) AS name
      RETURNING id`,
    values: [userId],
  });
  return rows.map(({ id }) => id);
}
