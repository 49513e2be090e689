import { Problem } from '../../platform/http/problems.ts';
import type { Database } from '../../platform/postgres/database.ts';
import { attachmentIdText } from '../packet/attachment-ids.ts';
import { findClaim } from '../packets/attachment-store.ts';

/** Who brings a file, and under which id. */
export interface Bringing {
  /** uuid form */
  attachmentId: string;
  /** null without a token */
  userId: string | null;
}

/**
 * Lets a file come under an id that a packet named before: only from the user who named it first, where that was under
 * a token, and only with the hash that was said of it. Otherwise whoever reads the packet could put another file there.
 *
 * @param sha256 lowercase hex of the file; undefined while it is not known
 * @param checksUsers false where tokens are not looked at
 * @throws Problem unauthenticated, forbidden, conflict
 */
export async function checkClaim(
  database: Database,
  { attachmentId, userId }: Bringing,
  { sha256, checksUsers }: { sha256?: string; checksUsers: boolean },
): Promise<void> {
  const claim = await findClaim(database, attachmentId);
  if (!claim) return;
  const id = attachmentIdText(attachmentId);
  if (checksUsers && claim.author !== null && claim.author !== userId) {
    throw userId === null
      ? new Problem(
          'unauthenticated',
          `${id} was named under a token: only with that user's token it is uploaded`,
        )
      : new Problem('forbidden', `only the user who first named ${id} in a packet uploads it`);
  }
  if (sha256 !== undefined && claim.sha256 !== null && claim.sha256 !== sha256) {
    throw new Problem(
      'conflict',
      `the file is not ${id}: the packet that names it says sha256 ${claim.sha256}`,
    );
  }
}
