import type pg from 'pg';
import sql from 'sql-template-tag';
import { type Database, execute } from '../../../../platform/database/database.ts';

/** The companies of a user. */
export function membershipsOf(userId: number): pg.QueryConfig {
  return sql`
    SELECT companies.id AS company_id, companies.name AS company, company_users.role
    FROM company_users JOIN companies ON companies.id = company_id
    WHERE user_id = ${userId} ORDER BY companies.id`;
}

/**
 * The unanswered invitations of a user and of their address to companies.
 *
 * @param emailKey undefined unless the owner of the address has confirmed it
 */
export function invitationsOf(userId: number, emailKey: string | undefined): pg.QueryConfig {
  return sql`
    SELECT company_id, NULL AS email, role, invited_at FROM company_invitations WHERE user_id = ${userId}
    UNION ALL SELECT company_id, email, role, invited_at FROM company_address_invitations
    WHERE email_key = ${emailKey} ORDER BY invited_at`;
}

/** The ids of unanswered invitations of an address; none if it is undefined. */
export async function findAddressInvitationIds(
  database: Database,
  emailKey: string | undefined,
): Promise<number[]> {
  const { rows } = await database.query<{ id: number }>(sql`
    SELECT id FROM company_address_invitations WHERE email_key = ${emailKey}`);
  return rows.map(({ id }) => id);
}

/**
 * Deletes a user's memberships, and the invitations of the user and of their address. Companies stay, even without
 * members.
 *
 * @param emailKey undefined unless the owner of the address has confirmed it: its invitations may be another person's
 */
export async function eraseMemberships(
  database: Database,
  userId: number,
  emailKey: string | undefined,
): Promise<void> {
  await execute(database, sql`DELETE FROM company_address_invitations WHERE email_key = ${emailKey}`);
  await execute(database, sql`DELETE FROM company_invitations WHERE user_id = ${userId}`);
  await execute(database, sql`DELETE FROM company_inviters WHERE user_id = ${userId}`);
  await execute(database, sql`DELETE FROM company_users WHERE user_id = ${userId}`);
}
