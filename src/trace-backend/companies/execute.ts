import type pg from 'pg';
import type { Static } from 'typebox';
import { Problem } from '../../platform/http/problems.ts';
import { type Database, transaction } from '../../platform/postgres/database.ts';
import type { Requester } from '../access/requester.ts';
import type { Mails } from '../accounts/mails/mails.ts';
import { findUser } from '../accounts/users/store.ts';
import { audit } from '../audit/audit.ts';
import { idOf } from '../contract/schemas.ts';
import { type CompanyWithUsers, changeableCompany, ownCompany, roleIn } from './access.ts';
import { answerInvitation } from './invitations/answer.ts';
import { deleteInvitation, updateInvitation } from './invitations/invitations-store.ts';
import { invite } from './invitations/invite.ts';
import { type CompanyRole, deleteMember, MAX_MEMBERS, setMember } from './members/members-store.ts';
import { mergeCompany } from './merge.ts';
import type { Links } from './record/links.ts';
import type { Action, CompanyAction } from './record/schemas.ts';
import { touchCompany } from './record/store.ts';

type Body = Static<typeof CompanyAction>;
type MemberAction = 'ADD_USER_TO_COMPANY' | 'SET_USER_COMPANY_ROLE' | 'REMOVE_USER_FROM_COMPANY';

interface Context {
  pool: pg.Pool;
  mails: Mails;
  links: Links;
}

/**
 * Performs an action on a company. It succeeds without a change if the company is already in that state.
 *
 * @returns the id of the company
 * @throws Problem forbidden, not_found, invalid, too_many_requests
 */
export async function execute(
  { pool, mails, links }: Context,
  requester: Requester,
  action: Action,
  body: Body,
): Promise<number> {
  const caller = requester.caller;
  const companyId = idOf(body.companyId);
  await transaction(pool, async database => {
    if (action === 'ACCEPT_INVITATION' || action === 'DECLINE_INVITATION') {
      const answer = action === 'ACCEPT_INVITATION' ? 'ACCEPT' : 'DECLINE';
      return answerInvitation(database, requester, { companyId, userId: caller.id }, answer);
    }
    if (action === 'MERGE_TO_COMPANY') {
      return mergeCompany(database, links, requester, companyId, body.otherCompanyId);
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
  if (caller.role !== 'SYSTEM_ADMIN') throw new Problem('forbidden', `${action} is for a SYSTEM_ADMIN`);
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
  if (userId === undefined) throw wrong('userId', 'is required');
  const { company, members, invited } = found;
  const isMember = roleIn(members, userId) !== undefined;
  const isInvited = roleIn(invited, userId) !== undefined;
  const isPlaced = action === 'ADD_USER_TO_COMPANY' && caller.role === 'SYSTEM_ADMIN';
  const details = await (isMember || isPlaced || (!isInvited && action !== 'ADD_USER_TO_COMPANY')
    ? changeMember(change, action, found, { userId, asked: body.companyUserRole })
    : changeInvited(change, action, found, { userId, asked: body.companyUserRole }));
  if (details) await touchCompany(database, company.id, company.status);
  return details;
}

interface Asked {
  userId: number;
  asked: CompanyRole | undefined;
}

/** Changes a member, or adds one without invitation, for a SYSTEM_ADMIN. */
async function changeMember(
  { database }: Change,
  action: MemberAction,
  found: CompanyWithUsers,
  { userId, asked }: Asked,
): Promise<Details> {
  const { company, members } = found;
  const before = roleIn(members, userId);
  const after = roleAfter(action, before, asked);
  if (before === after) return undefined;
  const admins = members.filter(({ role }) => role === 'COMPANY_ADMIN');
  if (before === 'COMPANY_ADMIN' && admins.length === 1) {
    throw new Problem(
      'invalid',
      'this is the last COMPANY_ADMIN of the company; make another user one first',
    );
  }
  if (before === undefined) {
    await checkNewUser(database, userId, found);
    await deleteInvitation(database, { companyId: company.id, userId });
  }
  if (after === undefined) await deleteMember(database, company.id, userId);
  else await setMember(database, company.id, { userId, role: after });
  const isPlaced = before === undefined && { placed: true };
  return { userId, companyRole: [before ?? null, after ?? null], ...isPlaced };
}

/** Changes an invited user, or invites one. */
async function changeInvited(
  { database, mails, requester }: Change,
  action: MemberAction,
  found: CompanyWithUsers,
  { userId, asked }: Asked,
): Promise<Details> {
  const before = roleIn(found.invited, userId);
  const role = roleAfter(action, before, asked);
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

/** The user's new role, or role of the invitation; undefined for none. */
function roleAfter(
  action: MemberAction,
  before: CompanyRole | undefined,
  asked: CompanyRole | undefined,
): CompanyRole | undefined {
  if (action === 'ADD_USER_TO_COMPANY') {
    if (before && asked && asked !== before) {
      throw wrong(
        'userId',
        `is already a ${before} of the company; use SET_USER_COMPANY_ROLE to change the role`,
      );
    }
    return before ?? asked ?? 'COMPANY_USER';
  }
  if (!before) throw wrong('userId', 'is not a user of the company');
  if (action === 'REMOVE_USER_FROM_COMPANY') return undefined;
  if (!asked) throw wrong('companyUserRole', 'is required');
  return asked;
}

async function checkNewUser(
  database: Database,
  userId: number,
  { members, invited }: CompanyWithUsers,
): Promise<void> {
  const user = await findUser(database, userId);
  if (user?.status !== 'ACTIVE') throw wrong('userId', 'is not an active user');
  const isInvited = roleIn(invited, userId) !== undefined;
  if (members.length + invited.length - (isInvited ? 1 : 0) >= MAX_MEMBERS) {
    throw new Problem('invalid', `the company has ${MAX_MEMBERS} users, which is the maximum`);
  }
}

function wrong(field: string, what: string): Problem {
  const sentence = `${field} ${what}`;
  return new Problem('invalid', sentence, { fields: { [field]: sentence } });
}
