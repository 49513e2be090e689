import type pg from 'pg';
import sql, { join, raw, type Sql } from 'sql-template-tag';
import { type Database, execute } from '../../../platform/database/database.ts';
import { rowsByKey, type SharedRead, sharedRead } from '../../../platform/database/shared-read.ts';
import type { Page } from '../contract/schemas.ts';
import type { Lists } from '../lists/lists.ts';

/*
 * The statements of plain records: rows of one table with an id, a version, and the times of creation and change.
 * Each function can be used without the others.
 */

/** A column whose value is converted when it is read or written. */
interface Column {
  column: string;
  /** the expression that is read, if not the column itself */
  select?: string;
  /** whether it is written as JSON: the driver would write a list as a PostgreSQL array */
  isJson?: boolean;
}

/** A table of plain records. */
export interface RecordTable {
  name: string;
  /** the columns of the fields that changes write, by the fields' names */
  columns: Readonly<Record<string, string | Column>>;
  /** expressions that are read and never written, by name */
  read?: Readonly<Record<string, string>>;
}

/** A row with its id; the version counts its changes. */
export interface Versioned {
  id: number;
  version: number;
}

/** The selected columns of a row: its id, version, fields and expressions. */
export function selected({ columns, read = {} }: RecordTable): Sql {
  const fields = Object.entries(columns).map(([name, definition]) => {
    const { column, select = column } = asColumn(definition);
    return `${select} AS "${name}"`;
  });
  const expressions = Object.entries(read).map(([name, expression]) => `${expression} AS "${name}"`);
  return raw(['id', 'version', ...fields, ...expressions].join(', '));
}

function asColumn(column: string | Column): Column {
  return typeof column === 'string' ? { column: column } : column;
}

/** Columns and values of a row. */
function valuesOf({ columns }: RecordTable, row: object, more: Record<string, unknown>): [string, unknown][] {
  const values = row as Record<string, unknown>;
  const fields = Object.entries(columns).map(([name, definition]): [string, unknown] => {
    const { column, isJson } = asColumn(definition);
    return [column, isJson ? JSON.stringify(values[name]) : values[name]];
  });
  return [...fields, ...Object.entries(more)];
}

/** Rows in the order of these ids, without missing rows. */
export async function findRows<Row extends Versioned>(
  database: Database,
  table: RecordTable,
  ids: readonly number[],
): Promise<Row[]> {
  return (await readOf<Row>(table).many(database, ids)).filter(row => row !== undefined);
}

export const findRow = <Row extends Versioned>(
  database: Database,
  table: RecordTable,
  id: number,
): Promise<Row | undefined> => readOf<Row>(table).one(database, id);

const reads = new Map<RecordTable, SharedRead<number, unknown>>();

/** The look-up of rows of a table by id. */
function readOf<Row extends Versioned>(table: RecordTable): SharedRead<number, Row | undefined> {
  const read = reads.get(table) ?? sharedRead((database, ids) => selectRows<Row>(database, table, ids));
  reads.set(table, read);
  return read as SharedRead<number, Row | undefined>;
}

async function selectRows<Row extends Versioned>(
  database: Database,
  table: RecordTable,
  ids: readonly number[],
): Promise<(Row | undefined)[]> {
  const { text, values } = sql`
    SELECT ${selected(table)} FROM ${raw(table.name)} WHERE id = ANY (${ids}::integer[])`;
  const { rows } = await database.query<Row>({ name: `find-rows-${table.name}`, text, values });
  return rowsByKey(ids, rows, ({ id }) => id);
}

/** A row, locked until the end of the transaction. */
export async function lockRow<Row extends Versioned>(
  database: Database,
  table: RecordTable,
  id: number,
): Promise<Row | undefined> {
  const { rows } = await database.query<Row>(sql`
    SELECT ${selected(table)} FROM ${raw(table.name)} WHERE id = ${id} FOR UPDATE`);
  return rows[0];
}

/**
 * Stores a new row as version 1.
 *
 * @param more values of further columns
 * @returns its id
 */
export async function insertRow(
  database: Database,
  table: RecordTable,
  row: object,
  at: Date,
  more: Record<string, unknown> = {},
): Promise<number> {
  const values = valuesOf(table, row, { ...more, created_at: at, updated_at: at });
  const { rows } = await database.query<{ id: number }>(sql`
    INSERT INTO ${raw(table.name)} (${raw(values.map(([column]) => column).join(', '))})
    VALUES (${join(values.map(([, value]) => value))}) RETURNING id`);
  return (rows[0] as { id: number }).id;
}

/**
 * Stores the fields of a row. Its version stays, see `nextVersion`.
 *
 * @param more values of further columns
 */
export async function updateRow<Row extends Versioned>(
  database: Database,
  table: RecordTable,
  row: Row,
  at: Date,
  more: Record<string, unknown> = {},
): Promise<void> {
  const values = valuesOf(table, row, { ...more, updated_at: at });
  const assignments = values.map(([column, value]) => sql`${raw(column)} = ${value}`);
  await execute(database, sql`UPDATE ${raw(table.name)} SET ${join(assignments)} WHERE id = ${row.id}`);
}

/** Gives a row that has changed its next version. */
export async function nextVersion(database: Database, table: RecordTable, id: number): Promise<void> {
  await execute(database, sql`UPDATE ${raw(table.name)} SET version = version + 1 WHERE id = ${id}`);
}

export async function deleteRow(database: Database, table: RecordTable, id: number): Promise<void> {
  await execute(database, sql`DELETE FROM ${raw(table.name)} WHERE id = ${id}`);
}

/** The number of rows that meet a condition. */
export async function countRowsWhere(database: Database, { name }: RecordTable, where: Sql): Promise<number> {
  const { rows } = await database.query<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM ${raw(name)} WHERE ${where}`);
  return rows[0]?.count ?? 0;
}

/**
 * A page of rows, and their total number.
 *
 * @param list `where` selects the rows, by default all, and `filter` identifies it; `key` is the column or expression to
 *   sort by; `columns` are the selected columns, by default all
 */
export function listRows<Row extends { id: number }>(
  database: Database,
  lists: Lists,
  table: RecordTable,
  page: Page,
  { filter, where, key, columns }: { filter: object; where: Sql | undefined; key: string; columns?: Sql },
): Promise<{ items: Row[]; count: number }> {
  const { name } = table;
  const source = { table: name, columns: columns ?? selected(table), key, gather: where, look: where };
  return lists.list<Row>(database, `${name} ${JSON.stringify(filter)}`, source, page);
}

/** The columns of a person's records in the archive of their data, by the names of the columns. */
export function personalRows({ name, columns }: RecordTable, more: Sql, where: Sql): pg.QueryConfig {
  const names = Object.values(columns).map(column => asColumn(column).column);
  return sql`
    SELECT id, ${raw(names.join(', '))}, ${more}, created_at FROM ${raw(name)} WHERE ${where} ORDER BY id`;
}
