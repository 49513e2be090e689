import sql from 'sql-template-tag';
import { type Database, execute } from '../../../../platform/database/database.ts';
import { groupedByKey, rowsByKey, sharedRead } from '../../../../platform/database/shared-read.ts';

export const COMPANY_ROLES = ['COMPANY_USER', 'COMPANY_ADMIN', 'MANAGER', 'ACCOUNTANT'] as const;
export type CompanyRole = (typeof COMPANY_ROLES)[number];

/** Maximum users per company, including invited ones. */
export const MAX_MEMBERS = 500;

/** A user's membership of a company. */
interface Membership {
  companyId: number;
  role: CompanyRole;
}

/** A member of a company. */
export interface Member {
  userId: number;
  role: CompanyRole;
}

/** The companies that users are members of, in the order of the companies' ids, also deactivated ones. */
const memberships = sharedRead(async (database, userIds: readonly number[]) => {
  const { rows } = await database.query<Membership & { userId: number; isActive: boolean }>({
    name: 'find-memberships',
    text: `SELECT user_id AS "userId", company_id AS "companyId", company_users.role, status = 'ACTIVE' AS "isActive"
      FROM company_users JOIN companies ON companies.id = company_id
      WHERE user_id = ANY ($1::integer[]) ORDER BY company_id`,
    values: [userIds],
  });
  return groupedByKey(userIds, rows, ({ userId }) => userId);
});

/** The active companies that a user is a member of, in the order of their ids. */
export async function findMemberships(database: Database, userId: number): Promise<Membership[]> {
  return (await memberships.one(database, userId)).filter(({ isActive }) => isActive);
}

/** The active companies that a user is a member of, in the order of their ids. */
export interface CompanyIds {
  companyIds: number[];
  /** the companies among them of which the user is a COMPANY_ADMIN */
  companyIdsAdmin: number[];
}

/** The active companies of a user, in the order of their ids. */
export async function findCompanyIds(database: Database, userId: number): Promise<CompanyIds> {
  const all = await findMemberships(database, userId);
  return {
    companyIds: all.map(({ companyId }) => companyId),
    companyIdsAdmin: all.filter(({ role }) => role === 'COMPANY_ADMIN').map(({ companyId }) => companyId),
  };
}

/** The members of the active companies that a user is a member of, the user included. */
export async function findColleagueIds(database: Database, userId: number): Promise<number[]> {
  const { rows } = await database.query<{ id: number }>(sql`
    SELECT DISTINCT colleagues.user_id AS id FROM company_users
    JOIN companies ON companies.id = company_id AND companies.status = 'ACTIVE'
    JOIN company_users AS colleagues USING (company_id)
    WHERE company_users.user_id = ${userId}`);
  return rows.map(({ id }) => id);
}

/** A company as other records name it. */
interface CompanyName {
  id: number;
  name: string;
  status: 'ACTIVE' | 'DEACTIVATED';
}

const companyNames = sharedRead(async (database, ids: readonly number[]) => {
  const { rows } = await database.query<CompanyName>({
    name: 'find-company-names',
    text: 'SELECT id, name, status FROM companies WHERE id = ANY ($1::integer[])',
    values: [ids],
  });
  return rowsByKey(ids, rows, ({ id }) => id);
});

/** Companies in the order of these ids, also deactivated ones; missing ones are left out. */
export async function findCompanyNames(database: Database, ids: readonly number[]): Promise<CompanyName[]> {
  return (await companyNames.many(database, ids)).filter(company => company !== undefined);
}

/** The members of a company, by id; the company may be deactivated. */
export async function findMembers(database: Database, companyId: number): Promise<Member[]> {
  const { rows } = await database.query<Member>({
    name: 'find-members',
    text: 'SELECT user_id AS "userId", role FROM company_users WHERE company_id = $1 ORDER BY user_id',
    values: [companyId],
  });
  return rows;
}

const membersAndInvited = sharedRead(async (database, companyIds: readonly number[]) => {
  const { rows } = await database.query<Member & { companyId: number; isInvited: boolean }>({
    name: 'find-members-and-invited',
    text: `SELECT company_id AS "companyId", user_id AS "userId", role, false AS "isInvited"
        FROM company_users WHERE company_id = ANY ($1::integer[])
      UNION ALL SELECT company_id, user_id, role, true
        FROM company_invitations WHERE company_id = ANY ($1::integer[]) ORDER BY "userId"`,
    values: [companyIds],
  });
  return groupedByKey(companyIds, rows, ({ companyId }) => companyId);
});

/** The members and the invited users of a company, in the order of their ids. */
export async function findMembersAndInvited(
  database: Database,
  companyId: number,
): Promise<{ members: Member[]; invited: Member[] }> {
  const users = await membersAndInvited.one(database, companyId);
  const those = (isInvited: boolean) =>
    users.filter(user => user.isInvited === isInvited).map(({ userId, role }) => ({ userId, role }));
  return { members: those(false), invited: those(true) };
}

/** Whether a user is a member of at least one of these companies, including deactivated ones. */
export async function isMemberOfAny(
  database: Database,
  userId: number,
  companyIds: readonly number[],
): Promise<boolean> {
  const own = await memberships.one(database, userId);
  return own.some(({ companyId }) => companyIds.includes(companyId));
}

/**
 * Makes a user a member with this role, or changes their role. The transaction holds the company's row lock.
 *
 * @param byInvitation whether a new member has accepted an invitation
 */
export async function setMember(
  database: Database,
  companyId: number,
  { userId, role, byInvitation = false }: Member & { byInvitation?: boolean },
): Promise<void> {
  await execute(
    database,
    sql`
    INSERT INTO company_users (company_id, user_id, role, by_invitation)
    VALUES (${companyId}, ${userId}, ${role}, ${byInvitation})
    ON CONFLICT (user_id, company_id) DO UPDATE SET role = excluded.role`,
  );
}

/** The companies that a user joined by accepting an invitation, including deactivated ones, by id. */
export async function findAcceptedCompanies(database: Database, userId: number): Promise<number[]> {
  const { rows } = await database.query<{ id: number }>(sql`
    SELECT company_id AS id FROM company_users WHERE user_id = ${userId} AND by_invitation ORDER BY company_id`);
  return rows.map(({ id }) => id);
}

/** Ends a membership. The transaction holds the company's row lock. */
export async function deleteMember(database: Database, companyId: number, userId: number): Promise<void> {
  await execute(
    database,
    sql`DELETE FROM company_users WHERE company_id = ${companyId} AND user_id = ${userId}`,
  );
}

/**
 * Moves the members of a company to another one, with their roles; existing members there keep their roles. The
 * transaction holds the row locks of both.
 *
 * @returns their number
 */
export async function moveMembers(database: Database, from: number, into: number): Promise<number> {
  await execute(
    database,
    sql`
    INSERT INTO company_users (company_id, user_id, role, by_invitation)
    SELECT ${into}::integer, user_id, role, by_invitation FROM company_users WHERE company_id = ${from} ON CONFLICT DO NOTHING`,
  );
  const { rowCount } = await database.query(sql`DELETE FROM company_users WHERE company_id = ${from}`);
  return rowCount ?? 0;
}
