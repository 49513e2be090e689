import sql, { raw } from 'sql-template-tag';
import type { Database } from '../../../platform/database/database.ts';
import type { Page } from '../../base/contract/schemas.ts';
import type { Lists } from '../../base/lists/lists.ts';
import * as records from '../../base/records/store.ts';
import type { BlogType, SORTABLE } from './schemas.ts';

/** An entry of a product's knowledge blog. */
export interface Entry {
  id: number;
  productId: number;
  type: BlogType | null;
  title: string;
  /** YYYY-MM-DD */
  date: string | null;
  youtubeUrl: string | null;
  summary: string | null;
  content: string | null;
  /** storage keys of documents, in order */
  documents: string[];
  /** counts its changes */
  version: number;
}

type ListedEntry = Pick<Entry, 'id' | 'type' | 'title' | 'date' | 'youtubeUrl'>;

const DATE = "to_char(date, 'YYYY-MM-DD')";
const TABLE: records.RecordTable = {
  name: 'knowledge_blog',
  columns: {
    type: 'type',
    title: 'title',
    date: { column: 'date', select: DATE },
    youtubeUrl: 'youtube_url',
    productId: 'product_id',
    summary: 'summary',
    content: 'content',
    documents: 'documents',
  },
};
const LISTED = sql`id, type, title, ${raw(DATE)} AS date, youtube_url AS "youtubeUrl"`;

export const findEntry = (database: Database, id: number) => records.findRow<Entry>(database, TABLE, id);
/** Stores an entry; the transaction holds the product's row lock. */
export const insertEntry = (database: Database, entry: Omit<Entry, 'id' | 'version'>, at: Date) =>
  records.insertRow(database, TABLE, entry, at);
export const updateEntry = (database: Database, entry: Entry, at: Date) =>
  records.updateRow(database, TABLE, entry, at);
export const touchEntry = (database: Database, id: number) => records.nextVersion(database, TABLE, id);
export const countEntries = (database: Database, productId: number) =>
  records.countRowsWhere(database, TABLE, sql`product_id = ${productId}`);

const KEYS = { id: 'id', title: 'lower(title)', date: 'date', type: 'type' };

/** A page of a product's knowledge blog, and the total number of entries. */
export async function listEntries(
  database: Database,
  lists: Lists,
  filter: { productId: number; type: BlogType | undefined },
  page: Page<(typeof SORTABLE)[number]>,
): Promise<{ items: ListedEntry[]; count: number }> {
  const { productId, type } = filter;
  const ofType = type === undefined ? sql`true` : sql`type = ${type}`;
  const where = sql`product_id = ${productId} AND ${ofType}`;
  const key = KEYS[page.sortBy];
  return records.listRows<ListedEntry>(database, lists, TABLE, page, { filter, where, key, columns: LISTED });
}

/** The products of these entries. */
export async function findBlogProducts(database: Database, ids: readonly number[]): Promise<number[]> {
  const { rows } = await database.query<{ id: number }>(sql`
    SELECT DISTINCT product_id AS id FROM knowledge_blog WHERE id = ANY (${ids}::integer[])`);
  return rows.map(({ id }) => id);
}

/** The ids of all entries about these products. */
export async function findEntryIds(database: Database, productIds: readonly number[]): Promise<number[]> {
  const { rows } = await database.query<{ id: number }>(sql`
    SELECT id FROM knowledge_blog WHERE product_id = ANY (${productIds}::integer[])`);
  return rows.map(({ id }) => id);
}
