import type { Database } from '../../../../platform/database/database.ts';
import type { Visitor } from '../../../base/access/requester.ts';
import { audit } from '../../../base/audit/audit.ts';
import { deleteMember, findAcceptedCompanies, findMembers } from '../members/members-store.ts';
import { lockCompany, touchCompany } from '../record/store.ts';

/**
 * Ends the memberships that a user got by accepting invitations, for an account that somebody else had before. A company
 * that loses its last COMPANY_ADMIN this way stays, as when an account is erased.
 */
export async function leaveAccepted(database: Database, visitor: Visitor, userId: number): Promise<void> {
  for (const companyId of await findAcceptedCompanies(database, userId)) {
    const company = await lockCompany(database, companyId);
    const members = await findMembers(database, companyId);
    const role = members.find(member => member.userId === userId)?.role;
    if (!company || role === undefined) continue;
    await deleteMember(database, companyId, userId);
    await touchCompany(database, companyId, company.status);
    const event = { action: 'REMOVE_USER_FROM_COMPANY', entity: 'company', entityId: companyId } as const;
    await audit(database, visitor, { ...event, userId, details: { userId, companyRole: [role, null] } });
  }
}
