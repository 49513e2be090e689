import type pg from 'pg';
import { type Database, transaction } from '../../../platform/database/database.ts';
import type { FileStore } from '../../../platform/files/index.ts';
import { attachmentIdText } from '../../core/packet-format/attachment-ids.ts';
import { findReferenced, forgetClaims } from '../../core/packets/attachment-store.ts';
import {
  deleteAttachments,
  deleteContent,
  findAttachments,
  markUnreferenced,
  takeContent,
  useContent,
} from './store.ts';
import { contentKey } from './store-attachment.ts';
import { piecesOf } from './sweep.ts';
import { deleteUploadsOf } from './upload-store.ts';

/** The erased files of a packet. */
export interface ErasedFiles {
  /** as clients write their ids */
  attachments: string[];
  /** their contents, SHA-256 in hex; another attachment may have one too */
  contents: string[];
  uploads: string[];
}

/**
 * Deletes the attachments of a packet that is being erased, unless other packets refer to them, and unfinished
 * uploads of them. Files of other users stay until they expire, because a later packet may refer to them. The
 * packet's own references must have been deleted before. Runs in the caller's transaction; call `removeErased` after
 * the commit.
 */
export async function eraseFiles(
  database: Database,
  { attachmentIds, author }: { attachmentIds: readonly string[]; author: string | null },
  now: Date,
): Promise<ErasedFiles> {
  if (attachmentIds.length === 0) return { attachments: [], contents: [], uploads: [] };
  const named = new Set(await findReferenced(database, attachmentIds));
  const free = attachmentIds.filter(id => !named.has(id));
  const isTheirs = (userId: string | null) => author === null || userId === null || userId === author;
  const stored = await findAttachments(database, free);
  const theirs = stored.filter(({ userId }) => isTheirs(userId));
  await forgetClaims(database, free);
  await markUnreferenced(database, free);
  await deleteAttachments(
    database,
    theirs.map(({ attachmentId }) => attachmentId),
    now,
  );
  return {
    attachments: theirs.map(({ attachmentId }) => attachmentIdText(attachmentId)),
    contents: [...new Set(theirs.map(({ sha256 }) => sha256))],
    uploads: await deleteUploadsOf(database, free, author),
  };
}

/** Removes the erased bytes after the commit. If this fails, the hourly sweep removes them a day later. */
export async function removeErased(
  pool: pg.Pool,
  files: FileStore,
  { contents, uploads }: Omit<ErasedFiles, 'attachments'>,
): Promise<void> {
  for (const uploadId of uploads) await files.removeAll(piecesOf(uploadId));
  for (const sha256 of contents) {
    await transaction(pool, async database => {
      const content = await takeContent(database, sha256);
      if (!content) return;
      if (content.used) {
        await useContent(database, sha256);
      } else {
        await files.remove(contentKey(sha256));
        await deleteContent(database, sha256);
      }
    });
  }
}
