import sql, { type Sql } from 'sql-template-tag';
import { type Database, execute, prepared } from '../../../../platform/database/database.ts';
import { rowsByKey, sharedRead } from '../../../../platform/database/shared-read.ts';
import type { Page } from '../../../base/contract/schemas.ts';
import type { Lists } from '../../../base/lists/lists.ts';
import { foldName, ngramsOf } from '../../../base/lists/search.ts';
import { allOf, containsText, type ListSource } from '../../../base/lists/store.ts';
import type { CompanyType } from '../../companies/record/company-types.ts';
import { selectCompanyVersion } from '../../companies/record/store.ts';
import type { SORTABLE } from './schemas.ts';

/** The content of a product, without name, companies and labels. */
export type Content = Record<string, unknown>;

/** A company associated with a product. */
export interface Association {
  companyId: number;
  type: CompanyType;
}

export interface Product {
  id: number;
  name: string;
  /** the owner; null if the product belongs to its creator */
  companyId: number | null;
  valueChainId: number | null;
  content: Content;
  version: number;
  createdBy: number;
  createdAt: Date;
  updatedAt: Date;
  /** in the order sent, including the owner */
  associations: Association[];
}

const PRODUCT = sql`id, name, company_id AS "companyId", value_chain_id AS "valueChainId", content, version,
  created_by AS "createdBy", created_at AS "createdAt", updated_at AS "updatedAt",
  ARRAY(SELECT json_build_object('companyId', product_companies.company_id, 'type', type) FROM product_companies
    WHERE product_id = products.id ORDER BY position) AS associations`;

const products = sharedRead(async (database, ids: readonly number[]) => {
  const { text, values } = sql`SELECT ${PRODUCT} FROM products WHERE id = ANY (${ids}::integer[])`;
  const { rows } = await database.query<Product>({ name: 'find-products', text, values });
  return rowsByKey(ids, rows, ({ id }) => id);
});

export const findProduct = (database: Database, id: number): Promise<Product | undefined> =>
  products.one(database, id);

/** The query for the versions of a product and of its owner, as JSON. */
export const selectProductVersions = (id: Sql) => sql`
  SELECT json_build_array(version, (${selectCompanyVersion(sql`products.company_id`)})) FROM products WHERE id = ${id}`;

/** A product, locked until the end of the transaction. */
export async function lockProduct(database: Database, id: number): Promise<Product | undefined> {
  // Two statements, because a subquery of the one that waited would still see the state before the wait.
  await execute(database, sql`SELECT FROM products WHERE id = ${id} FOR UPDATE`);
  return findProduct(database, id);
}

/** Existing products with these ids, with their content, in no order. */
export async function findProductBases(
  database: Database,
  ids: readonly number[],
): Promise<Pick<Product, 'id' | 'name' | 'content'>[]> {
  if (ids.length === 0) return [];
  const { rows } = await database.query<Pick<Product, 'id' | 'name' | 'content'>>(sql`
    SELECT id, name, content FROM products WHERE id = ANY (${ids}::integer[])`);
  return rows;
}

/** The number of products of a value chain, with an example's name; empty if there are none. */
export async function findValueChainUses(
  database: Database,
  valueChainId: number,
): Promise<{ noun: string; name: string; count: number }[]> {
  const { rows } = await database.query<{ name: string; count: number }>(sql`
    SELECT min(name) AS name, count(*)::int AS count FROM products WHERE value_chain_id = ${valueChainId}
    HAVING count(*) > 0`);
  return rows.map(({ name, count }) => ({ noun: 'product', name, count }));
}

export type NewProduct = Pick<
  Product,
  'name' | 'companyId' | 'valueChainId' | 'content' | 'createdBy' | 'createdAt'
>;

/** Stores a product as version 1, without companies: see `setAssociations`. */
export async function insertProduct(database: Database, product: NewProduct): Promise<number> {
  const { name, companyId, valueChainId, content, createdBy, createdAt } = product;
  const folded = foldName(name);
  const statement = sql`
    INSERT INTO products (name, folded, tokens, company_id, value_chain_id, content, created_by, created_at, updated_at)
    VALUES (${name}, ${folded}, ${ngramsOf(folded)}, ${companyId}, ${valueChainId}, ${JSON.stringify(content)},
      ${createdBy}, ${createdAt}, ${createdAt})
    RETURNING id`;
  const { rows } = await database.query<{ id: number }>(prepared(statement));
  return (rows[0] as { id: number }).id;
}

