import sql, { raw } from 'sql-template-tag';
import type { Database } from '../../../platform/database/database.ts';
import type { Language } from '../../base/contract/language.ts';
import type { Page } from '../../base/contract/schemas.ts';
import type { Lists } from '../../base/lists/lists.ts';
import * as records from '../../base/records/store.ts';
import type { CodeList } from './lists.ts';
import type { CodeContent } from './merge.ts';

/** A code of a list. */
export interface Code extends CodeContent {
  id: number;
  createdAt: Date;
  updatedAt: Date;
  /** counts its changes */
  version: number;
}

/** A row, with the values of the list's fields by name. */
type Row = Omit<Code, 'fields'> & Record<string, unknown>;

const tables = new Map<string, records.RecordTable>();

/** The table of a list. */
function tableOf(list: CodeList): records.RecordTable {
  const table = tables.get(list.table) ?? recordTable(list);
  tables.set(list.table, table);
  return table;
}

function recordTable({ table, fields, unit, translated }: CodeList): records.RecordTable {
  const columns = Object.entries(fields).map(([name, { column }]) => [name, column]);
  const dates = { createdAt: 'created_at', updatedAt: 'updated_at' };
  const isTranslated = translated.length > 0;
  return {
    name: table,
    columns: {
      ...Object.fromEntries(columns),
      ...(unit && { unitId: unit.column }),
      ...(isTranslated && { translations: { column: 'translations', isJson: true } }),
    },
    read: {
      ...dates,
      ...(!unit && { unitId: 'NULL::integer' }),
      ...(!isTranslated && { translations: "'{}'::jsonb" }),
    },
  };
}

function asCode({ fields }: CodeList, row: Row): Code {
  const { id, unitId, translations, createdAt, updatedAt, version } = row;
  const values = Object.fromEntries(Object.keys(fields).map(name => [name, row[name] ?? null]));
  return { id, unitId, translations, createdAt, updatedAt, version, fields: values };
}

const asRow = ({ fields, ...rest }: CodeContent) => ({ ...fields, ...rest });

export async function findCode(database: Database, list: CodeList, id: number): Promise<Code | undefined> {
  const [code] = await findCodes(database, list, [id]);
  return code;
}

/** Existing codes of a list, in the order of these ids. */
export async function findCodes(database: Database, list: CodeList, ids: readonly number[]): Promise<Code[]> {
  return (await records.findRows<Row>(database, tableOf(list), ids)).map(row => asCode(list, row));
}

/**
 * The ids among these that a list has. Their codes cannot be deleted before the end of the transaction.
 */
export async function keepCodes(
  database: Database,
  list: CodeList,
  ids: readonly number[],
): Promise<Set<number>> {
  const found = await database.query<{ id: number }>(sql`
    SELECT id FROM ${raw(list.table)} WHERE id = ANY (${ids}::integer[]) ORDER BY id FOR KEY SHARE`);
  return new Set(found.rows.map(({ id }) => id));
}

/** Serializes transactions that write to a list; readers do not wait. */
export async function lockList(database: Database, { table }: CodeList): Promise<void> {
  await database.query(sql`LOCK TABLE ${raw(table)} IN SHARE ROW EXCLUSIVE MODE`);
}

/** The number of codes of a list, and whether another code has the same key. */
export async function findRoom(
  database: Database,
  { table, fields, key }: CodeList,
  value: unknown,
  ownId: number | undefined,
): Promise<{ count: number; isTaken: boolean }> {
  const isSame = key ? sql`${raw(fields[key]?.column ?? key)} = ${value}` : sql`false`;
  const found = await database.query<{ count: number; isTaken: boolean }>(sql`
    SELECT count(*)::int AS count,
      coalesce(bool_or(${isSame} AND id IS DISTINCT FROM ${ownId ?? null}::integer), false) AS "isTaken"
    FROM ${raw(table)}`);
  return found.rows[0] as { count: number; isTaken: boolean };
}

export const insertCode = (
  database: Database,
  list: CodeList,
  code: CodeContent,
  { createdBy, at }: { createdBy: number; at: Date },
) => records.insertRow(database, tableOf(list), asRow(code), at, { created_by: createdBy });

/** Stores the next version of a code, whose list the transaction has locked. */
export const updateCode = (
  database: Database,
  list: CodeList,
  { id, version }: Code,
  code: CodeContent,
  at: Date,
) =>
  records.updateRow(database, tableOf(list), { ...asRow(code), id, version }, at, { version: version + 1 });

export const deleteCode = (database: Database, list: CodeList, id: number) =>
  records.deleteRow(database, tableOf(list), id);

/** A code, locked so that no new reference to it is stored before the end of the transaction. */
export async function lockCode(database: Database, list: CodeList, id: number): Promise<Code | undefined> {
  const { rowCount } = await database.query(sql`SELECT FROM ${raw(list.table)} WHERE id = ${id} FOR UPDATE`);
  return rowCount === 0 ? undefined : findCode(database, list, id);
}

/** The codes that refer to a measure unit type: per kind an example's name, and their number. */
export async function findUnitUses(
  database: Database,
  unitId: number,
): Promise<{ noun: string; name: string; count: number }[]> {
  const found = await database.query<{ noun: string; name: string; count: number }>(sql`
    SELECT 'measure unit type' AS noun, min(label) AS name, count(*)::int AS count FROM measure_unit_types
    WHERE underlying_id = ${unitId} HAVING count(*) > 0
    UNION ALL SELECT 'semi-product', min(name), count(*)::int FROM semi_products
    WHERE unit_id = ${unitId} HAVING count(*) > 0`);
  return found.rows;
}

/** Whether a measure unit type is based on another one, directly or through others. */
export async function isBasedOn(database: Database, id: number, baseId: number): Promise<boolean> {
  const found = await database.query<{ is: boolean }>(sql`
    WITH RECURSIVE bases (id) AS (
      SELECT ${id}::integer
      UNION SELECT underlying_id FROM measure_unit_types JOIN bases USING (id) WHERE underlying_id IS NOT NULL)
    SELECT EXISTS (SELECT FROM bases WHERE id = ${baseId}) AS is`);
  return found.rows[0]?.is ?? false;
}

/** The fields by which a list of codes can be sorted. */
export const SORTABLE = ['id', 'code', 'fieldName', 'label', 'name'] as const;
export type CodeSort = (typeof SORTABLE)[number];

/**
 * A page of a list, and its total number. Titles are sorted by their text in a language; a field that the list does not
 * have means its title.
 *
 * @param selection `ids` restricts the list to these codes
 */
export async function listCodes(
  database: Database,
  lists: Lists,
  list: CodeList,
  { language, ids }: { language: Language; ids?: readonly number[] },
  page: Page<CodeSort>,
): Promise<{ items: Code[]; count: number }> {
  const hasId = ids && sql`id = ANY (${ids}::integer[])`;
  const listing = { filter: ids ?? [], where: hasId, key: sortKey(list, page.sortBy, language) };
  const { items, count } = await records.listRows<Row>(database, lists, tableOf(list), page, listing);
  return { items: items.map(row => asCode(list, row)), count };
}

function sortKey({ fields, key, title, translated }: CodeList, sortBy: CodeSort, language: Language): string {
  if (sortBy === 'id') return 'id';
  if (sortBy === key) return fields[key]?.column ?? 'id';
  return translated.length > 0
    ? `lower(coalesce(translations->'${language}'->>'${title}', ${title}))`
    : `lower(${title})`;
}
