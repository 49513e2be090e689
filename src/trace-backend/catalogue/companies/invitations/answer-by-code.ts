import type pg from 'pg';
import { type Database, transaction } from '../../../../platform/database/database.ts';
import { Problem } from '../../../../platform/http/problems.ts';
import { secretHash } from '../../../../platform/tokens/secret.ts';
import type { Visitor } from '../../../base/access/requester.ts';
import { audit } from '../../../base/audit/audit.ts';
import { checkCurrentPassword, wrongPassword } from '../../../identity/attempts/current-password.ts';
import { wasChecked } from '../../../identity/attempts/mailed-password.ts';
import type { Mails } from '../../../identity/mails/mails.ts';
import { noteConfirmed } from '../../../identity/self-service/account.ts';
import { emailKeyOf } from '../../../identity/users/email.ts';
import type { Passwords } from '../../../identity/users/passwords.ts';
import { type Account, findAccount, findAccountById, lockAccount } from '../../../identity/users/store.ts';
import type { CompanyRole } from '../members/members-store.ts';
import type { Answer, Needed } from '../record/schemas.ts';
import { findCompany, lockCompany, touchCompany } from '../record/store.ts';
import {
  type AddressInvitation,
  deleteAddressInvitation,
  findAddressByToken,
  findAddressInvitationById,
} from './addresses-store.ts';
import { answerInvitation } from './answer.ts';
import { findInvitation, findInvitationByToken } from './invitations-store.ts';

interface CodeContext {
  pool: pg.Pool;
  passwords: Passwords;
  mails: Pick<Mails, 'send'>;
}

/** The invitation of a mailed code: of an account, or of an address with the account that has it. */
type CodeInvitation =
  | { companyId: number; account: Account | undefined; byAddress?: undefined }
  | { companyId: number; account: Account | undefined; byAddress: AddressInvitation };

/**
 * Answers an invitation by its mailed code. An invitation of an address is accepted by the active account that has the
 * address. If its owner has not confirmed the address, the password is needed too, because somebody else may have
 * registered the account; the address then counts as confirmed.
 *
 * @throws Problem invalid, too_many_requests
 */
export async function answerByCode(
  context: CodeContext,
  visitor: Visitor,
  { token, answer, password }: { token: string; answer: Answer; password?: string | undefined },
): Promise<void> {
  const hash = secretHash(token);
  const before = await findByCode(context.pool, hash, new Date());
  const checked =
    answer === 'ACCEPT' && password !== undefined && before && neededBy(before) === 'PASSWORD'
      ? await checkCurrentPassword(context, (before.account as Account).id, password, 'password')
      : undefined;
  await transaction(context.pool, async database => {
    // Companies are locked before users.
    if (before) await lockCompany(database, before.companyId);
    const invited = await findByCode(database, hash, new Date());
    if (!invited) throw unusable();
    const { companyId, account, byAddress } = invited;
    if (account?.status !== 'ACTIVE') {
      if (!byAddress) throw unusable();
      if (answer === 'ACCEPT') throw noAccount();
      return declineForAddress(database, visitor, byAddress);
    }
    if (answer === 'ACCEPT' && byAddress) {
      await confirmAddress({ ...context, database }, visitor, { account, byAddress, checked });
    }
    const addressee = { companyId, userId: account.id, addressInvitation: byAddress?.id };
    await answerInvitation(database, visitor, addressee, answer, true).catch(error => {
      // Answered or withdrawn in the meantime.
      throw error instanceof Problem && error.code === 'not_found' ? unusable() : error;
    });
  });
}

/**
 * Ensures that the owner of an invited address has confirmed the account with this address.
 *
 * @param invited `checked` is the account, if its password was checked
 * @throws Problem invalid
 */
async function confirmAddress(
  { database, mails }: Pick<CodeContext, 'mails'> & { database: Database },
  visitor: Visitor,
  {
    account,
    byAddress,
    checked,
  }: { account: Account; byAddress: AddressInvitation; checked: Account | undefined },
): Promise<void> {
  const user = await lockAccount(database, account.id);
  if (user?.status !== 'ACTIVE' || emailKeyOf(user.email) !== byAddress.emailKey) throw noAccount();
  if (user.emailConfirmed) return;
  if (!wasChecked(checked, user)) throw wrongPassword('password');
  await noteConfirmed(database, mails, visitor, user, { userId: user.id, byOwner: true });
}

/** Declines an invitation of an address that no active account has. */
async function declineForAddress(
  database: Database,
  visitor: Visitor,
  { id, companyId }: AddressInvitation,
): Promise<void> {
  const company = await lockCompany(database, companyId);
  if (!company) throw unusable();
  await deleteAddressInvitation(database, id);
  await touchCompany(database, companyId, company.status);
  const event = { action: 'DECLINE_INVITATION', entity: 'company', entityId: companyId } as const;
  await audit(database, visitor, { ...event, details: { invitation: id } });
}

/**
 * Reads the company, role and address of an invitation by its mailed code, and the requirements for accepting it. Changes
 * nothing.
 *
 * @throws Problem invalid
 */
export async function readByCode(
  pool: pg.Pool,
  token: string,
): Promise<{
  company: { id: number; name: string };
  companyRole: CompanyRole;
  email: string;
  needs: Needed;
}> {
  const invited = await findByCode(pool, secretHash(token), new Date());
  if (!invited || (!invited.byAddress && invited.account?.status !== 'ACTIVE')) throw unusable();
  const { companyId, account, byAddress } = invited;
  const [company, invitation] = await Promise.all([
    findCompany(pool, companyId),
    byAddress
      ? findAddressInvitationById(pool, byAddress.id)
      : findInvitation(pool, { companyId, userId: (account as Account).id }),
  ]);
  if (!company || !invitation) throw unusable();
  const { id, name } = company;
  const email = account?.email ?? (byAddress as AddressInvitation).email;
  return { company: { id, name }, companyRole: invitation.role, email, needs: neededBy(invited) };
}

/** The requirement for accepting an invitation, in addition to its code. */
function neededBy({ account, byAddress }: CodeInvitation): Needed {
  if (!byAddress) return 'NOTHING';
  if (!account) return 'ACCOUNT';
  if (account.status !== 'ACTIVE') return 'ACTIVATION';
  return account.emailConfirmed ? 'NOTHING' : 'PASSWORD';
}

async function findByCode(database: Database, hash: Buffer, now: Date): Promise<CodeInvitation | undefined> {
  const invitation = await findInvitationByToken(database, hash, now);
  if (invitation) {
    const { companyId, userId } = invitation;
    return { companyId, account: await findAccountById(database, userId) };
  }
  const byAddress = await findAddressByToken(database, hash, now);
  if (!byAddress) return undefined;
  const account = await findAccount(database, byAddress.emailKey);
  return { companyId: byAddress.companyId, account, byAddress };
}

function unusable(): Problem {
  return new Problem('company_invitation.token_unusable', { field: 'token' });
}

function noAccount(): Problem {
  return new Problem('company_invitation.no_active_account');
}