/** Stores the next version of a product, whose row lock the transaction holds. */
export async function updateProduct(
  database: Database,
  {
    id,
    name,
    companyId,
    valueChainId,
    content,
    updatedAt,
  }: Pick<Product, 'id' | 'name' | 'companyId' | 'valueChainId' | 'content' | 'updatedAt'>,
): Promise<void> {
  const folded = foldName(name);
  await execute(
    database,
    sql`
    UPDATE products SET name = ${name}, folded = ${folded}, tokens = ${ngramsOf(folded)}, company_id = ${companyId},
      value_chain_id = ${valueChainId}, content = ${JSON.stringify(content)}, version = version + 1, updated_at = ${updatedAt}
    WHERE id = ${id}`,
  );
}

/** Increments the version for a change of a dependent record, such as a label. */
export async function touchProduct(database: Database, id: number, updatedAt: Date): Promise<void> {
  await execute(
    database,
    sql`
    UPDATE products SET version = version + 1, updated_at = ${updatedAt} WHERE id = ${id}`,
  );
}

/** Deletes a product with its associations and labels. */
export async function deleteProduct(database: Database, id: number): Promise<void> {
  await execute(database, sql`DELETE FROM products WHERE id = ${id}`);
}

/** Replaces the associated companies of a product, in this order. */
export async function setAssociations(
  database: Database,
  productId: number,
  associations: readonly Association[],
): Promise<void> {
  const ids = associations.map(({ companyId }) => companyId);
  const types = associations.map(({ type }) => type);
  await execute(database, sql`DELETE FROM product_companies WHERE product_id = ${productId}`);
  await execute(
    database,
    sql`
    INSERT INTO product_companies (product_id, company_id, type, position)
    SELECT ${productId}::integer, company_id, type, position
    FROM unnest(${ids}::integer[], ${types}::text[]) WITH ORDINALITY AS sent (company_id, type, position)`,
  );
}

/** The user and companies on which access to products depends. */
export interface Reader {
  userId: number;
  /** the companies that the user acts for */
  companyIds: readonly number[];
}

/** The condition that a reader may see a product, for checking single rows. */
const isVisible = ({ userId, companyIds }: Reader) => sql`(
  EXISTS (SELECT FROM product_companies WHERE product_id = products.id
    AND product_companies.company_id = ANY (${companyIds}::integer[]))
  OR (company_id IS NULL AND created_by = ${userId}))`;

/** The ids of the products that a reader may see, with repetitions. */
const visibleIds = ({ userId, companyIds }: Reader) => sql`
  SELECT product_id AS id FROM product_companies WHERE company_id = ANY (${companyIds}::integer[])
  UNION ALL SELECT id FROM products WHERE company_id IS NULL AND created_by = ${userId}`;

/** Whether a reader may see at least one of these products. */
export async function seesAny(database: Database, reader: Reader, ids: readonly number[]): Promise<boolean> {
  const { rows } = await database.query<{ sees: boolean }>(sql`
    SELECT EXISTS (SELECT FROM products WHERE id = ANY (${ids}::integer[]) AND ${isVisible(reader)}) AS sees`);
  return rows[0]?.sees ?? false;
}

/** Whether at least one of these products belongs to a company of the reader, or to the reader alone. */
export async function ownsAny(database: Database, reader: Reader, ids: readonly number[]): Promise<boolean> {
  const { userId, companyIds } = reader;
  const { rows } = await database.query<{ owns: boolean }>(sql`
    SELECT EXISTS (SELECT FROM products WHERE id = ANY (${ids}::integer[]) AND (
      company_id = ANY (${companyIds}::integer[]) OR (company_id IS NULL AND created_by = ${userId}))) AS owns`);
  return rows[0]?.owns ?? false;
}

