import type pg from 'pg';
import { Problem } from '../../../platform/http/problems.ts';
import { type Database, transaction } from '../../../platform/postgres/database.ts';
import { secretHash } from '../../../platform/tokens/secret.ts';
import type { Visitor } from '../../access/requester.ts';
import { findUser } from '../../accounts/users/store.ts';
import { audit } from '../../audit/audit.ts';
import { setMember } from '../members/members-store.ts';
import type { Answer } from '../record/schemas.ts';
import { lockCompany, touchCompany } from '../record/store.ts';
import { deleteInvitation, findInvitation, findInvitationByToken } from './invitations-store.ts';

/**
 * Answers an invitation of the user, who becomes a member by accepting.
 *
 * @throws Problem not_found, also for an unknown company; invalid to accept while the company is deactivated
 */
export async function answerInvitation(
  database: Database,
  visitor: Visitor,
  { companyId, userId }: { companyId: number; userId: number },
  answer: Answer,
): Promise<void> {
  const company = await lockCompany(database, companyId);
  const invitation = await findInvitation(database, { companyId, userId });
  if (!company || !invitation) throw new Problem('not_found', 'there is no such invitation');
  const { role } = invitation;
  if (answer === 'ACCEPT') {
    if (company.status !== 'ACTIVE') throw new Problem('invalid', 'the company is deactivated');
    await setMember(database, companyId, { userId, role });
  }
  await deleteInvitation(database, { companyId, userId });
  await touchCompany(database, companyId, company.status);
  const details = { userId, ...(answer === 'ACCEPT' && { companyRole: [null, role] }) };
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
    const invitation = await findInvitationByToken(database, hash, new Date());
    const user = invitation && (await findUser(database, invitation.userId));
    if (!invitation || user?.status !== 'ACTIVE') throw unusable();
    await answerInvitation(database, visitor, invitation, answer).catch(error => {
      // Answered or withdrawn in the meantime.
      throw error instanceof Problem && error.code === 'not_found' ? unusable() : error;
    });
  });
}

function unusable(): Problem {
  const sentence = 'token is unknown, used or older than 72 hours; log in to see your invitations';
  return new Problem('invalid', sentence, { fields: { token: sentence } });
}
