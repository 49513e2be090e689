import type { FastifyRequest } from 'fastify';
import type pg from 'pg';
import type { Static } from 'typebox';
import { Problem } from '../../platform/http/problems.ts';
import { type Database, transaction } from '../../platform/postgres/database.ts';
import { callerOf } from '../access/authentication.ts';
import { findUser } from '../accounts/users/store.ts';
import { audit } from '../audit/audit.ts';
import { idOf } from '../contract/schemas.ts';
import { changeableCompany, roleIn, type Staffed } from './access.ts';
import { type CompanyRole, deleteMember, setMember } from './members-store.ts';
import type { Action, CompanyAction } from './schemas.ts';
import { touchCompany } from './store.ts';

/** Users of one company, at most. */
const MAX_MEMBERS = 500;

type Body = Static<typeof CompanyAction>;

/**
 * Does one of the actions to a company. What it would change is that way already: nothing changes, and it succeeds.
 *
 * @returns the id of the company
 * @throws Problem forbidden, not_found, invalid
 */
export async function execute(
  { pool }: { pool: pg.Pool },
  request: FastifyRequest,
  action: Action,
  body: Body,
): Promise<number> {
  const caller = callerOf(request);
  const isAboutStatus = action === 'ACTIVATE_COMPANY' || action === 'DEACTIVATE_COMPANY';
  if (isAboutStatus && caller.role !== 'SYSTEM_ADMIN') {
    throw new Problem('forbidden', `${action} is for a SYSTEM_ADMIN`);
  }
  const id = idOf(body.companyId);
  return transaction(pool, async database => {
    const staffed = await changeableCompany(database, caller, id);
    const details = isAboutStatus
      ? await setStatus(database, action, staffed)
      : await changeMember(database, action, staffed, body);
    if (details) await audit(database, request, { action, entity: 'company', entityId: id, details });
    return id;
  });
}

/** What to write into the audit; undefined where nothing changed. */
type Details = Record<string, unknown> | undefined;

async function setStatus(database: Database, action: Action, { company }: Staffed): Promise<Details> {
  const status = action === 'ACTIVATE_COMPANY' ? 'ACTIVE' : 'DEACTIVATED';
  if (company.status === status) return undefined;
  await touchCompany(database, company.id, status);
  return { status: [company.status, status] };
}

async function changeMember(
  database: Database,
  action: Exclude<Action, 'ACTIVATE_COMPANY' | 'DEACTIVATE_COMPANY'>,
  { company, members }: Staffed,
  body: Body,
): Promise<Details> {
  if (body.userId === undefined) throw wrong('userId', 'is required');
  const userId = idOf(body.userId);
  const before = roleIn(members, userId);
  const after = roleAfter(action, before, body.companyUserRole);
  if (before === after) return undefined;
  const admins = members.filter(({ role }) => role === 'COMPANY_ADMIN');
  if (before === 'COMPANY_ADMIN' && admins.length === 1) {
    throw new Problem(
      'invalid',
      'this is the last COMPANY_ADMIN of the company; make another user one first',
    );
  }
  if (before === undefined) await checkNewMember(database, userId, members.length);
  if (after === undefined) await deleteMember(database, company.id, userId);
  else await setMember(database, company.id, { userId, role: after });
  await touchCompany(database, company.id, company.status);
  return { userId, companyRole: [before ?? null, after ?? null] };
}

/** What the user is in the company afterwards; undefined for no member. */
function roleAfter(
  action: 'ADD_USER_TO_COMPANY' | 'SET_USER_COMPANY_ROLE' | 'REMOVE_USER_FROM_COMPANY',
  before: CompanyRole | undefined,
  asked: CompanyRole | undefined,
): CompanyRole | undefined {
  if (action === 'ADD_USER_TO_COMPANY') {
    if (before && asked && asked !== before) {
      throw wrong('userId', `names a ${before} of the company already; SET_USER_COMPANY_ROLE changes that`);
    }
    return before ?? asked ?? 'COMPANY_USER';
  }
  if (!before) throw wrong('userId', 'names no user of the company');
  if (action === 'REMOVE_USER_FROM_COMPANY') return undefined;
  if (!asked) throw wrong('companyUserRole', 'is required');
  return asked;
}

async function checkNewMember(database: Database, userId: number, members: number): Promise<void> {
  const user = await findUser(database, userId);
  if (user?.status !== 'ACTIVE') throw wrong('userId', 'names no active user');
  if (members >= MAX_MEMBERS) {
    throw new Problem('invalid', `the company has ${MAX_MEMBERS} users, which is as many as it can have`);
  }
}

function wrong(field: string, what: string): Problem {
  const sentence = `${field} ${what}`;
  return new Problem('invalid', sentence, { fields: { [field]: sentence } });
}
