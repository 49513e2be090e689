import sql from 'sql-template-tag';
import type { Database } from '../../../platform/database/database.ts';
import type { Page } from '../../base/contract/schemas.ts';
import type { Lists } from '../../base/lists/lists.ts';
import { selectProductsOfCompany } from '../products/record/store.ts';
import type { SORTABLE } from './schemas.ts';

/** What a product is sold as, such as a bag of a kilogram. */
export interface FinalProduct {
  id: number;
  productId: number;
  name: string;
  description: string | null;
  /** its measure unit type */
  unitId: number | null;
  /** the labels that it carries, in order */
  labelIds: number[];
  /** counts its changes */
  version: number;
}

const FINAL_PRODUCT = sql`id, product_id AS "productId", name, description, unit_id AS "unitId", version,
  ARRAY(SELECT label_id FROM final_product_labels WHERE final_product_id = final_products.id ORDER BY position)
    AS "labelIds"`;

export async function findFinalProduct(database: Database, id: number): Promise<FinalProduct | undefined> {
  const { rows } = await database.query<FinalProduct>(sql`
    SELECT ${FINAL_PRODUCT} FROM final_products WHERE id = ${id}`);
  return rows[0];
}

/** Stores a final product; the transaction holds the product's row lock. */
export async function insertFinalProduct(
  database: Database,
  { productId, name, description, unitId, labelIds }: Omit<FinalProduct, 'id' | 'version'>,
  at: Date,
): Promise<number> {
  const { rows } = await database.query<{ id: number }>(sql`
    INSERT INTO final_products (product_id, name, description, unit_id, created_at, updated_at)
    VALUES (${productId}, ${name}, ${description}, ${unitId}, ${at}, ${at}) RETURNING id`);
  const { id } = rows[0] as { id: number };
  await insertLabels(database, id, labelIds);
  return id;
}

/** The same for a change. */
export async function updateFinalProduct(
  database: Database,
  { id, name, description, unitId, labelIds }: FinalProduct,
  at: Date,
): Promise<void> {
  await database.query(sql`
    UPDATE final_products SET name = ${name}, description = ${description}, unit_id = ${unitId}, updated_at = ${at}
    WHERE id = ${id}`);
  await database.query(sql`DELETE FROM final_product_labels WHERE final_product_id = ${id}`);
  await insertLabels(database, id, labelIds);
}

/** Gives a final product that has changed its next version. */
export async function touchFinalProduct(database: Database, id: number): Promise<void> {
  await database.query(sql`UPDATE final_products SET version = version + 1 WHERE id = ${id}`);
}

async function insertLabels(database: Database, id: number, labelIds: readonly number[]): Promise<void> {
  await database.query(sql`
    INSERT INTO final_product_labels (final_product_id, label_id, position)
    SELECT ${id}::integer, label_id, position
    FROM unnest(${labelIds}::integer[]) WITH ORDINALITY AS sent (label_id, position)`);
}

export async function deleteFinalProduct(database: Database, id: number): Promise<void> {
  await database.query(sql`DELETE FROM final_products WHERE id = ${id}`);
}

export async function countFinalProducts(database: Database, productId: number): Promise<number> {
  const { rows } = await database.query<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM final_products WHERE product_id = ${productId}`);
  return rows[0]?.count ?? 0;
}

const KEYS = { id: 'id', name: 'lower(name)' };

/** A page of the final products of a product, or of the products of a company, and their total number. */
export async function listFinalProducts(
  database: Database,
  lists: Lists,
  of: { productId: number } | { companyId: number },
  page: Page<(typeof SORTABLE)[number]>,
): Promise<{ items: FinalProduct[]; count: number }> {
  const where =
    'productId' in of
      ? sql`product_id = ${of.productId}`
      : sql`product_id IN (${selectProductsOfCompany(of.companyId)})`;
  const source = {
    table: 'final_products',
    columns: FINAL_PRODUCT,
    key: KEYS[page.sortBy],
    gather: where,
    look: where,
  };
  return lists.list<FinalProduct>(database, `final products ${JSON.stringify(of)}`, source, page);
}

/** Which final products carry these labels: the name of one for each label that any does. */
export async function findLabelUses(
  database: Database,
  labelIds: readonly number[],
): Promise<{ id: number; name: string }[]> {
  const { rows } = await database.query<{ id: number; name: string }>(sql`
    SELECT label_id AS id, min(name) AS name FROM final_product_labels
    JOIN final_products ON final_products.id = final_product_id
    WHERE label_id = ANY (${labelIds}::integer[]) GROUP BY label_id`);
  return rows;
}

/** How many final products are measured in a unit, with the name of one; empty if none is. */
export async function findFinalProductUses(
  database: Database,
  unitId: number,
): Promise<{ noun: string; name: string; count: number }[]> {
  const { rows } = await database.query<{ name: string; count: number }>(sql`
    SELECT min(name) AS name, count(*)::int AS count FROM final_products WHERE unit_id = ${unitId}
    HAVING count(*) > 0`);
  return rows.map(({ name, count }) => ({ noun: 'final product', name, count }));
}
