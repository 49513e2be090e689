import sql from 'sql-template-tag';
import { type Database, execute } from '../../../../platform/database/database.ts';
import type { Page } from '../../../base/contract/schemas.ts';
import type { Lists } from '../../../base/lists/lists.ts';

/** A changed field of a version. */
export interface FieldChange {
  /** such as origin.text; empty for the product itself */
  path: string;
  /** undefined if there was no value */
  before?: unknown;
  /** undefined if there is no value */
  after?: unknown;
}

/** A version of a product, with its time and author. */
interface Revision {
  productId: number;
  version: number;
  at: Date;
  userId: number;
}

/** A change without its values; `bytes` is the size of their JSON text. */
export type StoredChange = Pick<FieldChange, 'path'> &
  Omit<Revision, 'productId'> & { id: number; bytes: number };

/** Stores the changes of a version, in the transaction that makes them. */
export async function insertChanges(
  database: Database,
  { productId, version, at, userId }: Revision,
  changes: readonly FieldChange[],
): Promise<void> {
  const texts = (side: 'before' | 'after') =>
    changes.map(change => (change[side] === undefined ? null : JSON.stringify(change[side])));
  await execute(
    database,
    sql`
    INSERT INTO product_changes (product_id, version, at, user_id, path, before, after)
    SELECT ${productId}::integer, ${version}::integer, ${at}::timestamptz, ${userId}::integer, path, before::json,
      after::json
    FROM unnest(${changes.map(({ path }) => path)}::text[], ${texts('before')}::text[], ${texts('after')}::text[])
      WITH ORDINALITY AS changes (path, before, after, position) ORDER BY position`,
  );
}

/** A page of a product's changes, in chronological order, and their total number. */
export async function listChanges(
  database: Database,
  lists: Lists,
  productId: number,
  page: Page,
): Promise<{ items: StoredChange[]; count: number }> {
  const where = sql`product_id = ${productId}`;
  const columns = sql`id::float8 AS id, version, at, user_id AS "userId", path,
    coalesce(octet_length(before::text), 0) + coalesce(octet_length(after::text), 0) AS bytes`;
  const source = { table: 'product_changes', columns, key: 'id', gather: where, look: where };
  return lists.list<StoredChange>(database, `changes of ${productId}`, source, page);
}

/**
 * The version of the last change of each path of a product.
 *
 * @param limit number of changes to consider, the newest
 */
export async function findLatestVersions(
  database: Database,
  productId: number,
  limit: number,
): Promise<{ path: string; version: number }[]> {
  const { rows } = await database.query<{ path: string; version: number }>(sql`
    SELECT path, max(version) AS version
    FROM (SELECT path, version FROM product_changes WHERE product_id = ${productId}
      ORDER BY id DESC LIMIT ${limit}) AS newest
    GROUP BY path`);
  return rows;
}

/** The values before and after changes, as the stored JSON texts. */
export async function findValues(
  database: Database,
  ids: readonly number[],
): Promise<Map<number, { before: string | null; after: string | null }>> {
  const { rows } = await database.query<{ id: number; before: string | null; after: string | null }>(sql`
    SELECT id::float8 AS id, before::text AS before, after::text AS after FROM product_changes
    WHERE id = ANY (${ids}::bigint[])`);
  return new Map(rows.map(({ id, ...values }) => [id, values]));
}
