import type { Database } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import { attachmentIdText } from '../../core/packet-format/attachment-ids.ts';
import { findClaim } from '../../core/packets/attachment-store.ts';

/** An uploader and the attachment id. */
export interface Bringing {
  /** uuid form */
  attachmentId: string;
  /** null without a token */
  userId: string | null;
}

/**
 * Checks an upload under an id that a packet already refers to: only the user who referred to it first (if with a
 * token) may upload it, and only with the hash given in the reference. Otherwise any reader of the packet could put
 * another file there.
 *
 * @param sha256 lowercase hex of the file; undefined if not known yet
 * @param checksUsers false if tokens are ignored
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
      ? new Problem('attachment.named_with_token', { id })
      : new Problem('attachment.named_by_other', { id });
  }
  if (sha256 !== undefined && claim.sha256 !== null && claim.sha256 !== sha256) {
    throw new Problem('attachment.other_file', { id, hash: claim.sha256 });
  }
}
