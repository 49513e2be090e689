import { markDiscoverable } from '../../api/own-directory-entry.ts';
import { answered, packet } from '../../api/services.ts';

/** Maximum shares of an inbox that are read. */
const LOOKED_AT = 1000;

/**
 * Accepts an invitation and the shares that come of it, which were asked about with the invitation. A share that could
 * not be accepted stays in the inbox, where it can be answered.
 *
 * @param accept accepts the invitation, and returns how many packets are in the inbox because of it
 * @returns the same
 * @throws Failure if the invitation or the inbox is refused
 */
export async function acceptInvited(user_id: string, accept: () => Promise<number>): Promise<number> {
  const before = new Set(await pendingShares());
  const count = await accept();
  await markDiscoverable().catch(() => {});
  if (count === 0) return count;
  const added = await pendingShares().catch(() => []);
  for (const share_id of added.filter(id => !before.has(id))) {
    const call = { params: { path: { share_id } }, body: { user_id } };
    await answered(packet.POST('/shares/{share_id}/accept', call)).catch(() => {});
  }
  return count;
}

async function pendingShares(): Promise<string[]> {
  const query = { status: 'pending' as const, limit: LOOKED_AT };
  const page = await answered(packet.GET('/shares/inbox', { params: { query } }));
  if (typeof page !== 'object' || !('shares' in page)) throw new Error('the answer is no page of shares');
  return page.shares.map(({ share_id }) => share_id);
}
