import type pg from 'pg';
import type { Static } from 'typebox';
import { type Database, transaction } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Requester } from '../../base/access/requester.ts';
import { audit } from '../../base/audit/audit.ts';
import { idOf } from '../../base/contract/schemas.ts';
import type { Mails } from '../../identity/mails/mails.ts';
import { checkEmail, emailKeyOf } from '../../identity/users/email.ts';
import { findEmailKey, findUser, findUsers } from '../../identity/users/store.ts';
import { type CompanyWithUsers, changeableCompany, ownCompany, roleIn } from './access.ts';
import { deleteAddressInvitation, updateAddressInvitation } from './invitations/addresses-store.ts';
import { answerInvitation } from './invitations/answer.ts';
import { deleteInvitation, deleteInvitationsOf, updateInvitation } from './invitations/invitations-store.ts';
import { invite } from './invitations/invite.ts';
import { inviteAddress } from './invitations/invite-address.ts';
import { type CompanyRole, deleteMember, MAX_MEMBERS, setMember } from './members/members-store.ts';
import { mergeCompany } from './merge.ts';
import type { Action, CompanyAction } from './record/schemas.ts';
import { touchCompany } from './record/store.ts';

type Body = Static<typeof CompanyAction>;
type MemberAction = 'ADD_USER_TO_COMPANY' | 'SET_USER_COMPANY_ROLE' | 'REMOVE_USER_FROM_COMPANY';

interface Context {
  pool: pg.Pool;
  mails: Mails;
}

/**
 * Performs an action on a company. It succeeds without a change if the company is already in that state.
 *
 * @returns the id of the company
 * @throws Problem forbidden, not_found, invalid, too_many_requests
 */
export async function execute(
  { pool, mails }: Context,
  requester: Requester,
  action: Action,
  body: Body,
): Promise<number> {
  const caller = requester.caller;
  const companyId = idOf(body.companyId);
  await transaction(pool, async database => {
    if (action === 'ACCEPT_INVITATION' || action === 'DECLINE_INVITATION') {
      const answer = action === 'ACCEPT_INVITATION' ? 'ACCEPT' : 'DECLINE';
      // Without mails nobody gets a code.
      return answerInvitation(database, requester, { companyId, userId: caller.id }, answer, mails.areSent);
    }
    if (action === 'MERGE_TO_COMPANY') {
      return mergeCompany(database, requester, companyId, body.otherCompanyId);
    }
    const details =
      action === 'ACTIVATE_COMPANY' || action === 'DEACTIVATE_COMPANY'
        ? await setStatus(database, requester, action, companyId)
        : await changeUser({ database, mails, requester }, action, companyId, body);
    if (details)
      await audit(database, requester, { action, entity: 'company', entityId: companyId, details });
  });
  mails.wake();
  return companyId;
}

/** The audit details; undefined if nothing changed. */
type Details = Record<string, unknown> | undefined;

async function setStatus(
  database: Database,
  requester: Requester,
  action: 'ACTIVATE_COMPANY' | 'DEACTIVATE_COMPANY',
  companyId: number,
): Promise<Details> {
  const caller = requester.caller;
  if (caller.role !== 'SYSTEM_ADMIN') throw new Problem('user.action_for_system_admin', { action });
  const { company } = await changeableCompany(database, caller, companyId);
  const status = action === 'ACTIVATE_COMPANY' ? 'ACTIVE' : 'DEACTIVATED';
  if (company.status === status) return undefined;
  await touchCompany(database, company.id, status);
  return { status: [company.status, status] };
}

interface Change {
  database: Database;
  mails: Mails;
  requester: Requester;
}

async function changeUser(
  change: Change,
  action: MemberAction,
  companyId: number,
  body: Body,
): Promise<Details> {
  const { database, requester } = change;
  const caller = requester.caller;
  const userId = body.userId === undefined ? undefined : idOf(body.userId);
  const isLeaving = action === 'REMOVE_USER_FROM_COMPANY' && userId === caller.id;
  const found = await (isLeaving ? ownCompany : changeableCompany)(database, caller, companyId);
  const { email, companyUserRole: requestedRole } = body;
  if (email !== undefined && userId !== undefined)
    throw new Problem('company_user.named_twice', { field: 'email' });
  if (email === undefined && userId === undefined)
    throw new Problem('company_user.not_named', { field: 'userId' });
  const details =
    userId === undefined
      ? await changeByAddress(change, action, found, {
          ...checkEmail(email as string, 'email'),
          requestedRole,
        })
      : await changeById(change, action, found, { userId, requestedRole });
  const { company } = found;
  if (details) await touchCompany(database, company.id, company.status);
  return details;
}

async function changeById(
  change: Change,
  action: MemberAction,
  found: CompanyWithUsers,
  requested: RequestedUser,
): Promise<Details> {
  const { members, invited } = found;
  const isMember = roleIn(members, requested.userId) !== undefined;
  const isInvited = roleIn(invited, requested.userId) !== undefined;
  const isAddedDirectly = action === 'ADD_USER_TO_COMPANY' && change.requester.caller.role === 'SYSTEM_ADMIN';
  return isMember || isAddedDirectly || (!isInvited && action !== 'ADD_USER_TO_COMPANY')
    ? changeMember(change, action, found, requested)
    : changeInvited(change, action, found, requested);
}

interface RequestedUser {
  userId: number;
  requestedRole: CompanyRole | undefined;
}

