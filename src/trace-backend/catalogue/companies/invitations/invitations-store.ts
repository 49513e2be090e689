import sql from 'sql-template-tag';
import { type Database, execute } from '../../../../platform/database/database.ts';
import type { Page } from '../../../base/contract/schemas.ts';
import type { CompanyRole, Member } from '../members/members-store.ts';

/** An unanswered invitation of a user to a company. */
export interface Invitation {
  companyId: number;
  userId: number;
  /** their role in the company */
  role: CompanyRole;
}

/** An invitation for the invited user. */
interface OwnInvitation {
  companyId: number;
  name: string;
  role: CompanyRole;
  invitedAt: Date;
  /** whether the user's address was invited, not the account */
  byAddress: boolean;
}

const INVITATION = sql`company_id AS "companyId", user_id AS "userId", role`;

/** The invitations of a company, in the order of the users' ids. */
export async function findInvited(database: Database, companyId: number): Promise<Member[]> {
  const { rows } = await database.query<Member>({
    name: 'find-invited',
    text: 'SELECT user_id AS "userId", role FROM company_invitations WHERE company_id = $1 ORDER BY user_id',
    values: [companyId],
  });
  return rows;
}

export async function findInvitation(
  database: Database,
  { companyId, userId }: Pick<Invitation, 'companyId' | 'userId'>,
): Promise<Invitation | undefined> {
  const { rows } = await database.query<Invitation>(sql`
    SELECT ${INVITATION} FROM company_invitations WHERE company_id = ${companyId} AND user_id = ${userId}`);
  return rows[0];
}

/** An invitation and the user who sent it, for its mail. */
export async function findInvitationWithSender(
  database: Database,
  { companyId, userId }: Pick<Invitation, 'companyId' | 'userId'>,
): Promise<(Invitation & { invitedBy: number }) | undefined> {
  const { rows } = await database.query<Invitation & { invitedBy: number }>(sql`
    SELECT ${INVITATION}, invited_by AS "invitedBy" FROM company_invitations
    WHERE company_id = ${companyId} AND user_id = ${userId}`);
  return rows[0];
}

/**
 * A page of the unanswered invitations of a user and of their address, and their number.
 *
 * @param invited `emailKey` is undefined unless the owner of the address has confirmed it
 */
export async function listInvitations(
  database: Database,
  { userId, emailKey }: { userId: number; emailKey: string | undefined },
  { limit, offset, sort }: Page,
): Promise<{ items: OwnInvitation[]; count: number }> {
  const direction = sort === 'ASC' ? sql`ASC` : sql`DESC`;
  // A company that invited both the user and their address is listed once, because one answer covers both.
  const invitations = sql`
    SELECT company_id, role, invited_at, false AS by_address FROM company_invitations WHERE user_id = ${userId}
    UNION ALL SELECT company_id, role, invited_at, true FROM company_address_invitations AS of_address
    WHERE email_key = ${emailKey} AND NOT EXISTS (
      SELECT FROM company_invitations WHERE user_id = ${userId} AND company_id = of_address.company_id)`;
  const [page, all] = await Promise.all([
    database.query<OwnInvitation>(sql`
      SELECT company_id AS "companyId", companies.name, role, invited_at AS "invitedAt", by_address AS "byAddress"
      FROM (${invitations}) AS invitations JOIN companies ON companies.id = company_id
      ORDER BY invited_at ${direction}, company_id ${direction} LIMIT ${limit} OFFSET ${offset}`),
    database.query<{ count: number }>(sql`
      SELECT count(*)::int AS count FROM (${invitations}) AS invitations`),
  ]);
  return { items: page.rows, count: all.rows[0]?.count ?? 0 };
}

/** The transaction holds the company's row lock; the user is neither a member nor invited. */
export async function insertInvitation(
  database: Database,
  { companyId, userId, role }: Invitation,
  { invitedBy, invitedAt }: { invitedBy: number; invitedAt: Date },
): Promise<void> {
  await execute(
    database,
    sql`
    INSERT INTO company_invitations (company_id, user_id, role, invited_by, invited_at)
    VALUES (${companyId}, ${userId}, ${role}, ${invitedBy}, ${invitedAt})`,
  );
}

