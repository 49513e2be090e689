import type { Database } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Caller } from '../../base/access/authentication.ts';
import { type AddressInvitation, findInvitedAddresses } from './invitations/addresses-store.ts';
import { findInvited } from './invitations/invitations-store.ts';
import { findMembers, findMembersAndInvited, isMemberOfAny, type Member } from './members/members-store.ts';
import { type Company, findCompany, lockCompany } from './record/store.ts';

/*
 * A company is visible to its members and administrators, also while it is deactivated. Its COMPANY_ADMINs can change
 * it while it is active, and a SYSTEM_ADMIN always. Everyone else gets the error of an unknown company.
 */

/** A company with its members and invited users. An invitation gives no rights. */
export interface CompanyWithUsers {
  company: Company;
  members: Member[];
  invited: Member[];
  /** the invited email addresses */
  addresses: AddressInvitation[];
}

/** Whether the caller may see at least one of these companies. */
export async function maySeeCompanies(
  database: Database,
  { id, role }: Caller,
  companyIds: readonly number[],
): Promise<boolean> {
  return role !== 'USER' || isMemberOfAny(database, id, companyIds);
}

/**
 * A company for a reader.
 *
 * @throws Problem not_found, also for callers who may not see it
 */
export async function readableCompany(
  database: Database,
  caller: Caller,
  id: number,
): Promise<CompanyWithUsers> {
  const [company, users, addresses] = await Promise.all([
    findCompany(database, id),
    findMembersAndInvited(database, id),
    findInvitedAddresses(database, id),
  ]);
  return { company: visibleCompany(caller, company, users.members), ...users, addresses };
}

/**
 * A company for a change of its profile or users, locked until the end of the transaction.
 *
 * @throws Problem not_found; forbidden for those who may only read it
 */
export async function changeableCompany(
  database: Database,
  caller: Caller,
  id: number,
): Promise<CompanyWithUsers> {
  const found = await lockReadable(database, caller, id);
  const { company, members } = found;
  if (caller.role !== 'SYSTEM_ADMIN') {
    if (roleIn(members, caller.id) !== 'COMPANY_ADMIN') {
      throw new Problem('company.only_admins_change');
    }
    if (company.status !== 'ACTIVE') {
      throw new Problem('company.not_changeable_deactivated');
    }
  }
  return found;
}

/**
 * A company for a member who leaves it, locked until the end of the transaction.
 *
 * @throws Problem not_found, also for callers who are not members
 */
export async function ownCompany(database: Database, caller: Caller, id: number): Promise<CompanyWithUsers> {
  return lockReadable(database, { ...caller, role: 'USER' }, id);
}

async function lockReadable(database: Database, caller: Caller, id: number): Promise<CompanyWithUsers> {
  const locked = await lockCompany(database, id);
  const members = await findMembers(database, id);
  const company = visibleCompany(caller, locked, members);
  const invited = await findInvited(database, id);
  return { company, members, invited, addresses: await findInvitedAddresses(database, id) };
}

/** A user's role in a company; undefined if they are not a member. */
export function roleIn(members: readonly Member[], userId: number): Member['role'] | undefined {
  return members.find(member => member.userId === userId)?.role;
}

function visibleCompany(caller: Caller, company: Company | undefined, members: readonly Member[]): Company {
  if (company && (caller.role !== 'USER' || roleIn(members, caller.id))) return company;
  throw new Problem('company.unknown');
}