/** Changes a member; or adds one without invitation, for a SYSTEM_ADMIN. */
async function changeMember(
  { database }: Change,
  action: MemberAction,
  found: CompanyWithUsers,
  { userId, requestedRole }: RequestedUser,
): Promise<Details> {
  const { company, members } = found;
  const before = roleIn(members, userId);
  const after = roleAfter(action, before, requestedRole);
  if (before === after) return undefined;
  const admins = members.filter(({ role }) => role === 'COMPANY_ADMIN');
  if (before === 'COMPANY_ADMIN' && admins.length === 1) {
    throw new Problem('company.last_admin');
  }
  if (before === undefined) await checkNewUser(database, userId, found);
  // With a remaining invitation, a removed user could become a member again.
  if (before === undefined || after === undefined) await endInvitations(database, company.id, userId);
  if (after === undefined) await deleteMember(database, company.id, userId);
  else await setMember(database, company.id, { userId, role: after });
  const isAddedDirectly = before === undefined && { placed: true };
  return { userId, companyRole: [before ?? null, after ?? null], ...isAddedDirectly };
}

/** Deletes the invitations of a user and of their address. */
async function endInvitations(database: Database, companyId: number, userId: number): Promise<void> {
  const emailKey = (await findEmailKey(database, userId)) ?? '';
  await deleteInvitationsOf(database, companyId, { userIds: [userId], emailKeys: [emailKey] });
}

/** Changes an invited user, or invites one. */
async function changeInvited(
  { database, mails, requester }: Change,
  action: MemberAction,
  found: CompanyWithUsers,
  { userId, requestedRole }: RequestedUser,
): Promise<Details> {
  const before = roleIn(found.invited, userId);
  const role = roleAfter(action, before, requestedRole);
  if (role === before) return undefined;
  const invitation = { companyId: found.company.id, userId };
  if (role === undefined) await deleteInvitation(database, invitation);
  else if (before !== undefined) await updateInvitation(database, { ...invitation, role });
  else {
    await checkNewUser(database, userId, found);
    await invite(database, mails, { ...invitation, role }, requester.caller.id);
  }
  return { userId, invitedAs: role ?? null };
}

/**
 * Invites an address, changes or withdraws its invitation, or changes the member who has it. It looks only at accounts of
 * members, so that nobody can find out whether an address has an account.
 */
async function changeByAddress(
  change: Change,
  action: MemberAction,
  found: CompanyWithUsers,
  {
    email,
    emailKey,
    requestedRole,
  }: { email: string; emailKey: string; requestedRole: CompanyRole | undefined },
): Promise<Details> {
  const { database, mails, requester } = change;
  const companyId = found.company.id;
  const memberIds = found.members.map(({ userId }) => userId);
  const members = await findUsers(database, memberIds);
  const memberId = members.find(member => member && emailKeyOf(member.email) === emailKey)?.id;
  const invited = found.addresses.find(address => address.emailKey === emailKey);
  if (action === 'ADD_USER_TO_COMPANY') {
    if (memberId !== undefined) throw new Problem('company_user.is_member', { field: 'email' });
    if (!invited) {
      checkSize(found);
      const role = requestedRole ?? 'COMPANY_USER';
      const invitation = { companyId, email, emailKey, role };
      return {
        invitation: await inviteAddress(database, mails, invitation, requester.caller.id),
        invitedAs: role,
      };
    }
  } else if (!invited) {
    if (memberId === undefined)
      throw new Problem('company_user.neither_member_nor_invited', { field: 'email' });
    return changeMember(change, action, found, { userId: memberId, requestedRole });
  }
  if (action === 'REMOVE_USER_FROM_COMPANY') {
    await deleteAddressInvitation(database, invited.id);
    return { invitation: invited.id, invitedAs: null };
  }
  if (!requestedRole && action === 'SET_USER_COMPANY_ROLE')
    throw new Problem('validation.required', { field: 'companyUserRole' });
  const role = requestedRole ?? invited.role;
  if (role === invited.role) return undefined;
  await updateAddressInvitation(database, invited.id, role);
  return { invitation: invited.id, invitedAs: role };
}

/** The new role of the user or of the invitation; undefined for none. */
function roleAfter(
  action: MemberAction,
  before: CompanyRole | undefined,
  requestedRole: CompanyRole | undefined,
): CompanyRole | undefined {
  if (action === 'ADD_USER_TO_COMPANY') {
    if (before && requestedRole && requestedRole !== before) {
      throw new Problem('company_user.has_other_role', { field: 'userId', role: before });
    }
    return before ?? requestedRole ?? 'COMPANY_USER';
  }
  if (!before) throw new Problem('company_user.unknown', { field: 'userId' });
  if (action === 'REMOVE_USER_FROM_COMPANY') return undefined;
  if (!requestedRole) throw new Problem('validation.required', { field: 'companyUserRole' });
  return requestedRole;
}

async function checkNewUser(database: Database, userId: number, found: CompanyWithUsers): Promise<void> {
  const user = await findUser(database, userId);
  if (user?.status !== 'ACTIVE') throw new Problem('company_user.not_active', { field: 'userId' });
  const isInvited = roleIn(found.invited, userId) !== undefined;
  checkSize(found, isInvited ? 1 : 0);
}

/** @param replaced number of invitations that the new user replaces */
function checkSize({ members, invited, addresses }: CompanyWithUsers, replaced = 0): void {
  if (members.length + invited.length + addresses.length - replaced >= MAX_MEMBERS) {
    throw new Problem('company.too_many_users', { max: MAX_MEMBERS });
  }
}
