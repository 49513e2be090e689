import sql, { empty, join, raw, type Sql } from 'sql-template-tag';
import { type Database, prepared } from '../../../platform/database/database.ts';
import type { Page } from '../contract/schemas.ts';

/** The rows of a list. Each has an id, which orders rows with equal keys. */
export interface ListSource {
  table: string;
  /** the selected columns, including the id */
  columns: Sql;
  /** the column or expression to sort by */
  key: string;
  /** a condition that indexes support; undefined for all rows */
  gather: Sql | undefined;
  /** the condition in a form that is fast per row, if possible on columns in the index of each order */
  look: Sql | undefined;
  /**
   * selects the ids of all rows, possibly with duplicates, from another table; undefined if no other table has them
   */
  ids?: Sql | undefined;
  /** whether `gather` reads each row, not only its index entry */
  gathersRows?: boolean;
  /** whether connections cache the plan of gathering; only if one plan is good for all values */
  isPrepared?: boolean;
}

/** Maximum rows that a walk without a condition reads and skips; for larger offsets it reads only index entries. */
const SKIPPED_ROWS = 1000;

/** Maximum characters in the column `name_key`. */
const KEY_LENGTH = 100;

/**
 * The condition that the column `folded` of a table contains a text. It reads `name_key`, the start of `folded` that the
 * indexes contain, and the row itself only for long names.
 */
export function containsText(table: string, text: string): Sql {
  const whole = sql`SELECT whole.folded FROM ${raw(table)} AS whole WHERE whole.id = ${raw(table)}.id`;
  return sql`(strpos(name_key, ${text}) > 0
    OR (char_length(name_key) = ${KEY_LENGTH} AND strpos((${whole}), ${text}) > 0))`;
}

/** The conjunction of these conditions; undefined if there are none. */
export function allOf(conditions: readonly (Sql | undefined)[]): Sql | undefined {
  const present = conditions.filter(condition => condition !== undefined);
  return present.length === 0 ? undefined : join(present, ' AND ');
}

/** The order of a list, by columns of its table. */
function orderBy({ key }: ListSource, { sort }: Page): string {
  return key === 'id' ? `id ${sort}` : `${key} ${sort}, id ${sort}`;
}

/** ORDER BY, LIMIT and OFFSET; the key is named list_key. */
function ordered({ key }: ListSource, { sort, limit, offset }: Page): { order: Sql; page: Sql } {
  return {
    // An order by the id twice, under two names, would be sorted again.
    order: raw(key === 'id' ? `id ${sort}` : `list_key ${sort}, id ${sort}`),
    page: sql`LIMIT ${limit} OFFSET ${offset}`,
  };
}

/**
 * The statement that gathers rows by their indexes, up to a limit, counts and sorts them, and returns a page.
 * Exported so that a test can check its plan.
 *
 * @param limit maximum rows to gather; by default all
 */
export function gatherStatement(source: ListSource, page: Page, limit?: number): Sql {
  const { order, page: part } = ordered(source, page);
  const { gather, ids, gathersRows: isByRow } = source;
  const key = raw(source.key);
  const table = raw(source.table);
  // The ctid of a row that was read finds it again without an index.
  const found =
    ids && source.key === 'id'
      ? sql`SELECT DISTINCT id FROM (${ids}) AS listed`
      : sql`SELECT id, ${key} AS list_key ${isByRow ? sql`, ctid AS list_row` : empty} FROM ${table}
          ${gather ? sql`WHERE ${gather}` : empty}`;
  return sql`
    WITH found AS MATERIALIZED (${found} ${limit === undefined ? empty : sql`LIMIT ${limit}`}),
    page AS (
      SELECT ${raw(isByRow ? 'list_row' : 'id')}, row_number() OVER (ORDER BY ${order}) AS list_position
      FROM found ORDER BY ${order} ${part})
    SELECT list_total, ${source.columns} FROM (SELECT count(*)::int AS list_total FROM found) AS total
    LEFT JOIN page ON true
    LEFT JOIN ${table} ${isByRow ? sql`ON ${table}.ctid = list_row` : sql`USING (id)`} ORDER BY list_position`;
}

/** A page of the gathered rows, and their total number. */
export async function gatherRows<Row extends { id: number }>(
  database: Database,
  source: ListSource,
  page: Page,
  limit?: number,
): Promise<{ items: Row[]; total: number }> {
  const statement = gatherStatement(source, page, limit);
  const { rows } = await database.query<Row & { list_total: number }>(
    source.isPrepared ? prepared(statement) : statement,
  );
  const total = rows[0]?.list_total ?? 0;
  const items = rows
    .filter(({ id }) => id !== null)
    .map(({ list_total: _, ...row }) => row as unknown as Row);
  return { items, total };
}

