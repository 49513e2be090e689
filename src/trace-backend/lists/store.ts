import sql, { empty, join, raw, type Sql } from 'sql-template-tag';
import type { Database } from '../../platform/postgres/database.ts';
import type { Page } from '../contract/schemas.ts';

/** The rows of a list. Each has an id, which orders rows with equal keys. */
export interface ListSource {
  table: string;
  /** the selected columns, including the id */
  columns: Sql;
  /** the expression to sort by */
  key: string;
  /** a condition that indexes support; undefined for all rows */
  gather: Sql | undefined;
  /** the same condition in a form that is fast per row */
  look: Sql | undefined;
}

/** The conjunction of these conditions; undefined if there are none. */
export function allOf(conditions: readonly (Sql | undefined)[]): Sql | undefined {
  const given = conditions.filter(condition => condition !== undefined);
  return given.length === 0 ? undefined : join(given, ' AND ');
}

/** ORDER BY, LIMIT and OFFSET; the key is named list_key. */
function ordered({ sort, limit, offset }: Page): { order: Sql; page: Sql } {
  return {
    order: raw(`list_key ${sort}, id ${sort}`),
    page: sql`LIMIT ${limit} OFFSET ${offset}`,
  };
}

/**
 * The statement that gathers rows by their indexes, up to a limit, counts and sorts them, and returns a page.
 * Exported so that a test can check its plan.
 *
 * @param limit rows to gather, at most; by default all
 */
export function gatherStatement(source: ListSource, page: Page, limit?: number): Sql {
  const { order, page: part } = ordered(page);
  const key = raw(source.key);
  const table = raw(source.table);
  return sql`
    WITH found AS MATERIALIZED (
      SELECT id, ${key} AS list_key FROM ${table}
      ${source.gather ? sql`WHERE ${source.gather}` : empty} ${limit === undefined ? empty : sql`LIMIT ${limit}`}),
    page AS (
      SELECT id, row_number() OVER (ORDER BY ${order}) AS list_place FROM found ORDER BY ${order} ${part})
    SELECT list_total, ${source.columns} FROM (SELECT count(*)::int AS list_total FROM found) AS total
    LEFT JOIN page ON true LEFT JOIN ${table} USING (id) ORDER BY list_place`;
}

/** A page of the gathered rows, and their total number. */
export async function gatherRows<Row extends { id: number }>(
  database: Database,
  source: ListSource,
  page: Page,
  limit?: number,
): Promise<{ items: Row[]; total: number }> {
  const { rows } = await database.query<Row & { list_total: number }>(gatherStatement(source, page, limit));
  const total = rows[0]?.list_total ?? 0;
  const items = rows
    .filter(({ id }) => id !== null)
    .map(({ list_total: _, ...row }) => row as unknown as Row);
  return { items, total };
}

/**
 * The statement that walks through a table in the list's order and checks each row. Exported so that a test can check
 * its plan.
 *
 * @param window rows to check, at most; by default all
 */
export function walkStatement({ table, key, columns, look }: ListSource, page: Page, window?: number): Sql {
  const { order, page: part } = ordered(page);
  // Without conditions, an index-only scan finds the page, however far down it is; then only its rows are read.
  if (look === undefined) {
    return sql`
      SELECT ${columns} FROM (
        SELECT id, ${raw(key)} AS list_key FROM ${raw(table)} ORDER BY ${order} ${part}) AS page
      JOIN ${raw(table)} USING (id) ORDER BY ${order}`;
  }
  return sql`
    SELECT ${columns} FROM (
      SELECT *, ${raw(key)} AS list_key FROM ${raw(table)}
      ORDER BY ${order} ${window === undefined ? empty : sql`LIMIT ${window}`}) AS ${raw(table)}
    ${look ? sql`WHERE ${look}` : empty} ORDER BY ${order} ${part}`;
}

export async function walkRows<Row extends { id: number }>(
  database: Database,
  source: ListSource,
  page: Page,
  window?: number,
): Promise<Row[]> {
  const { rows } = await database.query<Row>(walkStatement(source, page, window));
  return rows;
}

export async function countRows(database: Database, { table, gather }: ListSource): Promise<number> {
  const { rows } = await database.query<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM ${raw(table)} ${gather ? sql`WHERE ${gather}` : empty}`);
  return rows[0]?.count ?? 0;
}

/** Blocks of a table sampled for an estimate. */
const SAMPLE = 200;

/**
 * The estimated number of rows: the table's rows by PostgreSQL's statistics, times the share of matching rows in a
 * sample of blocks, which is the same each time.
 */
export async function estimateRows(database: Database, { table, look }: ListSource): Promise<number> {
  const { rows: sizes } = await database.query<{ known: number; blocks: number }>(sql`
    SELECT reltuples::float8 AS known, (pg_relation_size(oid) / current_setting('block_size')::int)::int AS blocks
    FROM pg_class WHERE oid = ${table}::regclass`);
  const { known = -1, blocks = 1 } = sizes[0] ?? {};
  if (look === undefined && known >= 0) return Math.round(known);
  const percent = Math.min(100, (100 * SAMPLE) / Math.max(1, blocks));
  const { rows } = await database.query<{ sampled: number; found: number }>(sql`
    SELECT count(*)::int AS sampled, (count(*) FILTER (WHERE ${look ?? sql`true`}))::int AS found
    FROM ${raw(table)} TABLESAMPLE SYSTEM (${percent}) REPEATABLE (1)`);
  const { sampled = 0, found = 0 } = rows[0] ?? {};
  const all = known >= 0 ? known : (sampled * 100) / percent;
  return sampled === 0 ? 0 : Math.round((all * found) / sampled);
}

/**
 * The share of a table's rows that have an n-gram in the column `tokens`, from 0 to 1, for the most frequent n-grams.
 */
export async function findNgramFrequencies(database: Database, table: string): Promise<Map<string, number>> {
  const { rows } = await database.query<{ token: string; frequency: number }>(sql`
    SELECT token, frequency FROM pg_stats,
      unnest(most_common_elems::text::text[], most_common_elem_freqs::float8[]) AS known (token, frequency)
    WHERE schemaname = current_schema AND tablename = ${table} AND attname = 'tokens' AND token IS NOT NULL`);
  return new Map(rows.map(({ token, frequency }) => [token, frequency]));
}
