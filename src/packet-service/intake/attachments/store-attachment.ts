import type pg from 'pg';
import { type Database, transaction } from '../../../platform/database/database.ts';
import type { FileStore, Received } from '../../../platform/files/index.ts';
import { sniffContentType } from '../../../platform/http/content-type.ts';
import { cleanName } from '../../../platform/http/disposition.ts';
import { Problem } from '../../../platform/http/problems.ts';
import { attachmentIdText } from '../../core/packet-format/attachment-ids.ts';
import { ulidFactory, ulidToUuid } from '../../core/packet-format/ulid.ts';
import { checkClaim } from './claims.ts';
import { type Attachment, announceContent, findAttachments, insertAttachment, useContent } from './store.ts';

/** Dependencies of storing attachments. */
export interface AttachmentContext {
  pool: pg.Pool;
  files: FileStore;
  /** whether tokens are checked */
  checksUsers: boolean;
}

/** An attachment to store. */
export interface NewAttachment {
  /** uuid form */
  attachmentId: string;
  /** as the client calls the file */
  name: string | undefined;
  /** who uploads it; null without a token */
  userId: string | null;
}

/**
 * A new attachment id, uuid form. Unlike packet ids, it never counts up from an earlier one, so it cannot be guessed.
 */
export function newAttachmentId(): string {
  return ulidToUuid(ulidFactory()());
}

export function contentKey(sha256: string): string {
  return `attachments/${sha256}`;
}

/** An attachment as first stored, and whether this call stored it. */
export interface StoredAttachment {
  attachment: Attachment;
  isNew: boolean;
}

/**
 * Stores a received file as an attachment; equal contents are stored once. Returns after the commit.
 *
 * The content is announced, then stored, then referenced: a sweep leaves announced contents alone for a day, and an
 * upload that arrives while the content is being removed waits for that to end.
 *
 * @param also what else the transaction that stores the attachment does
 * @returns the attachment as first stored, and whether this call stored it
 * @throws Problem conflict when the id belongs to another content; unauthenticated, forbidden or conflict when a
 *   packet named it otherwise
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
  // A repeated upload of the same file gets the same answer, for every uploader.
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
        throw new Problem('attachment.id_taken', { id: attachmentIdText(attachmentId) });
      }
      const outcome = { attachment: stored, isNew };
      await also(database, outcome);
      return outcome;
    });
    if (kept) return kept;
  }
}
