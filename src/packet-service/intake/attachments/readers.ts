import type { Database } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import { findThreadIds } from '../../collaboration/chat/threads/store.ts';
import { isSharedWith } from '../../collaboration/sharing/shares/store.ts';
import type { Caller } from '../../core/access/caller.ts';
import { attachmentIdText } from '../../core/packet-format/attachment-ids.ts';
import { findCarriers, isCarriedIn } from '../../core/packets/attachment-store.ts';
import type { Attachment } from './store.ts';

/** Packets with an attachment that are checked for a share with its reader. */
const MAX_CARRIERS = 1000;

/**
 * An attachment can be read by its uploader and by everyone who may read a packet that refers to it. A request
 * without a token can read attachments that were uploaded without one.
 *
 * @throws Problem forbidden, unauthenticated
 */
export async function checkAttachmentReader(
  database: Database,
  { user, anonymous }: Caller,
  { attachmentId, userId }: Attachment,
): Promise<void> {
  if (anonymous && userId !== null)
    throw new Problem('attachment.needs_token', { id: attachmentIdText(attachmentId) });
  if (user === undefined || user === userId) return;
  const threads = await findThreadIds(database, user, { openOnly: false });
  if (await isCarriedIn(database, attachmentId, threads)) return;
  const carriers = await findCarriers(database, attachmentId, MAX_CARRIERS);
  if (carriers.length > 0 && (await isSharedWith(database, carriers, user))) return;
  throw new Problem('attachment.not_reader', { id: attachmentIdText(attachmentId) });
}
