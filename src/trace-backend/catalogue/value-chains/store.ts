import sql, { join, raw } from 'sql-template-tag';
import { type Database, execute } from '../../../platform/database/database.ts';
import type { Page } from '../../base/contract/schemas.ts';
import type { Lists } from '../../base/lists/lists.ts';
import { foldName } from '../../base/lists/search.ts';
import { allOf } from '../../base/lists/store.ts';
import type { Use } from '../../base/records/changes.ts';
import * as records from '../../base/records/store.ts';
import { CODE_LISTS, type CodeList } from '../codes/lists.ts';

export const STATUSES = ['ENABLED', 'DISABLED'] as const;
export type Status = (typeof STATUSES)[number];

/** The fields of a value chain with codes: the list of the codes, and the table of references. */
export const LINKS = {
  facilityTypes: { list: CODE_LISTS.facilityTypes, table: 'value_chain_facility_types' },
  measureUnitTypes: { list: CODE_LISTS.measureUnitTypes, table: 'value_chain_measure_unit_types' },
  processingEvidenceTypes: { list: CODE_LISTS.processingEvidenceTypes, table: 'value_chain_evidence_types' },
  processingEvidenceFields: {
    list: CODE_LISTS.processingEvidenceFields,
    table: 'value_chain_evidence_fields',
  },
  semiProducts: { list: CODE_LISTS.semiProducts, table: 'value_chain_semi_products' },
} as const;
export type LinkField = keyof typeof LINKS;
export const LINK_FIELDS = Object.keys(LINKS) as LinkField[];

/** The ids of the codes of each kind, in their order. */
export type Links = Record<LinkField, number[]>;

/** A value chain without its codes. */
export interface ValueChain {
  id: number;
  name: string;
  description: string | null;
  status: Status;
  productTypeId: number | null;
  /** counts its changes */
  version: number;
}

const TABLE: records.RecordTable = {
  name: 'value_chains',
  columns: {
    name: 'name',
    description: 'description',
    status: 'status',
    productTypeId: 'product_type_id',
  },
};

/** Existing value chains, in the order of these ids. */
export const findValueChains = (database: Database, ids: readonly number[]) =>
  records.findRows<ValueChain>(database, TABLE, ids);
export const findValueChain = (database: Database, id: number) =>
  records.findRow<ValueChain>(database, TABLE, id);
/** A value chain, locked until the end of the transaction. */
export const lockValueChain = (database: Database, id: number) =>
  records.lockRow<ValueChain>(database, TABLE, id);
/** Deletes a value chain that no company and no product refers to. */
export const deleteValueChain = (database: Database, id: number) => records.deleteRow(database, TABLE, id);

/** Existing value chains among these. They cannot be deleted before the end of the transaction. */
export async function keepValueChains(database: Database, ids: readonly number[]): Promise<ValueChain[]> {
  const { rows } = await database.query<ValueChain>(sql`
    SELECT ${records.selected(TABLE)} FROM value_chains WHERE id = ANY (${ids}::integer[]) ORDER BY id FOR KEY SHARE`);
  return rows;
}

/** The ids of the codes of a value chain. */
export async function findLinks(database: Database, id: number): Promise<Links> {
  const columns = LINK_FIELDS.map(
    field => sql`ARRAY(SELECT code_id FROM ${raw(LINKS[field].table)} WHERE value_chain_id = ${id}
      ORDER BY position) AS ${raw(`"${field}"`)}`,
  );
  const { rows } = await database.query<Links>(sql`SELECT ${join(columns)}`);
  return rows[0] as Links;
}

/** Replaces the codes of one kind of a value chain, in this order. */
export async function setLinks(
  database: Database,
  id: number,
  field: LinkField,
  ids: readonly number[],
): Promise<void> {
  const table = raw(LINKS[field].table);
  await execute(database, sql`DELETE FROM ${table} WHERE value_chain_id = ${id}`);
  await execute(
    database,
    sql`
    INSERT INTO ${table} (value_chain_id, code_id, position)
    SELECT ${id}::integer, code_id, position
    FROM unnest(${ids}::integer[]) WITH ORDINALITY AS sent (code_id, position)`,
  );
}

/** The ids of the codes of one kind that these value chains use. */
export async function findLinked(
  database: Database,
  field: LinkField,
  valueChainIds: readonly number[],
): Promise<number[]> {
  const { rows } = await database.query<{ id: number }>(sql`
    SELECT DISTINCT code_id AS id FROM ${raw(LINKS[field].table)}
    WHERE value_chain_id = ANY (${valueChainIds}::integer[])`);
  return rows.map(({ id }) => id);
}

/** Stores a new value chain; returns its id. */
export const insertValueChain = (
  database: Database,
  valueChain: Omit<ValueChain, 'id' | 'version'>,
  { createdBy, at }: { createdBy: number; at: Date },
) =>
  records.insertRow(database, TABLE, valueChain, at, {
    folded: foldName(valueChain.name),
    created_by: createdBy,
  });

/** Stores the next version of a value chain, whose row lock the transaction holds. */
export const updateValueChain = (database: Database, valueChain: ValueChain, at: Date) =>
  records.updateRow(database, TABLE, valueChain, at, {
    folded: foldName(valueChain.name),
    version: valueChain.version + 1,
  });

/** The value chains that use a code: an example's name, and their number. */
export async function findCodeUses(database: Database, list: CodeList, id: number): Promise<Use[]> {
  const link = Object.values(LINKS).find(({ list: codeList }) => codeList === list);
  const isUsed = link
    ? sql`id IN (SELECT value_chain_id FROM ${raw(link.table)} WHERE code_id = ${id})`
    : sql`product_type_id = ${id}`;
  const { rows } = await database.query<{ name: string; count: number }>(sql`
    SELECT min(name) AS name, count(*)::int AS count FROM value_chains WHERE ${isUsed} HAVING count(*) > 0`);
  return rows.map(({ name, count }) => ({ noun: 'value chain', name, count }));
}

export interface ValueChainFilter {
  /** matches a part of the name */
  query?: string | undefined;
  status?: Status | undefined;
  productTypeId?: number | undefined;
  /** only those of a company */
  companyId?: number | undefined;
}

export const SORTABLE = ['id', 'name', 'description'] as const;
const KEYS = { id: 'id', name: 'name_key', description: "coalesce(description, '')" };

/** A page of value chains, and their total number. */
export async function listValueChains(
  database: Database,
  lists: Lists,
  filter: ValueChainFilter,
  page: Page<(typeof SORTABLE)[number]>,
): Promise<{ items: ValueChain[]; count: number }> {
  const { query, status, productTypeId, companyId } = filter;
  const where = allOf([
    companyId === undefined
      ? undefined
      : sql`id IN (SELECT value_chain_id FROM company_value_chains WHERE company_id = ${companyId})`,
    productTypeId === undefined ? undefined : sql`product_type_id = ${productTypeId}`,
    status === undefined ? undefined : sql`status = ${status}`,
    query === undefined ? undefined : sql`strpos(folded, ${foldName(query)}) > 0`,
  ]);
  return records.listRows<ValueChain>(database, lists, TABLE, page, {
    filter,
    where,
    key: KEYS[page.sortBy],
  });
}
