import type { Database } from '../../../../platform/database/database.ts';
import { Problem } from '../../../../platform/http/problems.ts';
import { parseUlid } from '../../../core/packet-format/ulid.ts';
import { decideShare, findShareById, type Share } from './store.ts';

/**
 * Accepts or rejects a share for its recipient. Repeating the same decision changes nothing.
 *
 * @param shareId as sent
 * @returns the updated share
 * @throws Problem not_found; unauthenticated for a share created with a token; forbidden for anyone but the
 *   recipient; conflict if the opposite was decided before
 */
export async function acceptOrReject(
  database: Database,
  shareId: string,
  { userId, anonymous }: { userId: string; anonymous: boolean },
  status: 'accepted' | 'rejected',
): Promise<Share> {
  const id = parseUlid(shareId);
  const share = id && (await findShareById(database, id));
  if (!share || share.status === 'invited') throw new Problem('share.unknown', { id: shareId });
  if (anonymous && share.author !== null) throw new Problem('share.needs_token', { id: shareId });
  if (share.toUser !== userId) throw new Problem('share.not_recipient');

  if (await decideShare(database, share.shareId, status)) return { ...share, status };
  const decided = await findShareById(database, share.shareId);
  if (!decided) throw new Problem('share.unknown', { id: shareId });
  if (decided.status !== status) throw new Problem('share.decided', { id: shareId, status: decided.status });
  return decided;
}
