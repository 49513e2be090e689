import type pg from 'pg';
import type { FileStore, Received } from '../../platform/files/index.ts';
import { sniffContentType } from '../../platform/http/content-type.ts';
import { cleanName } from '../../platform/http/disposition.ts';
import { Problem } from '../../platform/http/problems.ts';
import { type Database, transaction } from '../../platform/postgres/database.ts';
import { attachmentIdText } from '../packet/attachment-ids.ts';
import { ulidFactory, ulidToUuid } from '../packet/ulid.ts';
import { checkClaim } from './claims.ts';
import { type Attachment, announceContent, findAttachments, insertAttachment, useContent } from './store.ts';

/** What keeping files needs. */
export interface AttachmentContext {
  pool: pg.Pool;
  files: FileStore;
  /** whether requests tell who their user is */
  checksUsers: boolean;
}

/** What an attachment is stored as. */
export interface NewAttachment {
  /** uuid form */
  attachmentId: string;
  /** as the client calls the file */
  name: string | undefined;
  /** who uploads it; null without a token */
  userId: string | null;
}

/** A new attachment id, uuid form. Unlike those of packets it is never one more than another: it cannot be guessed. */
export function newAttachmentId(): string {
  return ulidToUuid(ulidFactory()());
}

export function contentKey(sha256: string): string {
  return `attachments/${sha256}`;
}

/** An attachment as it was stored first, and whether it was now. */
export interface StoredAttachment {
  attachment: Attachment;
  isNew: boolean;
}

/**
 * Keeps what was received as an attachment; the same content is kept once. Returns after the commit.
 *
 * The content is announced, then put, then used: whoever sweeps meanwhile leaves an announced content alone for a
 * day, and one who comes in the middle of its removal waits for the end of it.
 *
 * @param also what else the transaction that stores the attachment does
 * @returns the attachment, as it was stored first, and whether it was now
 * @throws Problem conflict when the id belongs to another content; unauthenticated, forbidden or conflict when a packet
 *   named it otherwise
 */
export async function storeAttachment(
  { pool, files, checksUsers }: AttachmentContext,
  received: Received,
  { attachmentId, name, userId }: NewAttachment,
  also: (database: Database, kept: StoredAttachment) => Promise<void> = async () => {},
): Promise<StoredAttachment> {
  const { sha256, size } = received;
  const attachment: Attachment = {
    attachmentId,
    sha256,
    size,
    contentType: await sniffContentType(received.head),
    name: cleanName(name, attachmentIdText(attachmentId)),
    userId,
    uploadedAt: new Date(),
  };
  // The same file once more is answered as it was, whoever brings it.
  const [earlier] = await findAttachments(pool, [attachmentId]);
  if (!earlier) await checkClaim(pool, { attachmentId, userId }, { sha256, checksUsers });
  for (;;) {
    await announceContent(pool, sha256, new Date());
    const key = contentKey(sha256);
    if ((await files.size(key)) !== size) await files.put(key, received);
    const kept = await transaction(pool, async database => {
      if (!(await useContent(database, sha256))) return undefined;
      const isNew = await insertAttachment(database, attachment);
      const [stored] = isNew ? [attachment] : await findAttachments(database, [attachmentId]);
      if (!stored) return undefined;
      if (stored.sha256 !== sha256) {
        throw new Problem('conflict', `id ${attachmentIdText(attachmentId)} belongs to another file`);
      }
      const outcome = { attachment: stored, isNew };
      await also(database, outcome);
      return outcome;
    });
    if (kept) return kept;
  }
}
