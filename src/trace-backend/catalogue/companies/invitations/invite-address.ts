import { hash } from 'node:crypto';
import type { Database } from '../../../../platform/database/database.ts';
import { Problem } from '../../../../platform/http/problems.ts';
import { countRequest } from '../../../../platform/limits/counts-store.ts';
import { newSecret } from '../../../../platform/tokens/secret.ts';
import type { AddressInvitationMail, Mails } from '../../../identity/mails/mails.ts';
import { findCompany } from '../record/store.ts';
import {
  type AddressInvitation,
  findAddressInvitationById,
  insertAddressInvitation,
  insertAddressToken,
} from './addresses-store.ts';
import { ADDRESS_DAYS } from './expire.ts';
import { countSent, findInviter } from './invite.ts';

/** Maximum invitations per address and day by all senders, so that nobody is flooded with mails. */
const MAX_TO_ADDRESS = 5;
const DAY_MS = 24 * 3600_000;

/**
 * Invites an email address to a company, by mail. Only the mail, which is written later, depends on whether an account has
 * the address. The transaction holds the company's row lock.
 *
 * @returns the id of the invitation
 * @throws Problem too_many_requests
 */
export async function inviteAddress(
  database: Database,
  mails: Mails,
  invitation: Omit<AddressInvitation, 'id'>,
  invitedBy: number,
): Promise<number> {
  const invitedAt = await countSent(database, invitedBy);
  await countReceived(database, invitation.emailKey);
  const id = await insertAddressInvitation(database, invitation, { invitedBy, invitedAt });
  await mails.invite(database, { invitationId: id, emailKey: invitation.emailKey });
  return id;
}

/**
 * Counts an invitation of an address, by the address's hash, because the count outlives the invitation.
 *
 * @throws Problem too_many_requests
 */
async function countReceived(database: Database, emailKey: string): Promise<void> {
  const { count, ttl } = await countRequest(
    database,
    'invitations of an address',
    hash('sha256', emailKey),
    DAY_MS,
  );
  if (count <= MAX_TO_ADDRESS) return;
  throw new Problem(
    'company_invitation.too_many_to_address',
    { field: 'email', max: MAX_TO_ADDRESS },
    { retryAfter: Math.max(1, Math.ceil(ttl / 1000)) },
  );
}

/**
 * The content of the mail of an invitation, with a new code.
 *
 * @returns undefined if the invitation has ended
 */
export async function addressMail(
  database: Database,
  id: number,
): Promise<AddressInvitationMail | undefined> {
  const { secret, hash } = newSecret();
  if (!(await insertAddressToken(database, { id, hash, days: ADDRESS_DAYS }))) return undefined;
  const found = await findAddressInvitationById(database, id);
  if (!found) return undefined;
  const { role, email } = found;
  const [company, sender] = await Promise.all([
    findCompany(database, found.companyId),
    findInviter(database, found.companyId, found.invitedBy),
  ]);
  if (!company) return undefined;
  // The language of a recipient without an account is unknown; the sender's is the best guess.
  const { inviter, language = 'EN' } = sender;
  return { company: company.name, role, inviter, email, language, secret };
}
