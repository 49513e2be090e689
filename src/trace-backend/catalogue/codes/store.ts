import sql, { join, raw } from 'sql-template-tag';
import type { Database } from '../../../platform/database/database.ts';
import type { Language } from '../../base/contract/language.ts';
import type { Page } from '../../base/contract/schemas.ts';
import type { Lists } from '../../base/lists/lists.ts';
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

/** A row, with the columns of the list's fields by the names of the fields. */
type Row = Omit<Code, 'fields'> & Record<string, unknown>;

function columnsOf({ fields, unit, translated }: CodeList) {
  const own = Object.entries(fields).map(([name, { column }]) => `${column} AS "${name}"`);
  return raw(
    [
      'id',
      ...own,
      `${unit?.column ?? 'NULL::integer'} AS "unitId"`,
      translated.length > 0 ? 'translations' : `'{}'::jsonb AS translations`,
      'created_at AS "createdAt"',
      'updated_at AS "updatedAt"',
      'version',
    ].join(', '),
  );
}

function asCode({ fields }: CodeList, row: Row): Code {
  const { id, unitId, translations, createdAt, updatedAt, version } = row;
  const own = Object.fromEntries(Object.keys(fields).map(name => [name, row[name] ?? null]));
  return { id, unitId, translations, createdAt, updatedAt, version, fields: own };
}

export async function findCode(database: Database, list: CodeList, id: number): Promise<Code | undefined> {
  const [code] = await findCodes(database, list, [id]);
  return code;
}

/** Codes of a list in the order of these ids; missing ones are left out. */
export async function findCodes(database: Database, list: CodeList, ids: readonly number[]): Promise<Code[]> {
  if (ids.length === 0) return [];
  const { rows } = await database.query<Row>(sql`
    SELECT ${columnsOf(list)} FROM ${raw(list.table)} WHERE id = ANY (${ids}::integer[])`);
  const byId = new Map(rows.map(row => [row.id, asCode(list, row)]));
  return ids.flatMap(id => byId.get(id) ?? []);
}

/**
 * Those of these ids that a list has, in the order of the ids. The codes are not deleted before the end of the
 * transaction.
 */
export async function keepCodes(
  database: Database,
  list: CodeList,
  ids: readonly number[],
): Promise<Set<number>> {
  const { rows } = await database.query<{ id: number }>(sql`
    SELECT id FROM ${raw(list.table)} WHERE id = ANY (${ids}::integer[]) ORDER BY id FOR KEY SHARE`);
  return new Set(rows.map(({ id }) => id));
}

/** Lets one transaction after the other write to a list; readers do not wait. */
export async function lockList(database: Database, { table }: CodeList): Promise<void> {
  await database.query(sql`LOCK TABLE ${raw(table)} IN SHARE ROW EXCLUSIVE MODE`);
}

/** The number of codes of a list, and whether another one has the same key. */
export async function findRoom(
  database: Database,
  { table, fields, key }: CodeList,
  value: unknown,
  ownId: number | undefined,
): Promise<{ count: number; isTaken: boolean }> {
  const isSame = key ? sql`${raw(fields[key]?.column ?? key)} = ${value}` : sql`false`;
  const { rows } = await database.query<{ count: number; isTaken: boolean }>(sql`
    SELECT count(*)::int AS count,
      coalesce(bool_or(${isSame} AND id IS DISTINCT FROM ${ownId ?? null}::integer), false) AS "isTaken"
    FROM ${raw(table)}`);
  return rows[0] as { count: number; isTaken: boolean };
}

/** Columns and their values for an insert or an update. */
function valuesOf({ fields, unit, translated }: CodeList, code: CodeContent): [string, unknown][] {
  return [
    ...Object.entries(fields).map(([name, { column }]): [string, unknown] => [column, code.fields[name]]),
    ...(unit ? [[unit.column, code.unitId] as [string, unknown]] : []),
    ...(translated.length > 0
      ? [['translations', JSON.stringify(code.translations)] as [string, unknown]]
      : []),
  ];
}

