import type { Database } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Requester } from '../../base/access/requester.ts';
import { audit } from '../../base/audit/audit.ts';
import { idOf } from '../../base/contract/schemas.ts';
import { emailKeyOf } from '../../identity/users/email.ts';
import { findUsers } from '../../identity/users/store.ts';
import { findCompanyValueChains } from '../value-chains/companies-store.ts';
import { MAX_VALUE_CHAINS } from '../value-chains/references.ts';
import { mergeProducts } from './associations/store.ts';
import { findInvitedAddresses } from './invitations/addresses-store.ts';
import { deleteInvitations, deleteInvitationsOf, findInvited } from './invitations/invitations-store.ts';
import { findMembers, MAX_MEMBERS, moveMembers } from './members/members-store.ts';
import { type Company, lockCompany, touchCompany } from './record/store.ts';
import { setValueChains } from './record/value-chains.ts';

/**
 * Merges a company into another one: its users, products, associations and value chains move to the other, its
 * invitations end, and it is deactivated. Profiles stay unchanged.
 *
 * @throws Problem forbidden, not_found, invalid
 */
export async function mergeCompany(
  database: Database,
  requester: Requester,
  from: number,
  targetId: number | string | undefined,
): Promise<void> {
  const { caller } = requester;
  if (caller.role !== 'SYSTEM_ADMIN')
    throw new Problem('user.action_for_system_admin', { action: 'MERGE_TO_COMPANY' });
  const field = 'otherCompanyId';
  if (targetId === undefined) throw new Problem('validation.required', { field });
  const into = idOf(targetId);
  if (into === from) throw new Problem('company.merged_into_itself', { field });
  // Always in this order, so that two merges do not deadlock.
  const locked = new Map<number, Company | undefined>();
  for (const id of [from, into].sort((a, b) => a - b)) locked.set(id, await lockCompany(database, id));
  const company = locked.get(from);
  if (!company) throw new Problem('company.unknown');
  const target = locked.get(into);
  if (target?.status !== 'ACTIVE') throw new Problem('company.not_active', { field });

  await checkSize(database, from, into);
  const users = await moveMembers(database, from, into);
  await deleteInvitations(database, from);
  await endInvitationsOfMembers(database, into);
  const products = await mergeProducts(database, { from, into, userId: caller.id });
  await mergeValueChains(database, from, into);
  await touchCompany(database, from, 'DEACTIVATED');
  await touchCompany(database, into, target.status);
  for (const entityId of [from, into]) {
    const details = { from, into, users, products };
    await audit(database, requester, { action: 'MERGE_TO_COMPANY', entity: 'company', entityId, details });
  }
}

/** Ends the invitations of users who are members now. */
async function endInvitationsOfMembers(database: Database, companyId: number): Promise<void> {
  const userIds = (await findMembers(database, companyId)).map(({ userId }) => userId);
  const users = await findUsers(database, userIds);
  const emailKeys = users.flatMap(user => (user ? [emailKeyOf(user.email)] : []));
  await deleteInvitationsOf(database, companyId, { userIds, emailKeys });
}

async function mergeValueChains(database: Database, from: number, into: number): Promise<void> {
  const moved = await findCompanyValueChains(database, from);
  if (moved.length === 0) return;
  const before = await findCompanyValueChains(database, into);
  const all = [...new Set([...before, ...moved])];
  if (all.length > MAX_VALUE_CHAINS) {
    throw new Problem('company.merge_has_too_many_value_chains', { max: MAX_VALUE_CHAINS });
  }
  await setValueChains(database, into, all, all);
  await setValueChains(database, from, [], moved);
}

async function checkSize(database: Database, from: number, into: number): Promise<void> {
  const [moved, members, invited] = [
    await findMembers(database, from),
    await findMembers(database, into),
    await findInvited(database, into),
  ];
  const addresses = await findInvitedAddresses(database, into);
  const ids = new Set([...moved, ...members, ...invited].map(({ userId }) => userId));
  if (ids.size + addresses.length > MAX_MEMBERS) {
    throw new Problem('company.merge_has_too_many_users', { max: MAX_MEMBERS });
  }
}
