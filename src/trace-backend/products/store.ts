import sql, { empty, join, raw, type Sql } from 'sql-template-tag';
import type { Database } from '../../platform/postgres/database.ts';
import type { Page } from '../contract/schemas.ts';
import type { CompanyType } from './schemas.ts';
import { fold, neededTokens, tokensOf } from './search.ts';

/** What was sent of a product besides its name, its companies and its labels. */
export type Content = Record<string, unknown>;

/** A company that has to do with a product. */
export interface Association {
  companyId: number;
  type: CompanyType;
}

export interface Product {
  id: number;
  name: string;
  /** the owner; null where the product is its creator's alone */
  companyId: number | null;
  content: Content;
  version: number;
  createdBy: number;
  createdAt: Date;
  updatedAt: Date;
  /** in the order in which they were sent, the owner among them */
  associations: Association[];
}

const PRODUCT = sql`id, name, company_id AS "companyId", content, version, created_by AS "createdBy",
  created_at AS "createdAt", updated_at AS "updatedAt",
  ARRAY(SELECT json_build_object('companyId', product_companies.company_id, 'type', type) FROM product_companies
    WHERE product_id = products.id ORDER BY position) AS associations`;

export async function findProduct(database: Database, id: number): Promise<Product | undefined> {
  const { text, values } = sql`SELECT ${PRODUCT} FROM products WHERE id = ${id}`;
  const { rows } = await database.query<Product>({ name: 'find-product', text, values });
  return rows[0];
}

/** A product that nobody else changes until the end of the transaction. */
export async function lockProduct(database: Database, id: number): Promise<Product | undefined> {
  // In two statements: a subquery of the one that waited would still see what was there before the wait.
  const { rowCount } = await database.query(sql`SELECT FROM products WHERE id = ${id} FOR UPDATE`);
  return rowCount === 0 ? undefined : findProduct(database, id);
}

export type NewProduct = Pick<Product, 'name' | 'companyId' | 'content' | 'createdBy' | 'createdAt'>;

/** Stores a product as version 1; its companies come by `setAssociations`. */
export async function insertProduct(database: Database, product: NewProduct): Promise<number> {
  const { name, companyId, content, createdBy, createdAt } = product;
  const folded = fold(name);
  const { rows } = await database.query<{ id: number }>(sql`
    INSERT INTO products (name, folded, tokens, company_id, content, created_by, created_at, updated_at)
    VALUES (${name}, ${folded}, ${tokensOf(folded)}, ${companyId}, ${JSON.stringify(content)}, ${createdBy},
      ${createdAt}, ${createdAt})
    RETURNING id`);
  return (rows[0] as { id: number }).id;
}

/** Makes the next version of a product, whose row the transaction holds. */
export async function updateProduct(
  database: Database,
  {
    id,
    name,
    companyId,
    content,
    updatedAt,
  }: Pick<Product, 'id' | 'name' | 'companyId' | 'content' | 'updatedAt'>,
): Promise<void> {
  const folded = fold(name);
  await database.query(sql`
    UPDATE products SET name = ${name}, folded = ${folded}, tokens = ${tokensOf(folded)}, company_id = ${companyId},
      content = ${JSON.stringify(content)}, version = version + 1, updated_at = ${updatedAt}
    WHERE id = ${id}`);
}

/** Counts a change of what belongs to a product, such as a label, as one of the product itself. */
export async function touchProduct(database: Database, id: number, updatedAt: Date): Promise<void> {
  await database.query(sql`
    UPDATE products SET version = version + 1, updated_at = ${updatedAt} WHERE id = ${id}`);
}

/** Removes a product with its companies and labels. */
export async function deleteProduct(database: Database, id: number): Promise<void> {
  await database.query(sql`DELETE FROM products WHERE id = ${id}`);
}

/** Has a product be associated with these companies, in this order, and with no others. */
export async function setAssociations(
  database: Database,
  productId: number,
  associations: readonly Association[],
): Promise<void> {
  const ids = associations.map(({ companyId }) => companyId);
  const types = associations.map(({ type }) => type);
  await database.query(sql`DELETE FROM product_companies WHERE product_id = ${productId}`);
  await database.query(sql`
    INSERT INTO product_companies (product_id, company_id, type, position)
    SELECT ${productId}::integer, company_id, type, position
    FROM unnest(${ids}::integer[], ${types}::text[]) WITH ORDINALITY AS sent (company_id, type, position)`);
}

/** A user as what they may see depends on it. */
export interface Reader {
  userId: number;
  /** the companies that they act for */
  companyIds: readonly number[];
}

