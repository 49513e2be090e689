import { Problem } from '../../platform/http/problems.ts';
import type { Database } from '../../platform/postgres/database.ts';
import { readableThreads } from '../access/visibility.ts';
import { findCarriers, isCarriedIn } from '../packets/attachment-store.ts';
import { isSharedWith } from '../sharing/shares/store.ts';
import { attachmentIdText } from './keep.ts';
import type { Attachment } from './store.ts';

/** Packets with an attachment that are looked at for having been shared with its reader. */
const MAX_CARRIERS = 1000;

/**
 * An attachment is read by who uploaded it, and by whoever may read a packet that names it. Without a token nobody's
 * identity is known and nothing is held back, as with packets.
 *
 * @throws Problem forbidden
 */
export async function checkAttachmentReader(
  database: Database,
  user: string | undefined,
  { attachmentId, userId }: Attachment,
): Promise<void> {
  if (user === undefined || user === userId) return;
  const threads = (await readableThreads(database, user)) ?? [];
  if (await isCarriedIn(database, attachmentId, threads)) return;
  const carriers = await findCarriers(database, attachmentId, MAX_CARRIERS);
  if (carriers.length > 0 && (await isSharedWith(database, carriers, user))) return;
  throw new Problem(
    'forbidden',
    `only who uploaded ${attachmentIdText(attachmentId)}, or may read a packet that names it, reads it`,
  );
}