export interface ProductFilter {
  /** the caller; undefined for administrators, who see everything */
  reader?: Reader | undefined;
  /** part of the name */
  query?: string | undefined;
  /** the owner */
  companyId?: number | undefined;
}

export type ProductSort = (typeof SORTABLE)[number];
const KEYS = { id: 'id', name: 'name_key', updatedAt: 'updated_at' };

export type ListedProduct = Pick<Product, 'id' | 'name' | 'companyId' | 'updatedAt'> & {
  /** the storage key of the photo */
  photoKey: string | null;
};

/** Readers who see up to this many products are served from these; otherwise the indexes of all products are used. */
const FEW_PRODUCTS = 5_000;

/** A page of products, and their total number. */
export async function listProducts(
  database: Database,
  lists: Lists,
  filter: ProductFilter,
  page: Page<ProductSort>,
): Promise<{ items: ListedProduct[]; count: number }> {
  const { reader, query } = filter;
  const isFiltered = query !== undefined || filter.companyId !== undefined;
  // The number matters only for filtered lists.
  const seesFewProducts = reader !== undefined && isFiltered && (await seesFew(database, reader));
  const tokens = query === undefined ? [] : await lists.ngramsFor(database, 'products', foldName(query));
  const source = listSource(filter, page.sortBy, seesFewProducts, tokens);
  return lists.list<ListedProduct>(database, `products ${JSON.stringify(filter)}`, source, page);
}

async function seesFew(database: Database, reader: Reader): Promise<boolean> {
  const { rows } = await database.query<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM (${visibleIds(reader)} LIMIT ${FEW_PRODUCTS + 1}) AS visible`);
  return (rows[0]?.count ?? 0) <= FEW_PRODUCTS;
}

/**
 * The rows of a list. Exported so that a test can check the plans of its statements.
 *
 * @param seesFewProducts whether the reader sees few products
 * @param tokens the n-grams for the index
 */
export function listSource(
  { reader, query, companyId }: ProductFilter,
  sortBy: ProductSort,
  seesFewProducts: boolean,
  tokens: readonly string[],
): ListSource {
  const ofOwner = companyId === undefined ? undefined : sql`company_id = ${companyId}`;
  const folded = query === undefined ? undefined : foldName(query);
  const containsQuery = folded === undefined ? undefined : sql`strpos(folded, ${folded}) > 0`;
  const rowContains = folded === undefined ? undefined : containsText('products', folded);
  const amongVisible = reader && sql`id IN (${visibleIds(reader)})`;
  const isVisibleToReader = reader && isVisible(reader);
  const byToken = containsQuery && sql`tokens @> ${tokens}::text[]`;
  const isFiltered = containsQuery !== undefined || ofOwner !== undefined;
  return {
    table: 'products',
    columns: sql`id, name, company_id AS "companyId", updated_at AS "updatedAt", photo_key AS "photoKey"`,
    key: KEYS[sortBy],
    gather:
      seesFewProducts || !isFiltered
        ? allOf([amongVisible, ofOwner, containsQuery])
        : allOf([ofOwner, byToken, containsQuery, isVisibleToReader]),
    look: allOf([rowContains, ofOwner, isVisibleToReader]),
    ids: reader && !isFiltered ? visibleIds(reader) : undefined,
    gathersRows: containsQuery !== undefined,
    isPrepared: containsQuery === undefined,
  };
}

/** Selects ids and names of a reader's own products: those of their companies, and those without a company. */
export function selectOwnProducts(reader: Reader): Sql {
  return sql`
    SELECT id, name FROM products WHERE company_id = ANY (${reader.companyIds}::integer[])
      OR (company_id IS NULL AND created_by = ${reader.userId})`;
}

/** Selects the ids of the products that a company owns or is associated with, with repetitions. */
export function selectProductsOfCompany(companyId: number): Sql {
  return sql`SELECT product_id FROM product_companies WHERE company_id = ${companyId}`;
}

/** Selects the ids of the products that a company owns. */
export function selectProductsOwnedBy(companyId: number): Sql {
  return sql`SELECT id FROM products WHERE company_id = ${companyId}`;
}
