import type { Database } from '../../../../platform/database/database.ts';
import { lockContacts } from '../directory/store.ts';
import type { Notifier } from '../notifications/notifier.ts';
import { announceShares } from './share.ts';
import { decideShare, giveInvitation, type Share } from './store.ts';

/**
 * Accepts or declines one invitation to a contact that is known to be the user's: it becomes a share that is answered
 * already, so that no mail asks for an answer. Other invitations to the contact go on waiting.
 *
 * @returns the share; undefined if it has meanwhile become a share in another way
 */
export async function answerInvitation(
  database: Database,
  notifier: Notifier,
  { shareId, contact }: Pick<Share, 'shareId' | 'contact'>,
  userId: string,
  status: 'accepted' | 'rejected',
  now: Date,
): Promise<Share | undefined> {
  await lockContacts(database, [contact]);
  const share = await giveInvitation(database, { shareId, userId }, now);
  if (!share) return undefined;
  if (status === 'accepted') await announceShares(database, notifier, [share]);
  await decideShare(database, shareId, status);
  return { ...share, status };
}