export async function updateInvitation(
  database: Database,
  { companyId, userId, role }: Invitation,
): Promise<void> {
  await execute(
    database,
    sql`
    UPDATE company_invitations SET role = ${role} WHERE company_id = ${companyId} AND user_id = ${userId}`,
  );
}

/** Deletes an invitation with its mailed codes. */
export async function deleteInvitation(
  database: Database,
  { companyId, userId }: Pick<Invitation, 'companyId' | 'userId'>,
): Promise<void> {
  await execute(
    database,
    sql`
    DELETE FROM company_invitations WHERE company_id = ${companyId} AND user_id = ${userId}`,
  );
}

/** Deletes all invitations of a company, of users and of addresses, with their mailed codes. */
export async function deleteInvitations(database: Database, companyId: number): Promise<void> {
  await execute(database, sql`DELETE FROM company_address_invitations WHERE company_id = ${companyId}`);
  await execute(database, sql`DELETE FROM company_invitations WHERE company_id = ${companyId}`);
}

/** Deletes the invitations of users, and of addresses, to a company. */
export async function deleteInvitationsOf(
  database: Database,
  companyId: number,
  { userIds, emailKeys }: { userIds: readonly number[]; emailKeys: readonly string[] },
): Promise<void> {
  await execute(
    database,
    sql`
    DELETE FROM company_address_invitations
    WHERE company_id = ${companyId} AND email_key = ANY (${emailKeys}::text[])`,
  );
  await execute(
    database,
    sql`
    DELETE FROM company_invitations WHERE company_id = ${companyId} AND user_id = ANY (${userIds}::integer[])`,
  );
}

/**
 * Records that a user sends an invitation, if they have sent fewer than `limit` since a time. Until the end of the
 * transaction, other invitations by the same user wait.
 *
 * @returns undefined if it was recorded; otherwise the time of the oldest counted invitation
 */
export async function noteInvitation(
  database: Database,
  userId: number,
  { now, since, limit }: { now: Date; since: Date; limit: number },
): Promise<Date | undefined> {
  const { rowCount } = await database.query(sql`
    INSERT INTO company_inviters AS stored (user_id, sent) VALUES (${userId}, ARRAY[${now}::timestamptz])
    ON CONFLICT (user_id) DO UPDATE
    SET sent = ARRAY(SELECT at FROM unnest(stored.sent) AS at WHERE at > ${since}) || ${now}::timestamptz
    WHERE (SELECT count(*) FROM unnest(stored.sent) AS at WHERE at > ${since}) < ${limit}`);
  if (rowCount === 1) return undefined;
  const { rows } = await database.query<{ oldest: Date }>(sql`
    SELECT min(at) AS oldest FROM company_inviters, unnest(sent) AS at WHERE user_id = ${userId} AND at > ${since}`);
  return rows[0]?.oldest ?? since;
}

/** Stores the hash of a mailed code of an invitation; returns false if the invitation is gone. */
export async function insertInvitationToken(
  database: Database,
  { companyId, userId, hash, expiresAt }: Omit<Invitation, 'role'> & { hash: Buffer; expiresAt: Date },
): Promise<boolean> {
  const { rowCount } = await database.query(sql`
    INSERT INTO company_invitation_tokens (hash, company_id, user_id, expires_at)
    SELECT ${hash}::bytea, company_id, user_id, ${expiresAt}::timestamptz FROM company_invitations
    WHERE company_id = ${companyId} AND user_id = ${userId} FOR KEY SHARE`);
  return rowCount === 1;
}

/** The invitation of a mailed code. */
export async function findInvitationByToken(
  database: Database,
  hash: Buffer,
  now: Date,
): Promise<Pick<Invitation, 'companyId' | 'userId'> | undefined> {
  const { rows } = await database.query<Pick<Invitation, 'companyId' | 'userId'>>(sql`
    SELECT company_id AS "companyId", user_id AS "userId" FROM company_invitation_tokens
    WHERE hash = ${hash} AND expires_at > ${now}`);
  return rows[0];
}
