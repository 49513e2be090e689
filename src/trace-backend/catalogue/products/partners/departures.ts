import type pg from 'pg';
import { type Database, transaction } from '../../../../platform/database/database.ts';
import { Problem } from '../../../../platform/http/problems.ts';
import { type Fault, fault } from '../../../../platform/http/reasons/catalogue.ts';
import type { Caller } from '../../../base/access/authentication.ts';
import type { Requester } from '../../../base/access/requester.ts';
import { audit } from '../../../base/audit/audit.ts';
import { findMemberships } from '../../companies/members/members-store.ts';
import type { ProductBody } from '../record/schemas.ts';
import { type Association, lockProduct } from '../record/store.ts';
import { associationPath, associationsIn } from './companies.ts';
import { deleteDepartures, findDeparted } from './departures-store.ts';

/*
 * A company that has removed itself from a product comes back only with the consent of one of its members: they add it
 * themselves, if they may change the product, or allow it first.
 */

/** Whether a user is a member of a company, in any role. */
export async function actsFor(database: Database, { id }: Caller, companyId: number): Promise<boolean> {
  const memberships = await findMemberships(database, id);
  return memberships.some(membership => membership.companyId === companyId);
}

/**
 * Checks the companies that a change adds to a product: each never removed itself from it, or is the caller's. The
 * departures of the latter are then forgotten.
 *
 * @param sent the field of the body, for the paths in the error
 * @throws Problem invalid, with the field of every company that must allow it first
 */
export async function checkReturns(
  database: Database,
  caller: Caller,
  product: { id: number; associations: readonly Association[] },
  { after, sent }: { after: readonly Association[]; sent: ProductBody['associatedCompanies'] },
): Promise<void> {
  const before = new Set(product.associations.map(({ companyId }) => companyId));
  const added = [...new Set(after.map(({ companyId }) => companyId))].filter(id => !before.has(id));
  const departed = await findDeparted(database, product.id, added);
  if (departed.length === 0) return;
  const ownIds = new Set((await findMemberships(database, caller.id)).map(({ companyId }) => companyId));
  const named = associationsIn(sent);
  const faults: Fault[] = [];
  for (const companyId of departed.filter(id => !ownIds.has(id))) {
    const index = named.findIndex(each => each.companyId === companyId);
    const field = index === -1 ? 'company.id' : associationPath(sent, index, 'company.id');
    faults.push(fault('product.company_has_left', { field, company: companyId, product: product.id }));
  }
  if (faults.length > 0) throw new Problem(faults);
  await deleteDepartures(database, product.id, departed);
}

/**
 * Allows a product to name a company again that has removed itself from it; for members of the company, who need not see
 * the product.
 *
 * @throws Problem not_found for everyone else, and if the company has not removed itself
 */
export async function allowReturn(
  pool: pg.Pool,
  requester: Requester,
  id: number,
  companyId: number,
): Promise<void> {
  await transaction(pool, async database => {
    const product = await lockProduct(database, id);
    const isMember = await actsFor(database, requester.caller, companyId);
    if (!product || !isMember || (await deleteDepartures(database, id, [companyId])) === 0) {
      throw new Problem('product.not_left');
    }
    await audit(database, requester, {
      action: 'ALLOW_PRODUCT',
      entity: 'product',
      entityId: id,
      details: { companyId },
    });
  });
}
