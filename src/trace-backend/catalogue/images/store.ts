import sql from 'sql-template-tag';
import { type Database, execute } from '../../../platform/database/database.ts';
import { rowsByKey, sharedRead } from '../../../platform/database/shared-read.ts';
import { isUuid } from '../../../platform/database/uuid.ts';

/** Images are displayed, documents are downloaded. */
export type Kind = 'image' | 'document';

/** An uploaded image or document. */
export interface Image {
  id: number;
  /** random UUID, in lower case */
  storageKey: string;
  kind: Kind;
  /** file name sent by the client */
  name: string;
  /** media type of the bytes received */
  contentType: string;
  /** bytes received */
  size: number;
  /** the uploader */
  userId: number;
  uploadedAt: Date;
}

const IMAGE = sql`id, storage_key AS "storageKey", kind, name, content_type AS "contentType", size,
  user_id AS "userId", uploaded_at AS "uploadedAt"`;

/** The fields of an image or document in answers. */
export type DescribedImage = Pick<Image, 'id' | 'storageKey' | 'name' | 'contentType' | 'size'>;

const images = sharedRead(async (database, storageKeys: readonly string[]) => {
  const { text, values } = sql`SELECT ${IMAGE} FROM images WHERE storage_key = ANY (${storageKeys}::uuid[])`;
  const { rows } = await database.query<Image>({ name: 'find-images', text, values });
  return rowsByKey(storageKeys, rows, ({ storageKey }) => storageKey);
});

/** Images and documents in the order of these storage keys; missing ones are left out. */
export async function findImages(database: Database, storageKeys: readonly string[]): Promise<Image[]> {
  const keys = storageKeys.filter(isUuid).map(key => key.toLowerCase());
  return (await images.many(database, keys)).filter(image => image !== undefined);
}

/** Like `findImages`, locked until the end of the transaction: their references do not change, and none expires. */
export async function lockImages(database: Database, storageKeys: readonly string[]): Promise<Image[]> {
  const keys = storageKeys.filter(isUuid);
  if (keys.length === 0) return [];
  // Always in the same order, so that transactions do not deadlock.
  const { rows } = await database.query<Image>(
    sql`SELECT ${IMAGE} FROM images WHERE storage_key = ANY (${keys}::uuid[]) ORDER BY storage_key FOR UPDATE`,
  );
  return rows;
}

/** Announces content that will be written to the file store; if it has no row at a time, it is removed. */
export async function announceImage(database: Database, storageKey: string, removeAt: Date): Promise<void> {
  await execute(
    database,
    sql`
    INSERT INTO image_leftovers (storage_key, remove_at) VALUES (${storageKey}, ${removeAt})`,
  );
}

/**
 * Stores an image or document that was announced and whose content is in the file store.
 *
 * @returns undefined if its content has been removed since
 */
export async function insertImage(
  database: Database,
  { storageKey, kind, name, contentType, size, userId, uploadedAt }: Omit<Image, 'id'>,
): Promise<Image | undefined> {
  const { rows } = await database.query<Image>(sql`
    WITH announced AS (DELETE FROM image_leftovers WHERE storage_key = ${storageKey} RETURNING storage_key)
    INSERT INTO images (storage_key, kind, name, content_type, size, user_id, uploaded_at, unused_since)
    SELECT storage_key, ${kind}, ${name}, ${contentType}, ${size}::integer, ${userId}::integer,
      ${uploadedAt}::timestamptz, ${uploadedAt}::timestamptz FROM announced
    RETURNING ${IMAGE}`);
  return rows[0];
}

/**
 * Deletes images and documents that no record has referred to since `before`, and schedules the removal of their content.
 * Locked ones are left for the next sweep.
 */
export async function expireImages(
  database: Database,
  { before, removeAt, limit }: { before: Date; removeAt: Date; limit: number },
): Promise<Image[]> {
  const { rows } = await database.query<Image>(sql`
    WITH old AS (
      SELECT storage_key FROM images WHERE unused_since < ${before}
      ORDER BY unused_since LIMIT ${limit} FOR UPDATE SKIP LOCKED
    ), leftovers AS (
      INSERT INTO image_leftovers (storage_key, remove_at) SELECT storage_key, ${removeAt}::timestamptz FROM old
    )
    DELETE FROM images USING old WHERE images.storage_key = old.storage_key
    RETURNING images.id, images.storage_key AS "storageKey", kind, name, content_type AS "contentType", size,
      user_id AS "userId", uploaded_at AS "uploadedAt"`);
  return rows;
}

/** The next images and documents after an id, by id. */
export async function listImages(database: Database, afterId: number, limit: number): Promise<Image[]> {
  const { rows } = await database.query<Image>(
    sql`SELECT ${IMAGE} FROM images WHERE id > ${afterId} ORDER BY id LIMIT ${limit}`,
  );
  return rows;
}

/**
 * The storage key of content to be removed now, locked until the end of the transaction; undefined if there is none.
 */
export async function takeLeftover(database: Database, now: Date): Promise<string | undefined> {
  const { rows } = await database.query<{ storageKey: string }>(sql`
    SELECT storage_key AS "storageKey" FROM image_leftovers WHERE remove_at < ${now}
    ORDER BY remove_at LIMIT 1 FOR UPDATE SKIP LOCKED`);
  return rows[0]?.storageKey;
}

export async function deleteLeftover(database: Database, storageKey: string): Promise<void> {
  await execute(database, sql`DELETE FROM image_leftovers WHERE storage_key = ${storageKey}`);
}
