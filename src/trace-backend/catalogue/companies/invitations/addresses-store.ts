import sql from 'sql-template-tag';
import { type Database, execute } from '../../../../platform/database/database.ts';
import { groupedByKey, sharedRead } from '../../../../platform/database/shared-read.ts';
import type { CompanyRole } from '../members/members-store.ts';

/** An unanswered invitation of an email address to a company. It does not show whether an account has the address. */
export interface AddressInvitation {
  id: number;
  companyId: number;
  /** as the company entered it */
  email: string;
  emailKey: string;
  /** the role in the company */
  role: CompanyRole;
}

const ADDRESS = sql`id, company_id AS "companyId", email, email_key AS "emailKey", role`;

const invitedAddresses = sharedRead(async (database, companyIds: readonly number[]) => {
  const { rows } = await database.query<AddressInvitation>({
    name: 'find-invited-addresses',
    text: `SELECT ${ADDRESS.text} FROM company_address_invitations WHERE company_id = ANY ($1::integer[])
      ORDER BY email_key`,
    values: [companyIds],
  });
  return groupedByKey(companyIds, rows, ({ companyId }) => companyId);
});

/** The addresses that a company has invited, in the order of the alphabet. */
export const findInvitedAddresses = (database: Database, companyId: number): Promise<AddressInvitation[]> =>
  invitedAddresses.one(database, companyId);

export async function findAddressInvitation(
  database: Database,
  { companyId, emailKey }: Pick<AddressInvitation, 'companyId' | 'emailKey'>,
): Promise<AddressInvitation | undefined> {
  const { rows } = await database.query<AddressInvitation>(sql`
    SELECT ${ADDRESS} FROM company_address_invitations
    WHERE company_id = ${companyId} AND email_key = ${emailKey}`);
  return rows[0];
}

/** An invitation and the user who sent it, for its mail. */
export async function findAddressInvitationById(
  database: Database,
  id: number,
): Promise<(AddressInvitation & { invitedBy: number }) | undefined> {
  const { rows } = await database.query<AddressInvitation & { invitedBy: number }>(sql`
    SELECT ${ADDRESS}, invited_by AS "invitedBy" FROM company_address_invitations WHERE id = ${id}`);
  return rows[0];
}

/** The addresses of invitations, by their ids. */
export async function findAddressesOf(
  database: Database,
  ids: readonly number[],
): Promise<Map<number, string>> {
  const { rows } = await database.query<Pick<AddressInvitation, 'id' | 'email'>>(sql`
    SELECT id, email FROM company_address_invitations WHERE id = ANY (${ids}::integer[])`);
  return new Map(rows.map(({ id, email }) => [id, email]));
}

/**
 * Stores an invitation. The transaction holds the company's row lock; the address is not invited yet.
 *
 * @returns its id
 */
export async function insertAddressInvitation(
  database: Database,
  { companyId, email, emailKey, role }: Omit<AddressInvitation, 'id'>,
  { invitedBy, invitedAt }: { invitedBy: number; invitedAt: Date },
): Promise<number> {
  const { rows } = await database.query<{ id: number }>(sql`
    INSERT INTO company_address_invitations (company_id, email, email_key, role, invited_by, invited_at)
    VALUES (${companyId}, ${email}, ${emailKey}, ${role}, ${invitedBy}, ${invitedAt}) RETURNING id`);
  return (rows[0] as { id: number }).id;
}

export async function updateAddressInvitation(
  database: Database,
  id: number,
  role: CompanyRole,
): Promise<void> {
  await execute(database, sql`UPDATE company_address_invitations SET role = ${role} WHERE id = ${id}`);
}

/** Deletes an invitation with its mailed codes. */
export async function deleteAddressInvitation(database: Database, id: number): Promise<void> {
  await execute(database, sql`DELETE FROM company_address_invitations WHERE id = ${id}`);
}

/** Companies with invitations of addresses from before a time. */
export async function findExpiredCompanies(
  database: Database,
  before: Date,
  limit: number,
): Promise<number[]> {
  const { rows } = await database.query<{ id: number }>(sql`
    SELECT DISTINCT company_id AS id FROM company_address_invitations WHERE invited_at < ${before}
    ORDER BY company_id LIMIT ${limit}`);
  return rows.map(({ id }) => id);
}

/** Deletes a company's invitations of addresses from before a time; returns their ids. */
export async function deleteExpired(database: Database, companyId: number, before: Date): Promise<number[]> {
  const { rows } = await database.query<{ id: number }>(sql`
    DELETE FROM company_address_invitations WHERE company_id = ${companyId} AND invited_at < ${before}
    RETURNING id`);
  return rows.map(({ id }) => id);
}

/**
 * Stores the hash of a mailed code of an invitation, which ends with it; returns false if the invitation is gone.
 *
 * @param days after which an invitation ends
 */
export async function insertAddressToken(
  database: Database,
  { id, hash, days }: { id: number; hash: Buffer; days: number },
): Promise<boolean> {
  const { rowCount } = await database.query(sql`
    INSERT INTO company_address_invitation_tokens (hash, invitation_id, expires_at)
    SELECT ${hash}::bytea, id, invited_at + make_interval(days => ${days}) FROM company_address_invitations
    WHERE id = ${id} FOR KEY SHARE`);
  return rowCount === 1;
}

/** The invitation of a mailed code. */
export async function findAddressByToken(
  database: Database,
  hash: Buffer,
  now: Date,
): Promise<AddressInvitation | undefined> {
  const { rows } = await database.query<AddressInvitation>(sql`
    SELECT ${ADDRESS} FROM company_address_invitations
    WHERE id = (SELECT invitation_id FROM company_address_invitation_tokens
      WHERE hash = ${hash} AND expires_at > ${now})`);
  return rows[0];
}
