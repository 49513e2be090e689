import type pg from 'pg';
import { type Database, transaction } from '../../../../platform/database/database.ts';
import { Problem } from '../../../../platform/http/problems.ts';
import { secretHash } from '../../../../platform/tokens/secret.ts';
import type { Visitor } from '../../../base/access/requester.ts';
import { audit } from '../../../base/audit/audit.ts';
import { findAccount, findEmailKey, findUser } from '../../../identity/users/store.ts';
import { type CompanyRole, findMembers, setMember } from '../members/members-store.ts';
import type { Answer } from '../record/schemas.ts';
import { findCompany, lockCompany, touchCompany } from '../record/store.ts';
import {
  deleteAddressInvitation,
  findAddressByToken,
  findAddressInvitation,
  findAddressInvitationById,
} from './addresses-store.ts';
import { deleteInvitation, findInvitation, findInvitationByToken } from './invitations-store.ts';

/** Whose invitation is answered. */
interface Addressee {
  companyId: number;
  userId: number;
  /** id of the invitation of the user's address, if just that is answered; otherwise that of the user comes first */
  addressInvitation?: number;
}

/**
 * Answers an invitation of the user, who becomes a member by accepting. Invitations of the user and of their address
 * to the company end together.
 *
 * @throws Problem not_found, also for an unknown company; invalid to accept while the company is deactivated
 */
export async function answerInvitation(
  database: Database,
  visitor: Visitor,
  { companyId, userId, addressInvitation }: Addressee,
  answer: Answer,
): Promise<void> {
  const company = await lockCompany(database, companyId);
  const emailKey = (await findEmailKey(database, userId)) ?? '';
  const byAddress = await findAddressInvitation(database, { companyId, emailKey });
  const byUser = await findInvitation(database, { companyId, userId });
  const isByAddress = addressInvitation === undefined ? !byUser : byAddress?.id === addressInvitation;
  const invitation = isByAddress ? byAddress : addressInvitation === undefined ? byUser : undefined;
  if (!company || !invitation) throw new Problem('not_found', 'there is no such invitation');
  const { role } = invitation;
  if (answer === 'ACCEPT') {
    if (company.status !== 'ACTIVE') throw new Problem('invalid', 'the company is deactivated');
    // A SYSTEM_ADMIN may have placed the user meanwhile, or their address has become the invited one.
    const isMember = (await findMembers(database, companyId)).some(member => member.userId === userId);
    if (!isMember) await setMember(database, companyId, { userId, role });
  }
  await deleteInvitation(database, { companyId, userId });
  if (byAddress) await deleteAddressInvitation(database, byAddress.id);
  await touchCompany(database, companyId, company.status);
  const named = isByAddress && { invitation: byAddress?.id };
  const details = { userId, ...named, ...(answer === 'ACCEPT' && { companyRole: [null, role] }) };
  const action = `${answer}_INVITATION` as const;
  await audit(database, visitor, { action, entity: 'company', entityId: companyId, details, userId });
}

/**
 * Answers an invitation by the code that was mailed for it.
 *
 * @throws Problem invalid
 */
export async function answerByToken(
  pool: pg.Pool,
  visitor: Visitor,
  token: string,
  answer: Answer,
): Promise<void> {
  const hash = secretHash(token);
  await transaction(pool, async database => {
    const invitation = await findAddressee(database, hash, new Date());
    const user = invitation && (await findUser(database, invitation.userId));
    if (!invitation || user?.status !== 'ACTIVE') throw unusable();
    await answerInvitation(database, visitor, invitation, answer).catch(error => {
      // Answered or withdrawn in the meantime.
      throw error instanceof Problem && error.code === 'not_found' ? unusable() : error;
    });
  });
}

/**
 * The company, the role and the invited address of an invitation whose code was mailed to it; nothing is changed.
 *
 * @throws Problem invalid
 */
export async function readByToken(
  pool: pg.Pool,
  token: string,
): Promise<{ company: { id: number; name: string }; companyRole: CompanyRole; email: string }> {
  const addressee = await findAddressee(pool, secretHash(token), new Date());
  const user = addressee && (await findUser(pool, addressee.userId));
  if (!addressee || user?.status !== 'ACTIVE') throw unusable();
  const { companyId, userId, addressInvitation } = addressee;
  const [company, invitation] = await Promise.all([
    findCompany(pool, companyId),
    addressInvitation === undefined
      ? findInvitation(pool, { companyId, userId })
      : findAddressInvitationById(pool, addressInvitation),
  ]);
  if (!company || !invitation) throw unusable();
  const { id, name } = company;
  return { company: { id, name }, companyRole: invitation.role, email: user.email };
}

async function findAddressee(database: Database, hash: Buffer, now: Date): Promise<Addressee | undefined> {
  const invitation = await findInvitationByToken(database, hash, now);
  if (invitation) return invitation;
  const byAddress = await findAddressByToken(database, hash, now);
  const account = byAddress && (await findAccount(database, byAddress.emailKey));
  return account && { companyId: byAddress.companyId, userId: account.id, addressInvitation: byAddress.id };
}

function unusable(): Problem {
  const sentence = 'token is unknown, used or older than 72 hours; log in to see your invitations';
  return new Problem('invalid', sentence, { fields: { token: sentence } });
}
