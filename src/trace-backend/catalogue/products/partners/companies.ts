import type { Database } from '../../../../platform/database/database.ts';
import { Problem } from '../../../../platform/http/problems.ts';
import { type Fault, fault } from '../../../../platform/http/reasons/catalogue.ts';
import type { Caller } from '../../../base/access/authentication.ts';
import { idOf } from '../../../base/contract/schemas.ts';
import { asList } from '../../../base/contract/shapes.ts';
import { findCompanyNames, findMemberships } from '../../companies/members/members-store.ts';
import type { ProductBody } from '../record/schemas.ts';
import type { Association } from '../record/store.ts';

/**
 * The company that a new product belongs to: the one sent, of which the sender must be a member; otherwise their only
 * company; otherwise none, and the product belongs to its creator.
 *
 * @throws Problem invalid for a company that is unknown, deactivated or another tenant's, with the same error
 */
export async function ownerOf(
  database: Database,
  caller: Caller,
  company: ProductBody['company'],
): Promise<number | null> {
  const memberships = (await findMemberships(database, caller.id)).map(({ companyId }) => companyId);
  if (company?.id == null) return memberships.length === 1 ? (memberships[0] as number) : null;
  const id = idOf(company.id);
  const isAllowed =
    memberships.includes(id) || (caller.role === 'SYSTEM_ADMIN' && (await isActive(database, id)));
  if (!isAllowed) throw new Problem('company.not_yours', { field: 'company.id' });
  return id;
}

async function isActive(database: Database, id: number): Promise<boolean> {
  const [company] = await findCompanyNames(database, [id]);
  return company?.status === 'ACTIVE';
}

/**
 * The associated companies of a product after a change: those sent, or the previous ones. The owner is always among them,
 * as the only OWNER. Any active company can be associated by its id, because partners of a value chain are other tenants.
 * A previous one may stay if it is deactivated.
 *
 * @throws Problem invalid, with the field of every company that is unknown, deactivated, or an OWNER that does not own it
 */
export async function associationsOf(
  database: Database,
  sent: ProductBody['associatedCompanies'],
  ownerId: number | null,
  before: { ownerId: number | null; associations: readonly Association[] },
): Promise<Association[]> {
  const named = sent === undefined ? before.associations : associationsIn(sent);
  // Clients that move a product send the list that they have read.
  const chosen = named.filter(
    ({ companyId, type }) => ownerId === before.ownerId || companyId !== before.ownerId || type !== 'OWNER',
  );
  if (sent !== undefined) await check(database, sent, { ownerId, before, chosen });
  const owner = ownerId === null ? [] : [{ companyId: ownerId, type: 'OWNER' as const }];
  const associations = [...chosen, ...owner];
  const first = new Map(associations.toReversed().map(each => [`${each.companyId} ${each.type}`, each]));
  return associations.filter(each => first.get(`${each.companyId} ${each.type}`) === each);
}

type Sent = ProductBody['associatedCompanies'];

/** The associations that a body names. */
export function associationsIn(sent: Sent): Association[] {
  if (sent == null) return [];
  return asList(sent).map(({ company, type }) => ({ companyId: idOf(company.id), type }));
}

/** The path of a field of the associated company with this index. */
export function associationPath(sent: Sent, index: number, field: string): string {
  return `associatedCompanies${Array.isArray(sent) ? `.${index}` : ''}.${field}`;
}

async function check(
  database: Database,
  sent: Sent,
  {
    ownerId,
    before,
    chosen,
  }: {
    ownerId: number | null;
    before: { associations: readonly Association[] };
    chosen: readonly Association[];
  },
): Promise<void> {
  const associations = associationsIn(sent);
  const names = await findCompanyNames(
    database,
    associations.map(({ companyId }) => companyId),
  );
  const allowed = new Set([
    ...names.filter(({ status }) => status === 'ACTIVE').map(({ id }) => id),
    ...before.associations.map(({ companyId }) => companyId),
  ]);
  const faults: Fault[] = [];
  for (const [index, { companyId, type }] of associations.entries()) {
    if (!allowed.has(companyId)) {
      faults.push(fault('company.not_active', { field: associationPath(sent, index, 'company.id') }));
    }
    if (type !== 'OWNER' || companyId === ownerId) continue;
    // The previous owner's association is dropped without an error.
    if (!chosen.some(each => each.companyId === companyId && each.type === type)) continue;
    faults.push(fault('product.other_owner', { field: associationPath(sent, index, 'type') }));
  }
  if (faults.length > 0) throw new Problem(faults);
}
