import { randomUUID } from 'node:crypto';
import { type Database, transaction } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import { type ClaimKey, type IdempotentAnswer, runWithKey } from '../../core/idempotency/idempotency.ts';
import { forgetAnswer, type Key } from '../../core/idempotency/store.ts';
import { attachmentIdText } from '../../core/packet-format/attachment-ids.ts';
import { checkClaim } from './claims.ts';
import { complete, tooLarge, type Uploading } from './complete.ts';
import { findAttachments } from './store.ts';
import { newAttachmentId } from './store-attachment.ts';
import { oldestUpload } from './sweep.ts';
import { readMetadata } from './tus.ts';
import { findUpload, insertUpload, type Upload } from './upload-store.ts';

/** A client's description of a file before it sends it. */
export interface Beginning {
  /** who uploads it; null without a token */
  userId: string | null;
  key: Key | undefined;
  /** bytes of the file; undefined until the client knows */
  length: number | undefined;
  /** Upload-Metadata as sent */
  metadata: string;
}

/** An upload as it is, and the answer to the request that began it. */
export interface Begun {
  upload: Upload;
  done: IdempotentAnswer;
}

/**
 * Begins an upload, or finds the one that an earlier request with the same Idempotency-Key began. Where that one was
 * given up or has expired, another is begun: its address would lead nowhere.
 *
 * @throws Problem invalid, too_large, or conflict when the id belongs to a file of another size or the key to another
 *   request
 */
export async function beginOnce(uploading: Uploading, beginning: Beginning): Promise<Begun> {
  const { pool } = uploading;
  const { key } = beginning;
  for (;;) {
    let upload: Upload | undefined;
    const done = await runWithKey(pool, key, async take => {
      upload = await begin(uploading, beginning, take);
      return answerOf(upload);
    });
    if (upload && !done.replayed) return { upload, done };
    const { upload_id } = JSON.parse(done.answer) as { upload_id: string };
    const earlier = await findUpload(pool, upload_id, oldestUpload());
    if (earlier) return { upload: earlier, done };
    await forgetAnswer(pool, key as Key, done.answer);
  }
}

function answerOf({ uploadId, attachmentId }: Upload): { status: number; answer: string } {
  const answer = { attachment_id: attachmentIdText(attachmentId), upload_id: uploadId };
  return { status: 201, answer: JSON.stringify(answer) };
}

async function begin(
  uploading: Uploading,
  { userId, length, metadata }: Beginning,
  take: ClaimKey,
): Promise<Upload> {
  const { pool, maxBytes, checksUsers } = uploading;
  if (length !== undefined && length > maxBytes) throw tooLarge(maxBytes);
  const { attachmentId = newAttachmentId(), name = '' } = readMetadata(metadata);
  const [stored] = await findAttachments(pool, [attachmentId]);
  if (stored && length !== undefined && stored.size !== length) {
    throw new Problem('attachment.id_taken', { id: attachmentIdText(attachmentId) });
  }
  if (!stored) await checkClaim(pool, { attachmentId, userId }, { checksUsers });
  const upload: Upload = {
    uploadId: randomUUID(),
    attachmentId,
    userId,
    name,
    metadata,
    length,
    received: 0,
    pieces: [],
    createdAt: new Date(),
  };
  const insert = async (database: Database) => {
    await insertUpload(database, upload);
    await take(database, answerOf(upload));
  };
  // An empty file has nothing to send, so no PATCH follows.
  if (length === 0)
    await complete(uploading, { ...upload, length }, { offset: 0, last: Buffer.alloc(0) }, insert);
  else await transaction(pool, insert);
  return upload;
}
