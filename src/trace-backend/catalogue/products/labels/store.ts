import sql, { type Sql } from 'sql-template-tag';
import { type Database, execute, prepared } from '../../../../platform/database/database.ts';
import { groupedByKey, rowsByKey, sharedRead } from '../../../../platform/database/shared-read.ts';
import type { LabelStatus } from '../record/label-schemas.ts';
import { selectOwnProducts, selectProductsOwnedBy } from '../record/store.ts';

/** A label of a product; public once it is published. */
export interface Label {
  id: number;
  uuid: string;
  productId: number;
  status: LabelStatus;
  /** counts the changes of the label, its own content and its documents */
  version: number;
  /** title, language, fields, and other sent fields */
  content: Record<string, unknown>;
}

const LABEL = sql`id, uuid, product_id AS "productId", status, version, content`;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const labelsOfProducts = sharedRead(async (database, productIds: readonly number[]) => {
  const { text, values } =
    sql`SELECT ${LABEL} FROM product_labels WHERE product_id = ANY (${productIds}::integer[]) ORDER BY id`;
  const { rows } = await database.query<Label>({ name: 'find-labels', text, values });
  return groupedByKey(productIds, rows, ({ productId }) => productId);
});

/** The labels of a product, oldest first. */
export const findLabels = (database: Database, productId: number): Promise<Label[]> =>
  labelsOfProducts.one(database, productId);

/** The ids of the labels of these products. */
export async function findLabelIdsOf(database: Database, productIds: readonly number[]): Promise<number[]> {
  const { rows } = await database.query<{ id: number }>(sql`
    SELECT id FROM product_labels WHERE product_id = ANY (${productIds}::integer[])`);
  return rows.map(({ id }) => id);
}

export async function findLabel(database: Database, id: number): Promise<Label | undefined> {
  const { rows } = await database.query<Label>(sql`SELECT ${LABEL} FROM product_labels WHERE id = ${id}`);
  return rows[0];
}

/** Existing labels with these ids, by id. */
export async function findLabelsById(database: Database, ids: readonly number[]): Promise<Label[]> {
  if (ids.length === 0) return [];
  const { rows } = await database.query<Label>(sql`
    SELECT ${LABEL} FROM product_labels WHERE id = ANY (${ids}::integer[]) ORDER BY id`);
  return rows;
}

export async function findLabelByUuid(database: Database, uuid: string): Promise<Label | undefined> {
  if (!UUID.test(uuid)) return undefined;
  const { rows } = await database.query<Label>(sql`SELECT ${LABEL} FROM product_labels WHERE uuid = ${uuid}`);
  return rows[0];
}

/** Whether a product has a published label. */
export async function hasPublishedLabel(database: Database, productId: number): Promise<boolean> {
  const { rows } = await database.query<{ has: boolean }>(sql`
    SELECT EXISTS (SELECT FROM product_labels WHERE product_id = ${productId} AND status = 'PUBLISHED') AS has`);
  return rows[0]?.has ?? false;
}

/** Whether a published label of a product of the company shows a field of its content. */
export async function showsField(database: Database, companyId: number, name: string): Promise<boolean> {
  const { rows } = await database.query<{ shows: boolean }>(sql`
    SELECT EXISTS (
      SELECT FROM product_labels, json_array_elements(content -> 'fields') AS field
      WHERE product_id IN (${selectProductsOwnedBy(companyId)}) AND status = 'PUBLISHED'
        AND field ->> 'name' = ${name} AND field ->> 'visible' = 'true') AS shows`);
  return rows[0]?.shows ?? false;
}

const publishedLabels = sharedRead(async (database, uuids: readonly string[]) => {
  const { text, values } = sql`
    SELECT ${LABEL} FROM product_labels WHERE uuid = ANY (${uuids}::uuid[]) AND status = 'PUBLISHED'`;
  const { rows } = await database.query<Label>({ name: 'find-published-labels', text, values });
  return rowsByKey(uuids, rows, ({ uuid }) => uuid);
});

export async function findPublishedLabel(database: Database, uuid: string): Promise<Label | undefined> {
  return UUID.test(uuid) ? publishedLabels.one(database, uuid.toLowerCase()) : undefined;
}

/**
 * The ids and versions of published labels, in the order of their UUIDs; undefined for unpublished and unknown ones.
 *
 * @param more further expressions about `product_labels`, selected as `more`
 */
export async function findPublishedVersions<More>(
  database: Database,
  uuids: readonly string[],
  more: Sql,
): Promise<({ id: number; version: number; more: More } | undefined)[]> {
  const statement = sql`
    SELECT uuid, id, version, ${more} AS more FROM product_labels
    WHERE uuid = ANY (${uuids}::uuid[]) AND status = 'PUBLISHED'`;
  type Row = { uuid: string; id: number; version: number; more: More };
  const { rows } = await database.query<Row>(prepared(statement));
  return rowsByKey(uuids, rows, ({ uuid }) => uuid);
}

/** Counts new feedback about a label as unseen. */
export async function countUnseenFeedback(database: Database, id: number): Promise<void> {
  await execute(
    database,
    sql`UPDATE product_labels SET feedback_unseen = feedback_unseen + 1 WHERE id = ${id}`,
  );
}

/** Records that all feedback about a label has been seen. */
export async function noteFeedbackSeen(database: Database, id: number): Promise<void> {
  await execute(
    database,
    sql`UPDATE product_labels SET feedback_unseen = 0 WHERE id = ${id} AND feedback_unseen > 0`,
  );
}

/** A label with feedback that nobody has seen yet. */
export interface UnseenFeedback {
  labelId: number;
  title: string | null;
  productName: string;
  count: number;
}

/** The labels of a reader's own products that have unseen feedback, oldest first. */
export async function listUnseenFeedback(
  database: Database,
  reader: { userId: number; companyIds: readonly number[] },
  limit: number,
): Promise<UnseenFeedback[]> {
  const { rows } = await database.query<UnseenFeedback>(sql`
    SELECT product_labels.id AS "labelId", product_labels.content ->> 'title' AS title, own.name AS "productName",
      feedback_unseen AS count
    FROM product_labels JOIN (${selectOwnProducts(reader)}) AS own ON own.id = product_id
    WHERE feedback_unseen > 0
    ORDER BY product_labels.id LIMIT ${limit}`);
  return rows;
}

export async function insertLabel(
  database: Database,
  { uuid, productId, content }: Pick<Label, 'uuid' | 'productId' | 'content'>,
): Promise<Label> {
  const { rows } = await database.query<Label>(sql`
    INSERT INTO product_labels (uuid, product_id, status, content)
    VALUES (${uuid}, ${productId}, 'UNPUBLISHED', ${JSON.stringify(content)}) RETURNING ${LABEL}`);
  return rows[0] as Label;
}

export async function updateLabel(
  database: Database,
  { id, status, content }: Pick<Label, 'id' | 'status' | 'content'>,
): Promise<void> {
  await execute(
    database,
    sql`
    UPDATE product_labels SET status = ${status}, content = ${JSON.stringify(content)} WHERE id = ${id}`,
  );
}

/** Gives labels that have changed their next version. */
export async function touchLabels(database: Database, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await execute(
    database,
    sql`UPDATE product_labels SET version = version + 1 WHERE id = ANY (${ids}::integer[])`,
  );
}

export async function deleteLabels(database: Database, ids: readonly number[]): Promise<void> {
  await execute(database, sql`DELETE FROM product_labels WHERE id = ANY (${ids}::integer[])`);
}
