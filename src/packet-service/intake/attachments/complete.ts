import type { Database } from '../../../platform/database/database.ts';
import type { FileStore } from '../../../platform/files/index.ts';
import type { TakeSlot } from '../../../platform/http/caller-slots.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { ProcessSlots } from '../../../platform/limits/slots.ts';
import { type AttachmentContext, storeAttachment } from './store-attachment.ts';
import { piecesOf } from './sweep.ts';
import { completeUpload, type Upload } from './upload-store.ts';

/** Dependencies of uploads. */
export interface Uploading extends AttachmentContext {
  slots: ProcessSlots;
  takeSlot: TakeSlot;
  maxBytes: number;
}

export function tooLarge(maxBytes: number): Problem {
  return new Problem('attachment.too_large', { max: maxBytes });
}

export function wrongOffset({ received }: Upload): Problem {
  return new Problem('upload.wrong_offset', { received });
}

export function pieceKey(uploadId: string, piece: string): string {
  return `${piecesOf(uploadId)}/${piece}`;
}

/**
 * Stores the attachment, and says that the upload is complete in the same transaction: nobody is ever told that a
 * file is here which is not.
 *
 * @param offset where the upload ended
 * @param last the bytes after it
 * @param before what the transaction does first
 */
export async function complete(
  uploading: Uploading,
  upload: Upload & { length: number },
  { offset, last }: { offset: number; last: Buffer },
  before: (database: Database) => Promise<void> = async () => {},
): Promise<void> {
  const { files } = uploading;
  const { uploadId, length } = upload;
  const received = await files.receive(joined(files, upload, last), length, () => tooLarge(length));
  try {
    if (received.size !== length) throw new Error(`the pieces of upload ${uploadId} are not its file`);
    await storeAttachment(uploading, received, upload, async database => {
      await before(database);
      if (!(await completeUpload(database, { uploadId, offset, length }))) throw wrongOffset(upload);
    });
  } finally {
    await received.discard();
  }
  await files.removeAll(piecesOf(uploadId));
}

async function* joined(
  files: FileStore,
  { uploadId, pieces }: Upload,
  last: Buffer,
): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield* await files.read(pieceKey(uploadId, piece));
  yield last;
}
