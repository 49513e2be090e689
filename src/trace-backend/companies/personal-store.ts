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

/** The companies that asked a user to act for them, and the invitations that the user sent. */
export function invitationsOf(userId: number): pg.QueryConfig {
  return sql`
    SELECT company_id, user_id, role, invited_by, invited_at FROM company_invitations
    WHERE user_id = ${userId} OR invited_by = ${userId} ORDER BY invited_at`;
}

/** The companies that a user made, with all that they are described by. */
export function companiesBy(userId: number): pg.QueryConfig {
  return sql`
    SELECT id, status, name, abbreviation, about, manager, web_page, email, address, city, state, zip, country_id,
      created_at
    FROM companies WHERE created_by = ${userId} ORDER BY id`;
}

/** Has a user act for no company any more, nor be asked to. */
export async function eraseMemberships(database: Database, userId: number): Promise<void> {
  await database.query(sql`DELETE FROM company_invitations WHERE user_id = ${userId}`);
  await database.query(sql`DELETE FROM company_inviters WHERE user_id = ${userId}`);
  await database.query(sql`DELETE FROM company_users WHERE user_id = ${userId}`);
}
