import { isDeepStrictEqual } from 'node:util';
import type pg from 'pg';
import { type Database, transaction } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Requester } from '../../base/access/requester.ts';
import { type AuditEvent, audit } from '../../base/audit/audit.ts';
import { idOf } from '../../base/contract/schemas.ts';
import { checkVersion } from '../../base/contract/versions.ts';
import type { Lists } from '../../base/lists/lists.ts';
import type { RecordKinds } from '../../base/records/kinds.ts';
import type { Mails } from '../../identity/mails/mails.ts';
import type { Passwords } from '../../identity/users/passwords.ts';
import { findCurrency } from '../currency/store.ts';
import { type ImageReference, type RecordAccess, setReferences } from '../images/references-store.ts';
import { findCompanyValueChains } from '../value-chains/companies-store.ts';
import { changeableCompany } from './access.ts';
import { findMemberships, setMember } from './members/members-store.ts';
import { entriesAfter, filesOf } from './record/entries.ts';
import { fieldsOf } from './record/fields.ts';
import { changedFields, emptyProfile, profileAfter } from './record/profile.ts';
import type { CompanyBody } from './record/schemas.ts';
import { insertCompany, newEntryIds, type Profile, updateProfile } from './record/store.ts';
import { setValueChains } from './record/value-chains.ts';

export interface CompaniesContext {
  pool: pg.Pool;
  lists: Lists;
  records: RecordKinds;
  mails: Mails;
  passwords: Passwords;
}

/**
 * Stores a new company. The sender becomes its COMPANY_ADMIN.
 *
 * @returns its id
 * @throws Problem invalid
 */
export async function createCompany(
  { pool, records }: CompaniesContext,
  requester: Requester,
  body: CompanyBody & { name: string },
): Promise<number> {
  const caller = requester.caller;
  return transaction(pool, async database => {
    const profile = await profileSent(database, emptyProfile(body.name), body);
    const id = await insertCompany(database, profile, caller.id, new Date());
    await setMember(database, id, { userId: caller.id, role: 'COMPANY_ADMIN' });
    const files = filesOf(profile);
    if (files.length > 0) await setFileReferences(database, { caller, records }, id, files);
    const valueChains = valueChainsAfter([], body);
    if (valueChains.length > 0) await setValueChains(database, id, valueChains, []);
    const details = { name: profile.name };
    await audit(database, requester, { action: 'CREATE_COMPANY', entity: 'company', entityId: id, details });
    return id;
  });
}

/**
 * Changes a company; omitted fields stay unchanged. A change without effect creates no version.
 *
 * @param id by default the only active company of which the caller is a COMPANY_ADMIN
 * @returns its id
 * @throws Problem not_found, forbidden, precondition_failed, invalid
 */
export async function changeCompany(
  { pool, records }: CompaniesContext,
  requester: Requester,
  id: number | undefined,
  body: CompanyBody,
): Promise<number> {
  const caller = requester.caller;
  return transaction(pool, async database => {
    const companyId = id ?? (await administeredCompany(database, caller.id));
    const { company } = await changeableCompany(database, caller, companyId);
    checkVersion(requester.ifMatch, company.version);
    const profile = await profileSent(database, company, body);
    // The locked row may have value chains from before the wait for the lock.
    const chains = await findCompanyValueChains(database, companyId);
    const valueChains = valueChainsAfter(chains, body);
    const hasOtherChains = !isDeepStrictEqual(chains, valueChains);
    const fields = [...changedFields(company, profile), ...(hasOtherChains ? ['valueChains'] : [])];
    if (fields.length === 0) return companyId;
    await updateProfile(database, companyId, profile);
    if (fields.some(field => WITH_FILES.includes(field))) {
      await setFileReferences(database, { caller, records }, companyId, filesOf(profile));
    }
    if (hasOtherChains) await setValueChains(database, companyId, valueChains, chains);
    const event: AuditEvent = {
      action: 'UPDATE_COMPANY',
      entity: 'company',
      entityId: companyId,
      details: { fields },
    };
    await audit(database, requester, event);
    return companyId;
  });
}

/** The fields of a company that have files. */
const WITH_FILES: readonly string[] = fieldsOf('image', 'documents', 'certifications');

/** A profile after a change, with ids for its new entries. */
async function profileSent(database: Database, before: Profile, body: CompanyBody): Promise<Profile> {
  const entries = await entriesAfter(before, body, count => newEntryIds(database, count));
  return profileAfter(before, body, { ...entries, currency: await currencyOf(database, body.currency) });
}

/** The ids of a company's value chains after a change, each once. */
function valueChainsAfter(before: number[], { valueChains }: CompanyBody): number[] {
  if (valueChains === undefined) return before;
  return [...new Set((valueChains ?? []).map(({ id }) => idOf(id)))];
}

/**
 * The code of a currency in a body; undefined for no change, null for none.
 *
 * @throws Problem invalid
 */
async function currencyOf(
  database: Database,
  sent: CompanyBody['currency'],
): Promise<string | null | undefined> {
  if (sent == null) return sent;
  const currency = await findCurrency(database, sent.code ?? '');
  if (currency) return currency.code;
  throw new Problem('currency.not_listed', { field: 'currency.code' });
}

async function administeredCompany(database: Database, userId: number): Promise<number> {
  const companies = (await findMemberships(database, userId)).filter(({ role }) => role === 'COMPANY_ADMIN');
  const [company] = companies;
  if (company && companies.length === 1) return company.companyId;
  if (!company) throw new Problem('company.none_administered', { field: 'id' });
  throw new Problem('company.several_administered', { field: 'id', count: companies.length });
}

async function setFileReferences(
  database: Database,
  writer: RecordAccess,
  id: number,
  files: readonly ImageReference[],
): Promise<void> {
  await setReferences(database, writer, { entity: 'company', entityId: id }, files);
}
