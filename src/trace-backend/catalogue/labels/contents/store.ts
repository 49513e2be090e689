import sql from 'sql-template-tag';
import { type Database, execute } from '../../../../platform/database/database.ts';
import type { Content } from '../../products/record/store.ts';

/** A label's content about its product: a copy that is changed independently. */
export type OwnContent = Content & { name: string; company?: Record<string, unknown> };

/** A label's own content; undefined if it has none yet. */
export async function findOwn(database: Database, labelId: number): Promise<OwnContent | undefined> {
  const { rows } = await database.query<{ own: OwnContent | null }>(sql`
    SELECT own FROM product_labels WHERE id = ${labelId}`);
  return rows[0]?.own ?? undefined;
}

/**
 * Stores a label's own content.
 *
 * @param publicFiles storage keys of the images and documents that everyone may read while the label is published
 */
export async function setOwn(
  database: Database,
  labelId: number,
  own: OwnContent,
  publicFiles: readonly string[],
): Promise<void> {
  await execute(
    database,
    sql`
    UPDATE product_labels SET own = ${JSON.stringify(own)}, public_files = ${publicFiles}::uuid[]
    WHERE id = ${labelId}`,
  );
}

/**
 * Records that a label was compared with a version of its product.
 *
 * @param version version of the product
 */
export async function setCompared(database: Database, labelId: number, version: number): Promise<void> {
  await execute(database, sql`UPDATE product_labels SET compared_version = ${version} WHERE id = ${labelId}`);
}

/** The version of its product with which a label was last compared; 0 if it never was. */
export async function findCompared(database: Database, labelId: number): Promise<number> {
  const { rows } = await database.query<{ compared: number }>(sql`
    SELECT compared_version AS compared FROM product_labels WHERE id = ${labelId}`);
  return rows[0]?.compared ?? 0;
}

/** The published labels of a product with own content, and the product versions that they were last compared with. */
export async function findPublishedCopies(
  database: Database,
  productId: number,
): Promise<{ id: number; compared: number }[]> {
  const { rows } = await database.query<{ id: number; compared: number }>(sql`
    SELECT id, compared_version AS compared FROM product_labels
    WHERE product_id = ${productId} AND status = 'PUBLISHED' AND own IS NOT NULL`);
  return rows;
}

/** The products of these labels. */
export async function findProductIds(database: Database, labelIds: readonly number[]): Promise<number[]> {
  const { rows } = await database.query<{ id: number }>(sql`
    SELECT DISTINCT product_id AS id FROM product_labels WHERE id = ANY (${labelIds}::integer[])`);
  return rows.map(({ id }) => id);
}

/** Whether one of these labels is published and shows this image or document to everyone. */
export async function isPublicIn(
  database: Database,
  labelIds: readonly number[],
  storageKey: string,
): Promise<boolean> {
  const { rows } = await database.query<{ is: boolean }>(sql`
    SELECT EXISTS (SELECT FROM product_labels WHERE id = ANY (${labelIds}::integer[]) AND status = 'PUBLISHED'
      AND ${storageKey}::uuid = ANY (public_files)) AS is`);
  return rows[0]?.is ?? false;
}

/** Whether one of these labels is published. */
export async function isAnyPublished(database: Database, labelIds: readonly number[]): Promise<boolean> {
  const { rows } = await database.query<{ is: boolean }>(sql`
    SELECT EXISTS (SELECT FROM product_labels WHERE id = ANY (${labelIds}::integer[]) AND status = 'PUBLISHED') AS is`);
  return rows[0]?.is ?? false;
}
