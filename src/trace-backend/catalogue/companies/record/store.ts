import sql, { join, raw, type Sql } from 'sql-template-tag';
import { type Database, execute } from '../../../../platform/database/database.ts';
import { rowsByKey, sharedRead } from '../../../../platform/database/shared-read.ts';
import type { Page } from '../../../base/contract/schemas.ts';
import type { Lists } from '../../../base/lists/lists.ts';
import { foldName, ngramsOf } from '../../../base/lists/search.ts';
import { allOf, containsText, type ListSource } from '../../../base/lists/store.ts';
import { VALUE_CHAIN_IDS } from '../../value-chains/companies-store.ts';
import type { Entries } from './entries.ts';
import { type AddressField, COLUMNS, type FIELDS, type NamesOf } from './fields.ts';
import type { FILTER_STATUSES, SORTABLE, Status } from './schemas.ts';

/** The stored value of each kind of field; null for unset ones. */
interface Stored extends Record<'text' | 'url' | 'email' | 'currency' | 'image', string | null>, Entries {
  name: string;
  flag: boolean | null;
  links: Record<string, string>;
}

/** The profile of a company, with the code of its currency and the storage key of its logo. */
export type Profile = Record<AddressField, string | null> & {
  [Name in NamesOf<{ kind: keyof Stored }>]: Stored[(typeof FIELDS)[Name]['kind']];
} & { countryId: number | null };

export type Company = Profile & {
  id: number;
  status: Status;
  version: number;
  /** ids of its value chains, in its order */
  valueChainIds: number[];
};

const FIELD_NAMES = Object.keys(COLUMNS) as (keyof Profile)[];

/** The value of a column, JSON for objects: the driver would write a list as a PostgreSQL array. */
function columnValue(profile: Profile, field: keyof Profile): unknown {
  const value = profile[field];
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
}

const COMPANY = raw(
  [
    'id',
    'status',
    'version',
    `${VALUE_CHAIN_IDS.text} AS "valueChainIds"`,
    ...FIELD_NAMES.map(field => `${COLUMNS[field]} AS "${field}"`),
  ].join(', '),
);

const companies = sharedRead(async (database, ids: readonly number[]) => {
  const { rows } = await database.query<Company>({
    name: 'find-companies',
    text: `SELECT ${COMPANY.text} FROM companies WHERE id = ANY ($1::integer[])`,
    values: [ids],
  });
  return rowsByKey(ids, rows, ({ id }) => id);
});

export const findCompany = (database: Database, id: number): Promise<Company | undefined> =>
  companies.one(database, id);

/** Companies in the order of these ids, also deactivated ones; missing ones are left out. */
export async function findCompanies(database: Database, ids: readonly number[]): Promise<Company[]> {
  return (await companies.many(database, ids)).filter(company => company !== undefined);
}

/** The query for the version of a company. */
export const selectCompanyVersion = (id: Sql) => sql`SELECT version FROM companies WHERE id = ${id}`;

/** A company, locked with its users until the end of the transaction. */
export async function lockCompany(database: Database, id: number): Promise<Company | undefined> {
  const { rows } = await database.query<Company>(
    sql`SELECT ${COMPANY} FROM companies WHERE id = ${id} FOR UPDATE`,
  );
  return rows[0];
}

/** Stores an active company as version 1. */
export async function insertCompany(
  database: Database,
  profile: Profile,
  createdBy: number,
  createdAt: Date,
): Promise<number> {
  const folded = searchable(profile);
  const columns = raw(FIELD_NAMES.map(field => COLUMNS[field]).join(', '));
  const { rows } = await database.query<{ id: number }>(sql`
    INSERT INTO companies (status, ${columns}, folded, tokens, created_by, created_at)
    VALUES ('ACTIVE', ${join(FIELD_NAMES.map(field => columnValue(profile, field)))}, ${folded}, ${ngramsOf(folded)}, ${createdBy},
      ${createdAt})
    RETURNING id`);
  return (rows[0] as { id: number }).id;
}

