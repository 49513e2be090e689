import type { Database } from '../../../../platform/database/database.ts';
import { Problem } from '../../../../platform/http/problems.ts';
import { newSecret } from '../../../../platform/tokens/secret.ts';
import type { MailLanguage } from '../../../base/contract/language.ts';
import type { InvitationMail, Mails } from '../../../identity/mails/mails.ts';
import { findUser } from '../../../identity/users/store.ts';
import { isMemberOfAny } from '../members/members-store.ts';
import { findCompany } from '../record/store.ts';
import {
  findInvitationWithSender,
  type Invitation,
  insertInvitation,
  insertInvitationToken,
  noteInvitation,
} from './invitations-store.ts';

/** Maximum invitations per sender and hour. */
const MAX_PER_HOUR = 20;
const HOUR_MS = 3600_000;
/** Lifetime of a mailed code, in milliseconds. */
const CODE_MS = 72 * HOUR_MS;

/**
 * Invites a user to a company, by mail; they become a member by accepting. The transaction holds the company's row lock;
 * the mail is sent after its commit.
 *
 * @throws Problem too_many_requests
 */
export async function invite(
  database: Database,
  mails: Mails,
  invitation: Invitation,
  invitedBy: number,
): Promise<void> {
  const invitedAt = await countSent(database, invitedBy);
  await insertInvitation(database, invitation, { invitedBy, invitedAt });
  await mails.send(database, [{ kind: 'invited', to: invitation.userId, about: invitation.companyId }]);
}

/**
 * Counts an invitation of a sender, by id or by address.
 *
 * @returns its time
 * @throws Problem too_many_requests
 */
export async function countSent(database: Database, invitedBy: number): Promise<Date> {
  const now = new Date();
  const since = new Date(now.getTime() - HOUR_MS);
  const oldest = await noteInvitation(database, invitedBy, { now, since, limit: MAX_PER_HOUR });
  if (oldest) {
    const retryAfter = Math.max(1, Math.ceil((oldest.getTime() - since.getTime()) / 1000));
    throw new Problem('company_invitation.too_many_sent', { max: MAX_PER_HOUR }, { retryAfter });
  }
  return now;
}

/**
 * The content of an invitation mail, with a new code.
 *
 * @returns undefined if the invitation has ended
 */
export async function invitationMail(
  database: Database,
  userId: number,
  companyId: number,
): Promise<InvitationMail | undefined> {
  const { secret, hash } = newSecret();
  const expiresAt = new Date(Date.now() + CODE_MS);
  if (!(await insertInvitationToken(database, { companyId, userId, hash, expiresAt }))) return undefined;
  const [company, invitation] = await Promise.all([
    findCompany(database, companyId),
    findInvitationWithSender(database, { companyId, userId }),
  ]);
  if (!company || !invitation) return undefined;
  const { role, invitedBy } = invitation;
  const { inviter } = await findInviter(database, companyId, invitedBy);
  return { company: company.name, role, inviter, secret };
}

/**
 * The sender of an invitation, for its mail. Members are named, because they act for their company; administrators of the
 * instance do not.
 */
export async function findInviter(
  database: Database,
  companyId: number,
  invitedBy: number,
): Promise<Pick<InvitationMail, 'inviter'> & { language: MailLanguage | undefined }> {
  const [user, isMember] = await Promise.all([
    findUser(database, invitedBy),
    isMemberOfAny(database, invitedBy, [companyId]),
  ]);
  const name = [user?.name, user?.surname].filter(Boolean).join(' ');
  return { inviter: isMember && name !== '' ? { id: invitedBy, name } : undefined, language: user?.language };
}
