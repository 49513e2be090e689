import sql from 'sql-template-tag';
import type { Database } from '../../platform/postgres/database.ts';
import type { Page } from '../contract/schemas.ts';

/** One field that one version changed. */
export interface FieldChange {
  /** such as origin.text; empty for the product itself */
  path: string;
  /** undefined where there was nothing */
  before?: unknown;
  /** undefined where there is nothing */
  after?: unknown;
}

/** Which version of which product, made when, by whom. */
export interface Revision {
  productId: number;
  version: number;
  at: Date;
  userId: number;
}

export type KeptChange = FieldChange & Omit<Revision, 'productId'> & { id: number };

/** Writes down what a version changed, in the transaction that changes it. */
export async function insertChanges(
  database: Database,
  { productId, version, at, userId }: Revision,
  changes: readonly FieldChange[],
): Promise<void> {
  const texts = (side: 'before' | 'after') =>
    changes.map(change => (change[side] === undefined ? null : JSON.stringify(change[side])));
  await database.query(sql`
    INSERT INTO product_changes (product_id, version, at, user_id, path, before, after)
    SELECT ${productId}::integer, ${version}::integer, ${at}::timestamptz, ${userId}::integer, path, before::json,
      after::json
    FROM unnest(${changes.map(({ path }) => path)}::text[], ${texts('before')}::text[], ${texts('after')}::text[])
      WITH ORDINALITY AS made (path, before, after, place) ORDER BY place`);
}

/** A page of what was ever changed of a product, in the order of its making, and how many changes there are in all. */
export async function listChanges(
  database: Database,
  productId: number,
  { limit, offset, sort }: Page,
): Promise<{ items: KeptChange[]; count: number }> {
  const direction = sort === 'ASC' ? sql`ASC` : sql`DESC`;
  const [page, all] = await Promise.all([
    database.query<KeptChange>(sql`
      SELECT id::float8 AS id, version, at, user_id AS "userId", path, before, after FROM product_changes
      WHERE product_id = ${productId}
      ORDER BY product_changes.id ${direction} LIMIT ${limit} OFFSET ${offset}`),
    database.query<{ count: number }>(sql`
      SELECT count(*)::int AS count FROM product_changes WHERE product_id = ${productId}`),
  ]);
  return { items: page.rows, count: all.rows[0]?.count ?? 0 };
}
