import { Problem } from '../../platform/http/problems.ts';
import type { Database } from '../../platform/postgres/database.ts';
import { type Caller, tokenNeeded } from '../access/caller.ts';
import { findThreadIds } from '../chat/threads/store.ts';
import { attachmentIdText } from '../packet/attachment-ids.ts';
import { findCarriers, isCarriedIn } from '../packets/attachment-store.ts';
import { isSharedWith } from '../sharing/shares/store.ts';
import type { Attachment } from './store.ts';

/** Packets with an attachment that are looked at for having been shared with its reader. */
const MAX_CARRIERS = 1000;

/**
 * An attachment is read by who uploaded it, and by whoever may read a packet that names it. A request without a token
 * reads those that were uploaded without one.
 *
 * @throws Problem forbidden, unauthenticated
 */
export async function checkAttachmentReader(
  database: Database,
  { user, anonymous }: Caller,
  { attachmentId, userId }: Attachment,
): Promise<void> {
  if (anonymous && userId !== null) throw tokenNeeded(attachmentIdText(attachmentId));
  if (user === undefined || user === userId) return;
  const threads = await findThreadIds(database, user, { openOnly: false });
  if (await isCarriedIn(database, attachmentId, threads)) return;
  const carriers = await findCarriers(database, attachmentId, MAX_CARRIERS);
  if (carriers.length > 0 && (await isSharedWith(database, carriers, user))) return;
  throw new Problem(
    'forbidden',
    `only who uploaded ${attachmentIdText(attachmentId)}, or may read a packet that names it, reads it`,
  );
}
