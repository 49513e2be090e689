import type pg from 'pg';
import sql from 'sql-template-tag';
import type { Database } from '../../platform/postgres/database.ts';

/** The companies that a user acts for. */
export function membershipsOf(userId: number): pg.QueryConfig {
  return sql`
    SELECT companies.id AS company_id, companies.name AS company, company_users.role
    FROM company_users JOIN companies ON companies.id = company_id
    WHERE user_id = ${userId} ORDER BY companies.id`;
}

/** The invitations to companies that a user has not answered. */
export function invitationsOf(userId: number): pg.QueryConfig {
  return sql`
    SELECT company_id, role, invited_at FROM company_invitations WHERE user_id = ${userId} ORDER BY invited_at`;
}

/** The companies that a user created and is still a member of, with all fields. */
export function companiesBy(userId: number): pg.QueryConfig {
  return sql`
    SELECT id, status, name, abbreviation, about, manager, web_page, email, address, city, state, zip, country_id,
      created_at
    FROM companies
    WHERE created_by = ${userId} AND id IN (SELECT company_id FROM company_users WHERE user_id = ${userId})
    ORDER BY id`;
}

/** Deletes a user's memberships and invitations. Companies stay, also those without a member. */
export async function eraseMemberships(database: Database, userId: number): Promise<void> {
  await database.query(sql`DELETE FROM company_invitations WHERE user_id = ${userId}`);
  await database.query(sql`DELETE FROM company_inviters WHERE user_id = ${userId}`);
  await database.query(sql`DELETE FROM company_users WHERE user_id = ${userId}`);
}
