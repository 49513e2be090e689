import sql from 'sql-template-tag';
import type { Database } from '../../platform/database.ts';

export const COMPANY_ROLES = ['COMPANY_USER', 'COMPANY_ADMIN', 'MANAGER', 'ACCOUNTANT'] as const;
export type CompanyRole = (typeof COMPANY_ROLES)[number];

/** That a user acts for a company. */
export interface Membership {
  companyId: number;
  role: CompanyRole;
}

/** The companies that a user is a member of, by their ids; deactivated ones are left out. */
export async function findMemberships(database: Database, userId: number): Promise<Membership[]> {
  const { rows } = await database.query<Membership>(sql`
    SELECT company_id AS "companyId", company_users.role FROM company_users
    JOIN companies ON companies.id = company_id AND companies.status = 'ACTIVE'
    WHERE user_id = ${userId} ORDER BY company_id`);
  return rows;
}

/** For each of the users, in their order, the ids of the companies they are members of. */
export async function findCompanyIds(database: Database, userIds: readonly number[]): Promise<number[][]> {
  const { rows } = await database.query<{ userId: number; companyIds: number[] }>(sql`
    SELECT user_id AS "userId", array_agg(company_id ORDER BY company_id) AS "companyIds" FROM company_users
    JOIN companies ON companies.id = company_id AND companies.status = 'ACTIVE'
    WHERE user_id = ANY (${userIds}) GROUP BY user_id`);
  const byUser = new Map(rows.map(({ userId, companyIds }) => [userId, companyIds]));
  return userIds.map(id => byUser.get(id) ?? []);
}