export async function insertCode(
  database: Database,
  list: CodeList,
  code: CodeContent,
  { createdBy, at }: { createdBy: number; at: Date },
): Promise<number> {
  const values = [
    ...valuesOf(list, code),
    ['created_by', createdBy],
    ['created_at', at],
    ['updated_at', at],
  ] as const;
  const { rows } = await database.query<{ id: number }>(sql`
    INSERT INTO ${raw(list.table)} (${raw(values.map(([column]) => column).join(', '))})
    VALUES (${join(values.map(([, value]) => value))}) RETURNING id`);
  return (rows[0] as { id: number }).id;
}

export async function updateCode(
  database: Database,
  list: CodeList,
  id: number,
  code: CodeContent,
  at: Date,
): Promise<void> {
  const values = [...valuesOf(list, code), ['updated_at', at] as const];
  const assignments = values.map(([column, value]) => sql`${raw(column)} = ${value}`);
  await database.query(sql`
    UPDATE ${raw(list.table)} SET ${join(assignments)}, version = version + 1 WHERE id = ${id}`);
}

export async function deleteCode(database: Database, { table }: CodeList, id: number): Promise<void> {
  await database.query(sql`DELETE FROM ${raw(table)} WHERE id = ${id}`);
}

/** A code of which nothing refers to it from now to the end of the transaction; undefined for an unknown one. */
export async function lockCode(database: Database, list: CodeList, id: number): Promise<Code | undefined> {
  const { rowCount } = await database.query(sql`SELECT FROM ${raw(list.table)} WHERE id = ${id} FOR UPDATE`);
  return rowCount === 0 ? undefined : findCode(database, list, id);
}

/** The codes that refer to a measure unit type: some of their names, and how many there are. */
export async function findUnitUses(
  database: Database,
  unitId: number,
): Promise<{ noun: string; name: string; count: number }[]> {
  const { rows } = await database.query<{ noun: string; name: string; count: number }>(sql`
    SELECT 'measure unit type' AS noun, min(label) AS name, count(*)::int AS count FROM measure_unit_types
    WHERE underlying_id = ${unitId} HAVING count(*) > 0
    UNION ALL SELECT 'semi-product', min(name), count(*)::int FROM semi_products
    WHERE unit_id = ${unitId} HAVING count(*) > 0`);
  return rows;
}

/** Whether a measure unit type is based on another one, directly or through others. */
export async function isBasedOn(database: Database, id: number, baseId: number): Promise<boolean> {
  const { rows } = await database.query<{ is: boolean }>(sql`
    WITH RECURSIVE bases (id) AS (
      SELECT ${id}::integer
      UNION SELECT underlying_id FROM measure_unit_types JOIN bases USING (id) WHERE underlying_id IS NOT NULL)
    SELECT EXISTS (SELECT FROM bases WHERE id = ${baseId}) AS is`);
  return rows[0]?.is ?? false;
}

/** The fields by which a list of codes can be sorted. */
export const SORTABLE = ['id', 'code', 'fieldName', 'label', 'name'] as const;
export type CodeSort = (typeof SORTABLE)[number];

/**
 * A page of a list, and its total number. Titles are sorted as they are in a language; a field that the list does not
 * have means its title.
 *
 * @param ids only these
 */
export async function listCodes(
  database: Database,
  lists: Lists,
  list: CodeList,
  { language, ids }: { language: Language; ids?: readonly number[] },
  page: Page<CodeSort>,
): Promise<{ items: Code[]; count: number }> {
  const isOne = ids && sql`id = ANY (${ids}::integer[])`;
  const source = {
    table: list.table,
    columns: columnsOf(list),
    key: sortKey(list, page.sortBy, language),
    gather: isOne,
    look: isOne,
  };
  const name = `${list.table} ${JSON.stringify(ids ?? [])}`;
  const { items, count } = await lists.list<Row>(database, name, source, page);
  return { items: items.map(row => asCode(list, row)), count };
}

function sortKey({ fields, key, title, translated }: CodeList, sortBy: CodeSort, language: Language): string {
  if (sortBy === 'id') return 'id';
  if (sortBy === key) return fields[key]?.column ?? 'id';
  return translated.length > 0
    ? `lower(coalesce(translations->'${language}'->>'${title}', ${title}))`
    : `lower(${title})`;
}