/**
 * The statement that walks through a table in the list's order, checks each row, by its index entry if possible, and
 * reads the rows of the page. Without a condition, the first pages are read directly. Exported so that a test can check
 * its plan.
 *
 * @param window maximum rows to check; by default all
 */
export function walkStatement(source: ListSource, page: Page, window?: number): Sql {
  const { order, page: part } = ordered(source, page);
  const [key, table] = [raw(source.key), raw(source.table)];
  const { columns, look } = source;
  if (!look && page.offset <= SKIPPED_ROWS) {
    return sql`SELECT ${columns} FROM ${table} ORDER BY ${raw(orderBy(source, page))} ${part}`;
  }
  // OFFSET 0, like LIMIT, keeps PostgreSQL from applying the condition before the order. It reads only used columns: if
  // an index has them, it reads only the index.
  const entries = sql`
    SELECT *, ${key} AS list_key FROM ${table} ORDER BY ${order}
    ${window === undefined ? sql`OFFSET 0` : sql`LIMIT ${window}`}`;
  const ids = look
    ? sql`SELECT id, list_key FROM (${entries}) AS ${table} WHERE ${look}`
    : sql`SELECT id, ${key} AS list_key FROM ${table}`;
  return sql`
    SELECT ${columns} FROM (${ids} ORDER BY ${order} ${part}) AS page JOIN ${table} USING (id) ORDER BY ${order}`;
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

/**
 * The statement that reads the rows of a list after a row, in the list's order. A row outside the list finds nothing, so
 * that nobody learns anything about it.
 */
function nextStatement({ key, gather, ...source }: ListSource, page: Page & { after: number }): Sql {
  const [table, direction, by] = [raw(source.table), raw(page.sort), raw(key)];
  const beyond = raw(page.sort === 'ASC' ? '>' : '<');
  const isById = key === 'id';
  const last = sql`SELECT ${by}, id FROM ${table} WHERE ${allOf([sql`id = ${page.after}`, gather])}`;
  const next = isById ? sql`id ${beyond} ${page.after}` : sql`(${by}, id) ${beyond} (${last})`;
  // Qualified: a selected id may be an expression of another type, which no index has.
  return sql`
    SELECT ${source.columns} FROM ${table} WHERE ${allOf([next, gather])}
    ORDER BY ${isById ? empty : sql`${by} ${direction},`} ${table}.id ${direction}
    LIMIT ${page.limit} OFFSET ${page.offset}`;
}

export async function nextRows<Row extends { id: number }>(
  database: Database,
  source: ListSource,
  page: Page & { after: number },
): Promise<Row[]> {
  const { rows } = await database.query<Row>(nextStatement(source, page));
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
 * Estimates the rows of a table by PostgreSQL's statistics, and the matching rows by their share in a sample of blocks,
 * which is the same each time.
 */
export async function estimateRows(
  database: Database,
  { table, look }: ListSource,
): Promise<{ all: number; matching: number }> {
  const { rows: sizes } = await database.query<{ tableRows: number; blocks: number }>(sql`
    SELECT reltuples::float8 AS "tableRows", (pg_relation_size(oid) / current_setting('block_size')::int)::int AS blocks
    FROM pg_class WHERE oid = ${table}::regclass`);
  const { tableRows = -1, blocks = 1 } = sizes[0] ?? {};
  if (look === undefined && tableRows >= 0) return { all: tableRows, matching: Math.round(tableRows) };
  const percent = Math.min(100, (100 * SAMPLE) / Math.max(1, blocks));
  const { rows } = await database.query<{ sampled: number; found: number }>(sql`
    SELECT count(*)::int AS sampled, (count(*) FILTER (WHERE ${look ?? sql`true`}))::int AS found
    FROM ${raw(table)} TABLESAMPLE SYSTEM (${percent}) REPEATABLE (1)`);
  const { sampled = 0, found = 0 } = rows[0] ?? {};
  const all = tableRows >= 0 ? tableRows : (sampled * 100) / percent;
  return { all, matching: sampled === 0 ? 0 : Math.round((all * found) / sampled) };
}

/**
 * The share of a table's rows that have an n-gram in the column `tokens`, from 0 to 1, for the most frequent n-grams.
 */
export async function findNgramFrequencies(database: Database, table: string): Promise<Map<string, number>> {
  const { rows } = await database.query<{ token: string; frequency: number }>(sql`
    SELECT token, frequency FROM pg_stats,
      unnest(most_common_elems::text::text[], most_common_elem_freqs::float8[]) AS statistics (token, frequency)
    WHERE schemaname = current_schema AND tablename = ${table} AND attname = 'tokens' AND token IS NOT NULL`);
  return new Map(rows.map(({ token, frequency }) => [token, frequency]));
}
