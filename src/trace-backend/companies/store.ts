import sql from 'sql-template-tag';
import type { Database } from '../../platform/postgres/database.ts';
import type { Page } from '../contract/schemas.ts';
import type { Lists } from '../lists/lists.ts';
import { foldName, ngramsOf } from '../lists/search.ts';
import { allOf, type ListSource } from '../lists/store.ts';
import type { SORTABLE, Status } from './schemas.ts';

/** The profile of a company; null for unset fields. */
export interface Profile {
  name: string;
  abbreviation: string | null;
  about: string | null;
  manager: string | null;
  webPage: string | null;
  email: string | null;
  address: string | null;
  city: string | null;
  state: string | null;
  zip: string | null;
  countryId: number | null;
  /** storage key of an image */
  logo: string | null;
}

export interface Company extends Profile {
  id: number;
  status: Status;
  version: number;
}

const COMPANY = sql`id, status, version, name, abbreviation, about, manager, web_page AS "webPage", email, address,
  city, state, zip, country_id AS "countryId", logo`;

export async function findCompany(database: Database, id: number): Promise<Company | undefined> {
  const { rows } = await database.query<Company>({
    name: 'find-company',
    text: `SELECT ${COMPANY.text} FROM companies WHERE id = $1`,
    values: [id],
  });
  return rows[0];
}

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
  const { name, abbreviation, about, manager, webPage, email } = profile;
  const { address, city, state, zip, countryId, logo } = profile;
  const folded = searchable(profile);
  const { rows } = await database.query<{ id: number }>(sql`
    INSERT INTO companies (status, name, abbreviation, about, manager, web_page, email, address, city, state, zip,
      country_id, logo, folded, tokens, created_by, created_at)
    VALUES ('ACTIVE', ${name}, ${abbreviation}, ${about}, ${manager}, ${webPage}, ${email}, ${address}, ${city},
      ${state}, ${zip}, ${countryId}, ${logo}, ${folded}, ${ngramsOf(folded)}, ${createdBy}, ${createdAt})
    RETURNING id`);
  return (rows[0] as { id: number }).id;
}

/** Stores the next version of a company, whose row lock the transaction holds. */
export async function updateProfile(database: Database, id: number, profile: Profile): Promise<void> {
  const { name, abbreviation, about, manager, webPage, email } = profile;
  const { address, city, state, zip, countryId, logo } = profile;
  const folded = searchable(profile);
  await database.query(sql`
    UPDATE companies SET name = ${name}, abbreviation = ${abbreviation}, about = ${about}, manager = ${manager},
      web_page = ${webPage}, email = ${email}, address = ${address}, city = ${city}, state = ${state}, zip = ${zip},
      country_id = ${countryId}, logo = ${logo}, folded = ${folded}, tokens = ${ngramsOf(folded)},
      version = version + 1
    WHERE id = ${id}`);
}

/** The same for a change of its status or of its users. */
export async function touchCompany(database: Database, id: number, status: Status): Promise<void> {
  await database.query(sql`UPDATE companies SET status = ${status}, version = version + 1 WHERE id = ${id}`);
}

/** The text that searches match; a line break sorts before every other character, so it also serves for sorting. */
function searchable({ name, abbreviation }: Pick<Profile, 'name' | 'abbreviation'>): string {
  return `${foldName(name)}\n${foldName(abbreviation ?? '')}`;
}

export interface CompanyFilter {
  /** companies that this user is a member of; without it, all */
  userId?: number | undefined;
  /** matches a part of the name or of the abbreviation */
  query?: string | undefined;
  status?: Status | undefined;
}

export type CompanySort = (typeof SORTABLE)[number];
const KEYS = { id: 'id', name: 'left(folded, 100)', status: 'status' };

export type ListedCompany = Pick<Company, 'id' | 'status' | 'name' | 'abbreviation'>;

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
  { userId, query, status }: CompanyFilter,
  sortBy: CompanySort,
  tokens: readonly string[],
): ListSource {
  const isMember =
    userId === undefined
      ? undefined
      : sql`id IN (SELECT company_id FROM company_users WHERE user_id = ${userId})`;
  const isStatus = status === undefined ? undefined : sql`status = ${status}`;
  // The n-grams select candidates by an index; then the whole text is compared.
  const holds = query === undefined ? undefined : sql`strpos(folded, ${foldName(query)}) > 0`;
  const byToken = holds && sql`tokens @> ${tokens}::text[]`;
  return {
    table: 'companies',
    columns: sql`id, status, name, abbreviation`,
    key: KEYS[sortBy],
    gather: allOf([isMember, isStatus, byToken, holds]),
    look: allOf([holds, isStatus, isMember]),
  };
}
