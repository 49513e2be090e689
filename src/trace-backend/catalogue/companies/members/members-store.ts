import sql from 'sql-template-tag';
import type { Database } from '../../../../platform/database/database.ts';

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

/** The active companies that a user is a member of, in the order of their ids. */
export async function findMemberships(database: Database, userId: number): Promise<Membership[]> {
  const { rows } = await database.query<Membership>({
    name: 'find-memberships',
    text: `SELECT company_id AS "companyId", company_users.role FROM company_users
      JOIN companies ON companies.id = company_id AND companies.status = 'ACTIVE'
      WHERE user_id = $1 ORDER BY company_id`,
    values: [userId],
  });
  return rows;
}

/** The active companies that a user is a member of, in the order of their ids. */
export interface CompanyIds {
  companyIds: number[];
  /** the companies among them of which the user is a COMPANY_ADMIN */
  companyIdsAdmin: number[];
}

/** The active companies of each of these users, in their order. */
export async function findCompanyIds(database: Database, userIds: readonly number[]): Promise<CompanyIds[]> {
  const { rows } = await database.query<CompanyIds & { userId: number }>(sql`
    SELECT user_id AS "userId", array_agg(company_id ORDER BY company_id) AS "companyIds",
      coalesce(array_agg(company_id ORDER BY company_id) FILTER (WHERE role = 'COMPANY_ADMIN'), '{}')
        AS "companyIdsAdmin"
    FROM company_users JOIN companies ON companies.id = company_id AND companies.status = 'ACTIVE'
    WHERE user_id = ANY (${userIds}) GROUP BY user_id`);
  const byUser = new Map(rows.map(({ userId, ...ids }) => [userId, ids]));
  return userIds.map(id => byUser.get(id) ?? { companyIds: [], companyIdsAdmin: [] });
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

/** Existing companies with these ids, including deactivated ones, in no order. */
export async function findCompanyNames(
  database: Database,
  ids: readonly number[],
): Promise<{ id: number; name: string; status: 'ACTIVE' | 'DEACTIVATED' }[]> {
  if (ids.length === 0) return [];
  const { rows } = await database.query<{ id: number; name: string; status: 'ACTIVE' | 'DEACTIVATED' }>({
    name: 'find-company-names',
    text: 'SELECT id, name, status FROM companies WHERE id = ANY ($1::integer[])',
    values: [ids],
  });
  return rows;
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

/** The members and the invited users of a company, in the order of their ids. */
export async function findMembersAndInvited(
  database: Database,
  companyId: number,
): Promise<{ members: Member[]; invited: Member[] }> {
  const { rows } = await database.query<Member & { invited: boolean }>({
    name: 'find-members-and-invited',
    text: `SELECT user_id AS "userId", role, false AS invited FROM company_users WHERE company_id = $1
      UNION ALL SELECT user_id, role, true FROM company_invitations WHERE company_id = $1 ORDER BY "userId"`,
    values: [companyId],
  });
  const membersWhere = (isInvited: boolean) =>
    rows.filter(({ invited }) => invited === isInvited).map(({ userId, role }) => ({ userId, role }));
  return { members: membersWhere(false), invited: membersWhere(true) };
}

/** Whether a user is a member of at least one of these companies, including deactivated ones. */
export async function isMemberOfAny(
  database: Database,
  userId: number,
  companyIds: readonly number[],
): Promise<boolean> {
  const { rows } = await database.query<{ is: boolean }>(sql`
    SELECT EXISTS (SELECT FROM company_users
      WHERE user_id = ${userId} AND company_id = ANY (${companyIds}::integer[])) AS is`);
  return rows[0]?.is ?? false;
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
  await database.query(sql`
    INSERT INTO company_users (company_id, user_id, role, by_invitation)
    VALUES (${companyId}, ${userId}, ${role}, ${byInvitation})
    ON CONFLICT (user_id, company_id) DO UPDATE SET role = excluded.role`);
}

/** The companies that a user joined by accepting an invitation, including deactivated ones, by id. */
export async function findAcceptedCompanies(database: Database, userId: number): Promise<number[]> {
  const { rows } = await database.query<{ id: number }>(sql`
    SELECT company_id AS id FROM company_users WHERE user_id = ${userId} AND by_invitation ORDER BY company_id`);
  return rows.map(({ id }) => id);
}

/** Ends a membership. The transaction holds the company's row lock. */
export async function deleteMember(database: Database, companyId: number, userId: number): Promise<void> {
  await database.query(
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
  await database.query(sql`
    INSERT INTO company_users (company_id, user_id, role, by_invitation)
    SELECT ${into}::integer, user_id, role, by_invitation FROM company_users WHERE company_id = ${from} ON CONFLICT DO NOTHING`);
  const { rowCount } = await database.query(sql`DELETE FROM company_users WHERE company_id = ${from}`);
  return rowCount ?? 0;
}
