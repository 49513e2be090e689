import type { Database } from '../../../../platform/database/database.ts';
import type { Caller } from '../../../base/access/authentication.ts';
import type { Language } from '../../../base/contract/language.ts';
import { maySeeCompanies } from '../../companies/access.ts';
import { findCompany } from '../../companies/record/store.ts';
import { asProfile } from '../../companies/view.ts';

/** The full profile of the company that owns a product, without its users; undefined if the caller may not see it. */
export async function wholeOwner(
  database: Database,
  caller: Caller,
  companyId: number | null,
  language: Language,
): Promise<object | undefined> {
  if (companyId === null) return undefined;
  const [maySee, company] = await Promise.all([
    maySeeCompanies(database, caller, [companyId]),
    findCompany(database, companyId),
  ]);
  return maySee && company ? profileOf(database, company, language) : undefined;
}

/** A company as in answers, without its users, with the texts of its value chains in a language. */
export async function profileOf(
  database: Database,
  company: NonNullable<Awaited<ReturnType<typeof findCompany>>>,
  language: Language = 'EN',
): Promise<object> {
  return { status: company.status, ...(await asProfile(database, company, language)) };
}
