import sql from 'sql-template-tag';
import { type Database, execute } from '../../../platform/database/database.ts';
import type { Page } from '../../base/contract/schemas.ts';
import type { Lists } from '../../base/lists/lists.ts';
import * as records from '../../base/records/store.ts';
import { selectProductsOfCompany } from '../products/record/store.ts';
import type { SORTABLE } from './schemas.ts';

/** A product as it is sold, such as a bag of a kilogram. */
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

const TABLE: records.RecordTable = {
  name: 'final_products',
  columns: { productId: 'product_id', name: 'name', description: 'description', unitId: 'unit_id' },
  read: {
    labelIds:
      'ARRAY(SELECT label_id FROM final_product_labels WHERE final_product_id = final_products.id ORDER BY position)',
  },
};

export const findFinalProduct = (database: Database, id: number) =>
  records.findRow<FinalProduct>(database, TABLE, id);
export const touchFinalProduct = (database: Database, id: number) => records.nextVersion(database, TABLE, id);
export const deleteFinalProduct = (database: Database, id: number) => records.deleteRow(database, TABLE, id);
export const countFinalProducts = (database: Database, productId: number) =>
  records.countRowsWhere(database, TABLE, sql`product_id = ${productId}`);

/** Stores a final product, a new one if its id is 0, and returns its id. The transaction holds the product's row lock. */
export async function storeFinalProduct(
  database: Database,
  finalProduct: FinalProduct,
  at: Date,
): Promise<number> {
  const isNew = finalProduct.id === 0;
  if (!isNew) await records.updateRow(database, TABLE, finalProduct, at);
  const id = isNew ? await records.insertRow(database, TABLE, finalProduct, at) : finalProduct.id;
  if (!isNew) await database.query(sql`DELETE FROM final_product_labels WHERE final_product_id = ${id}`);
  await insertLabels(database, id, finalProduct.labelIds);
  return id;
}

async function insertLabels(database: Database, id: number, labelIds: readonly number[]): Promise<void> {
  await execute(
    database,
    sql`
    INSERT INTO final_product_labels (final_product_id, label_id, position)
    SELECT ${id}::integer, label_id, position
    FROM unnest(${labelIds}::integer[]) WITH ORDINALITY AS sent (label_id, position)`,
  );
}

const KEYS = { id: 'id', name: 'lower(name)' };

/** A page of the final products of a product, or of the products of a company, and their total number. */
export async function listFinalProducts(
  database: Database,
  lists: Lists,
  owner: { productId: number } | { companyId: number },
  page: Page<(typeof SORTABLE)[number]>,
): Promise<{ items: FinalProduct[]; count: number }> {
  const where =
    'productId' in owner
      ? sql`product_id = ${owner.productId}`
      : sql`product_id IN (${selectProductsOfCompany(owner.companyId)})`;
  return records.listRows<FinalProduct>(database, lists, TABLE, page, {
    filter: owner,
    where,
    key: KEYS[page.sortBy],
  });
}

/** The labels among these that final products carry, each with an example's name. */
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

/** The number of final products with a unit, and an example's name; empty if there are none. */
export async function findFinalProductUses(
  database: Database,
  unitId: number,
): Promise<{ noun: string; name: string; count: number }[]> {
  const { rows } = await database.query<{ name: string; count: number }>(sql`
    SELECT min(name) AS name, count(*)::int AS count FROM final_products WHERE unit_id = ${unitId}
    HAVING count(*) > 0`);
  return rows.map(({ name, count }) => ({ noun: 'final product', name, count }));
}