/** Products that a reader may see, by looking at each product. */
const isVisible = ({ userId, companyIds }: Reader) => sql`(
  EXISTS (SELECT FROM product_companies WHERE product_id = products.id
    AND product_companies.company_id = ANY (${companyIds}::integer[]))
  OR (company_id IS NULL AND created_by = ${userId}))`;

/** The ids of the products that a reader may see, some more than once. */
const visibleIds = ({ userId, companyIds }: Reader) => sql`
  SELECT product_id AS id FROM product_companies WHERE company_id = ANY (${companyIds}::integer[])
  UNION ALL SELECT id FROM products WHERE company_id IS NULL AND created_by = ${userId}`;

/** Whether a reader may see at least one of these products. */
export async function seesOne(database: Database, reader: Reader, ids: readonly number[]): Promise<boolean> {
  const { rows } = await database.query<{ sees: boolean }>(sql`
    SELECT EXISTS (SELECT FROM products WHERE id = ANY (${ids}::integer[]) AND ${isVisible(reader)}) AS sees`);
  return rows[0]?.sees ?? false;
}

export interface ProductFilter {
  /** who asks; undefined for administrators, who see everything */
  reader?: Reader | undefined;
  /** part of the name */
  query?: string | undefined;
  /** the owner */
  companyId?: number | undefined;
}

const COLUMNS = { id: 'id', name: 'left(folded, 100)', updatedAt: 'updated_at' } as const;
export type ProductSort = keyof typeof COLUMNS;

export type ListedProduct = Pick<Product, 'id' | 'name' | 'companyId' | 'updatedAt'> & { photo: unknown };

/** Up to so many products are looked through one by one; among more, the indexes of all products lead to them. */
const FEW = 5_000;

/** A page of products, and how many there are in all. */
export async function listProducts(
  database: Database,
  filter: ProductFilter,
  page: Page<ProductSort>,
): Promise<{ items: ListedProduct[]; count: number }> {
  const { reader } = filter;
  const few = reader !== undefined && (await seesFew(database, reader));
  const { rows: items } = await database.query<ListedProduct>(pageStatement(filter, page, few));
  // A page that is not full is the last one, and says by itself how many there are.
  const isLast = items.length < page.limit && (items.length > 0 || page.offset === 0);
  if (isLast) return { items, count: page.offset + items.length };
  const { rows: all } = await database.query<{ count: number }>(countStatement(filter, few));
  return { items, count: all[0]?.count ?? 0 };
}

async function seesFew(database: Database, reader: Reader): Promise<boolean> {
  const { rows } = await database.query<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM (${visibleIds(reader)} LIMIT ${FEW + 1}) AS visible`);
  return (rows[0]?.count ?? 0) <= FEW;
}

/** The statement for a page of products. Exported so that a test can look at its plan. */
export function pageStatement(
  filter: ProductFilter,
  { limit, offset, sortBy, sort }: Page<ProductSort>,
  few: boolean,
): Sql {
  const order = sortBy === 'id' ? empty : sql`, id ${raw(sort)}`;
  return sql`
    SELECT id, name, company_id AS "companyId", updated_at AS "updatedAt", content -> 'photo' AS photo
    FROM products WHERE ${conditions(filter, few)}
    ORDER BY ${raw(COLUMNS[sortBy])} ${raw(sort)}${order} LIMIT ${limit} OFFSET ${offset}`;
}

/** The statement for how many there are. Exported so that a test can look at its plan. */
export function countStatement(filter: ProductFilter, few: boolean): Sql {
  const { reader, query, companyId } = filter;
  if (reader && query === undefined && companyId === undefined) {
    return sql`SELECT count(DISTINCT id)::int AS count FROM (${visibleIds(reader)}) AS visible`;
  }
  return sql`SELECT count(*)::int AS count FROM products WHERE ${conditions(filter, few)}`;
}

function conditions({ reader, query, companyId }: ProductFilter, few: boolean): Sql {
  const folded = query === undefined ? undefined : fold(query);
  const visible = reader && (few ? sql`id IN (${visibleIds(reader)})` : isVisible(reader));
  return join(
    [
      sql`true`,
      visible,
      companyId === undefined ? undefined : sql`company_id = ${companyId}`,
      folded === undefined ? undefined : sql`strpos(folded, ${folded}) > 0`,
      folded === undefined || few ? undefined : sql`tokens @> ${neededTokens(folded)}::text[]`,
    ].filter(condition => condition !== undefined),
    ' AND ',
  );
}