/** Stores the next version of a company, whose row lock the transaction holds. */
export async function updateProfile(database: Database, id: number, profile: Profile): Promise<void> {
  const folded = searchable(profile);
  const changes = FIELD_NAMES.map(field => sql`${raw(COLUMNS[field])} = ${columnValue(profile, field)}`);
  await execute(
    database,
    sql`
    UPDATE companies SET ${join(changes)}, folded = ${folded}, tokens = ${ngramsOf(folded)}, version = version + 1
    WHERE id = ${id}`,
  );
}

/** Ids for a number of new entries of lists of companies. */
export async function newEntryIds(database: Database, count: number): Promise<number[]> {
  if (count === 0) return [];
  const { rows } = await database.query<{ id: number }>(sql`
    INSERT INTO company_entry_ids (given_at)
    SELECT ${new Date()}::timestamptz FROM generate_series(1, ${count}::int) RETURNING id`);
  return rows.map(({ id }) => id);
}

/** Stores the next version of a company for a change of its status or of its users. */
export async function touchCompany(database: Database, id: number, status: Status): Promise<void> {
  await execute(
    database,
    sql`UPDATE companies SET status = ${status}, version = version + 1 WHERE id = ${id}`,
  );
}

/** The text for searching. It also serves for sorting, because a line break sorts before every other character. */
function searchable({ name, abbreviation }: Pick<Profile, 'name' | 'abbreviation'>): string {
  return `${foldName(name)}\n${foldName(abbreviation ?? '')}`;
}

export interface CompanyFilter {
  /** only companies with this member */
  userId?: number | undefined;
  /** only companies with these ids */
  ids?: readonly number[] | undefined;
  /** matches a part of the name or of the abbreviation */
  query?: string | undefined;
  status?: (typeof FILTER_STATUSES)[number] | undefined;
}

export type CompanySort = (typeof SORTABLE)[number];
const KEYS = { id: 'id', name: 'name_key', status: 'status' };

export type ListedCompany = Pick<Company, 'id' | 'status' | 'name' | 'abbreviation' | 'logo'>;

/** A page of companies, and their total number. */
export async function listCompanies(
  database: Database,
  lists: Lists,
  filter: CompanyFilter,
  page: Page<CompanySort>,
): Promise<{ items: ListedCompany[]; count: number }> {
  const { query } = filter;
  const tokens = query === undefined ? [] : await lists.ngramsFor(database, 'companies', foldName(query));
  const source = listSource(filter, page.sortBy, tokens);
  return lists.list<ListedCompany>(database, `companies ${JSON.stringify(filter)}`, source, page);
}

/**
 * The rows of a list. Exported so that a test can check the plans of its statements.
 *
 * @param tokens the n-grams for the index
 */
export function listSource(
  { userId, ids, query, status }: CompanyFilter,
  sortBy: CompanySort,
  tokens: readonly string[],
): ListSource {
  const isMember =
    userId === undefined
      ? undefined
      : sql`id IN (SELECT company_id FROM company_users WHERE user_id = ${userId})`;
  const hasId = ids && sql`id = ANY (${ids}::integer[])`;
  const hasStatus = status === undefined ? undefined : sql`status = ${status}`;
  const folded = query === undefined ? undefined : foldName(query);
  // The n-grams select candidates by an index; then the whole text is compared.
  const containsQuery =
    folded === undefined ? undefined : sql`tokens @> ${tokens}::text[] AND strpos(folded, ${folded}) > 0`;
  const rowContains = folded === undefined ? undefined : containsText('companies', folded);
  return {
    table: 'companies',
    columns: sql`id, status, name, abbreviation, logo`,
    key: KEYS[sortBy],
    gather: allOf([isMember, hasId, hasStatus, containsQuery]),
    look: allOf([rowContains, hasStatus, isMember, hasId]),
    gathersRows: containsQuery !== undefined,
  };
}
