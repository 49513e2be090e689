import type pg from 'pg';
import { transaction } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Requester } from '../../base/access/requester.ts';
import { audit } from '../../base/audit/audit.ts';
import type { Mails } from '../mails/mails.ts';
import { insertMailToken } from '../mails/store.ts';
import { lockAccount } from '../users/store.ts';
import { mayAct } from './execute.ts';

/**
 * Creates a link by which a user confirms their address, for instances that send no mails: an administrator copies it
 * and gives it to the person. Like the link of a mail, it works once, and together with the password.
 *
 * @throws Problem forbidden, not_found; invalid if mails are sent or the address cannot be confirmed
 */
export async function confirmationLink(
  { pool, mails }: { pool: pg.Pool; mails: Pick<Mails, 'areSent' | 'newConfirmation'> },
  requester: Requester,
  id: number,
): Promise<{ url: string; expiresAt: string }> {
  if (mails.areSent) throw new Problem('confirmation_link.mails_are_sent');
  return transaction(pool, async database => {
    const user = await lockAccount(database, id);
    mayAct(requester.caller, user);
    if (!user) throw new Problem('user.unknown');
    if (user.status === 'DEACTIVATED') throw new Problem('user.deactivated');
    if (user.emailConfirmed) throw new Problem('user.address_confirmed');
    const { url, token } = mails.newConfirmation(user);
    await insertMailToken(database, token, new Date());
    await audit(database, requester, { action: 'COPY_CONFIRMATION_LINK', entity: 'user', entityId: id });
    return { url, expiresAt: token.expiresAt.toISOString() };
  });
}
