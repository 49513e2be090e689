import sql, { empty, join, raw, type Sql } from 'sql-template-tag';
import type { Database } from '../../platform/postgres/database.ts';
import type { Page } from '../contract/schemas.ts';
import { fold, neededTokens, tokensOf } from '../products/search.ts';
import type { Status } from './schemas.ts';

/** What a company says of itself; null is what it never said. */
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

/** A company that nobody else changes until the end of the transaction, nor its users. */
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
      ${state}, ${zip}, ${countryId}, ${logo}, ${folded}, ${tokensOf(folded)}, ${createdBy}, ${createdAt})
    RETURNING id`);
  return (rows[0] as { id: number }).id;
}

/** Makes the next version of a company, whose row the transaction holds. */
export async function updateProfile(database: Database, id: number, profile: Profile): Promise<void> {
  const { name, abbreviation, about, manager, webPage, email } = profile;
  const { address, city, state, zip, countryId, logo } = profile;
  const folded = searchable(profile);
  await database.query(sql`
    UPDATE companies SET name = ${name}, abbreviation = ${abbreviation}, about = ${about}, manager = ${manager},
      web_page = ${webPage}, email = ${email}, address = ${address}, city = ${city}, state = ${state}, zip = ${zip},
      country_id = ${countryId}, logo = ${logo}, folded = ${folded}, tokens = ${tokensOf(folded)},
      version = version + 1
    WHERE id = ${id}`);
}

/** The same for its status alone, or for what belongs to it and stands elsewhere, such as its users. */
export async function touchCompany(database: Database, id: number, status: Status): Promise<void> {
  await database.query(sql`UPDATE companies SET status = ${status}, version = version + 1 WHERE id = ${id}`);
}

/** What a company is searched for by; a line break stands before every other character, so it also sorts. */
function searchable({ name, abbreviation }: Pick<Profile, 'name' | 'abbreviation'>): string {
  return `${fold(name)}\n${fold(abbreviation ?? '')}`;
}

export interface CompanyFilter {
  /** companies that this user is a member of; without it, all */
  userId?: number | undefined;
  /** part of the name or of the abbreviation */
  query?: string | undefined;
  status?: Status | undefined;
}

const COLUMNS = { id: 'id', name: 'left(folded, 100)', status: 'status' } as const;
export type CompanySort = keyof typeof COLUMNS;

export type ListedCompany = Pick<Company, 'id' | 'status' | 'name' | 'abbreviation'>;

/** A page of companies, and how many there are in all. */
export async function listCompanies(
  database: Database,
  filter: CompanyFilter,
  page: Page<CompanySort>,
): Promise<{ items: ListedCompany[]; count: number }> {
  const { rows: items } = await database.query<ListedCompany>(pageStatement(filter, page));
  // A page that is not full is the last one: nothing is left to be counted.
  if (items.length < page.limit && (items.length > 0 || page.offset === 0)) {
    return { items, count: page.offset + items.length };
  }
  const { rows } = await database.query<{ count: number }>(countStatement(filter));
  return { items, count: rows[0]?.count ?? 0 };
}

/**
 * The statement for a page of companies. Exported so that a test can look at its plan.
 *
 * What a search finds is gathered whole by its index before it is sorted; OFFSET 0 has the planner keep to that.
 * Otherwise, taking a rare word such as 7777 for a frequent one, it walks through all companies in their order.
 */
export function pageStatement(
  filter: CompanyFilter,
  { limit, offset, sortBy, sort }: Page<CompanySort>,
): Sql {
  const order = sortBy === 'id' ? empty : sql`, id ${raw(sort)}`;
  const isSearch = filter.query !== undefined;
  return sql`
    SELECT id, status, name, abbreviation FROM (
      SELECT id, status, name, abbreviation, folded FROM companies
      WHERE ${conditions(filter)} ${isSearch ? sql`OFFSET 0` : empty}) AS found
    ORDER BY ${raw(COLUMNS[sortBy])} ${raw(sort)}${order} LIMIT ${limit} OFFSET ${offset}`;
}

/** The statement for how many there are. Exported so that a test can look at its plan. */
export function countStatement(filter: CompanyFilter): Sql {
  return sql`SELECT count(*)::int AS count FROM companies WHERE ${conditions(filter)}`;
}

function conditions({ userId, query, status }: CompanyFilter): Sql {
  const folded = query === undefined ? undefined : fold(query);
  return join(
    [
      sql`true`,
      userId === undefined
        ? undefined
        : sql`id IN (SELECT company_id FROM company_users WHERE user_id = ${userId})`,
      status === undefined ? undefined : sql`status = ${status}`,
      // The tokens narrow by an index; whether the text is in there as a whole is decided by looking.
      folded === undefined
        ? undefined
        : sql`tokens @> ${neededTokens(folded)}::text[] AND strpos(folded, ${folded}) > 0`,
    ].filter(condition => condition !== undefined),
    ' AND ',
  );
}
