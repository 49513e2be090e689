import type pg from 'pg';
import { Problem } from '../../platform/http/problems.ts';
import { type Database, transaction } from '../../platform/postgres/database.ts';
import type { Requester } from '../access/requester.ts';
import type { Mails } from '../accounts/mails/mails.ts';
import { audit } from '../audit/audit.ts';
import { checkVersion } from '../contract/versions.ts';
import { type IsOwn, setReferences, type Writer } from '../images/references-store.ts';
import type { Lists } from '../lists/lists.ts';
import { changeableCompany } from './access.ts';
import { findMemberships, setMember } from './members-store.ts';
import { changedFields, emptyProfile, profileAfter } from './profile.ts';
import type { CompanyBody } from './schemas.ts';
import { insertCompany, updateProfile } from './store.ts';

export interface CompaniesContext {
  pool: pg.Pool;
  lists: Lists;
  /** decides from which records images may be reused */
  isOwn: IsOwn;
  mails: Mails;
}

/**
 * Stores a new company. Its sender becomes its COMPANY_ADMIN.
 *
 * @returns its id
 * @throws Problem invalid
 */
export async function createCompany(
  { pool, isOwn }: CompaniesContext,
  requester: Requester,
  body: CompanyBody & { name: string },
): Promise<number> {
  const caller = requester.caller;
  const profile = profileAfter(emptyProfile(body.name), body);
  return transaction(pool, async database => {
    const id = await insertCompany(database, profile, caller.id, new Date());
    await setMember(database, id, { userId: caller.id, role: 'COMPANY_ADMIN' });
    if (profile.logo !== null) await carry(database, { caller, isOwn }, id, profile.logo);
    const details = { name: profile.name };
    await audit(database, requester, { action: 'CREATE_COMPANY', entity: 'company', entityId: id, details });
    return id;
  });
}

/**
 * Changes a company; omitted fields stay unchanged. A change without effect creates no version.
 *
 * @param id without it, the only active company whose COMPANY_ADMIN the caller is
 * @returns its id
 * @throws Problem not_found, forbidden, precondition_failed, invalid
 */
export async function changeCompany(
  { pool, isOwn }: CompaniesContext,
  requester: Requester,
  id: number | undefined,
  body: CompanyBody,
): Promise<number> {
  const caller = requester.caller;
  return transaction(pool, async database => {
    const companyId = id ?? (await onlyCompany(database, caller.id));
    const { company } = await changeableCompany(database, caller, companyId);
    checkVersion(requester.ifMatch, company.version);
    const profile = profileAfter(company, body);
    const fields = changedFields(company, profile);
    if (fields.length === 0) return companyId;
    await updateProfile(database, companyId, profile);
    if (fields.includes('logo')) await carry(database, { caller, isOwn }, companyId, profile.logo);
    const event = { action: 'UPDATE_COMPANY', entity: 'company', entityId: companyId, details: { fields } };
    await audit(database, requester, event);
    return companyId;
  });
}

async function onlyCompany(database: Database, userId: number): Promise<number> {
  const companies = (await findMemberships(database, userId)).filter(({ role }) => role === 'COMPANY_ADMIN');
  const [company] = companies;
  if (company && companies.length === 1) return company.companyId;
  const sentence = `id is required: you are the COMPANY_ADMIN of ${company ? companies.length : 'no'} companies`;
  throw new Problem('invalid', sentence, { fields: { id: sentence } });
}

async function carry(database: Database, writer: Writer, id: number, logo: string | null): Promise<void> {
  const images =
    logo === null ? [] : [{ field: 'logo.storageKey', storageKey: logo, kind: 'image' as const }];
  await setReferences(database, writer, { entity: 'company', entityId: id }, images);
}
