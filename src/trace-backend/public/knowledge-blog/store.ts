import sql from 'sql-template-tag';
import type { Database } from '../../../platform/database/database.ts';
import type { Page } from '../../base/contract/schemas.ts';
import type { Lists } from '../../base/lists/lists.ts';
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

export type ListedEntry = Pick<Entry, 'id' | 'type' | 'title' | 'date' | 'youtubeUrl'>;

const LISTED = sql`id, type, title, to_char(date, 'YYYY-MM-DD') AS date, youtube_url AS "youtubeUrl"`;
const ENTRY = sql`${LISTED}, product_id AS "productId", summary, content, documents, version`;

export async function findEntry(database: Database, id: number): Promise<Entry | undefined> {
  const { rows } = await database.query<Entry>(sql`SELECT ${ENTRY} FROM knowledge_blog WHERE id = ${id}`);
  return rows[0];
}

/** Stores an entry; the transaction holds the product's row lock. */
export async function insertEntry(
  database: Database,
  entry: Omit<Entry, 'id' | 'version'>,
  at: Date,
): Promise<number> {
  const { productId, type, title, date, youtubeUrl, summary, content, documents } = entry;
  const { rows } = await database.query<{ id: number }>(sql`
    INSERT INTO knowledge_blog (product_id, type, title, date, youtube_url, summary, content, documents, created_at,
      updated_at)
    VALUES (${productId}, ${type}, ${title}, ${date}, ${youtubeUrl}, ${summary}, ${content}, ${documents}, ${at}, ${at})
    RETURNING id`);
  return (rows[0] as { id: number }).id;
}

/** The same for a change. */
export async function updateEntry(database: Database, entry: Entry, at: Date): Promise<void> {
  const { id, type, title, date, youtubeUrl, summary, content, documents } = entry;
  await database.query(sql`
    UPDATE knowledge_blog SET type = ${type}, title = ${title}, date = ${date}, youtube_url = ${youtubeUrl},
      summary = ${summary}, content = ${content}, documents = ${documents}, updated_at = ${at}
    WHERE id = ${id}`);
}

/** Gives an entry that has changed its next version. */
export async function touchEntry(database: Database, id: number): Promise<void> {
  await database.query(sql`UPDATE knowledge_blog SET version = version + 1 WHERE id = ${id}`);
}

export async function countEntries(database: Database, productId: number): Promise<number> {
  const { rows } = await database.query<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM knowledge_blog WHERE product_id = ${productId}`);
  return rows[0]?.count ?? 0;
}

const KEYS = { id: 'id', title: 'lower(title)', date: 'date', type: 'type' };

/** A page of a product's knowledge blog, and the total number of entries. */
export async function listEntries(
  database: Database,
  lists: Lists,
  { productId, type }: { productId: number; type: BlogType | undefined },
  page: Page<(typeof SORTABLE)[number]>,
): Promise<{ items: ListedEntry[]; count: number }> {
  const ofType = type === undefined ? sql`true` : sql`type = ${type}`;
  const where = sql`product_id = ${productId} AND ${ofType}`;
  const source = {
    table: 'knowledge_blog',
    columns: LISTED,
    key: KEYS[page.sortBy],
    gather: where,
    look: where,
  };
  return lists.list<ListedEntry>(database, `blog of ${productId} ${type ?? ''}`, source, page);
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
