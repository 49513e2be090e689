import type { Database } from '../../../../platform/database/database.ts';
import { Problem } from '../../../../platform/http/problems.ts';
import type { Visitor } from '../../../base/access/requester.ts';
import { audit } from '../../../base/audit/audit.ts';
import { findConfirmedEmailKey } from '../../../identity/users/store.ts';
import { findMembers, setMember } from '../members/members-store.ts';
import type { Answer } from '../record/schemas.ts';
import { lockCompany, touchCompany } from '../record/store.ts';
import {
  deleteAddressInvitation,
  findAddressInvitation,
  findAddressInvitationById,
} from './addresses-store.ts';
import { deleteInvitation, findInvitation } from './invitations-store.ts';

/** The invited user and company of an answer. */
interface Addressee {
  companyId: number;
  userId: number;
  /** id of the invitation of the user's address, if its code is used; otherwise the user's own invitation has priority */
  addressInvitation?: number | undefined;
}

/**
 * Answers an invitation of the user, who becomes a member by accepting. Invitations of the user and of their address to
 * the company end together; those of an unconfirmed address are not the user's.
 *
 * @param needsCode whether invitations of addresses can be accepted only by their mailed code
 * @throws Problem not_found, also for an unknown company; invalid when accepting without the required code or while the
 *   company is deactivated
 */
export async function answerInvitation(
  database: Database,
  visitor: Visitor,
  { companyId, userId, addressInvitation }: Addressee,
  answer: Answer,
  needsCode: boolean,
): Promise<void> {
  const company = await lockCompany(database, companyId);
  const byUser = await findInvitation(database, { companyId, userId });
  const byAddress =
    addressInvitation === undefined
      ? await findOwnAddressInvitation(database, companyId, userId)
      : await findAddressInvitationById(database, addressInvitation);
  const isByAddress = addressInvitation !== undefined || !byUser;
  const invitation = isByAddress ? byAddress : byUser;
  if (!company || !invitation) throw new Problem('company_invitation.unknown');
  const { role } = invitation;
  if (answer === 'ACCEPT') {
    if (isByAddress && addressInvitation === undefined && needsCode)
      throw new Problem('company_invitation.link_required');
    if (company.status !== 'ACTIVE') throw new Problem('company.deactivated');
    // A SYSTEM_ADMIN may have added the user meanwhile, or the user's address has become the invited one.
    const isMember = (await findMembers(database, companyId)).some(member => member.userId === userId);
    if (!isMember) await setMember(database, companyId, { userId, role, byInvitation: true });
  }
  await deleteInvitation(database, { companyId, userId });
  if (byAddress) await deleteAddressInvitation(database, byAddress.id);
  await touchCompany(database, companyId, company.status);
  const byAddressId = isByAddress && { invitation: byAddress?.id };
  const details = { userId, ...byAddressId, ...(answer === 'ACCEPT' && { companyRole: [null, role] }) };
  const action = `${answer}_INVITATION` as const;
  await audit(database, visitor, { action, entity: 'company', entityId: companyId, details, userId });
}

async function findOwnAddressInvitation(database: Database, companyId: number, userId: number) {
  const emailKey = await findConfirmedEmailKey(database, userId);
  return emailKey === undefined ? undefined : findAddressInvitation(database, { companyId, emailKey });
}
