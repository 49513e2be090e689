import { randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { Problem } from '../../platform/http/problems.ts';
import { type Database, transaction } from '../../platform/postgres/database.ts';
import {
  type ClaimKey,
  type IdempotentAnswer,
  keyText,
  makeKey,
  routeOf,
  runWithKey,
} from '../idempotency/idempotency.ts';
import { forgetAnswer, type Key } from '../idempotency/store.ts';
import { attachmentIdText } from '../packet/attachment-ids.ts';
import { checkClaim } from './claims.ts';
import { complete, tooLarge, type Uploading } from './complete.ts';
import { findAttachments } from './store.ts';
import { newAttachmentId } from './store-attachment.ts';
import { oldestUpload } from './sweep.ts';
import { readMetadata } from './tus.ts';
import { findUpload, insertUpload, type Upload } from './upload-store.ts';

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
export async function beginOnce(uploading: Uploading, request: FastifyRequest): Promise<Begun> {
  const { pool } = uploading;
  const key = keyOf(request);
  for (;;) {
    let upload: Upload | undefined;
    const done = await runWithKey(pool, key, async take => {
      upload = await begin(uploading, request, take);
      return answerOf(upload);
    });
    if (upload && !done.again) return { upload, done };
    const { upload_id } = JSON.parse(done.answer) as { upload_id: string };
    const earlier = await findUpload(pool, upload_id, oldestUpload());
    if (earlier) return { upload: earlier, done };
    await forgetAnswer(pool, key as Key, done.answer);
  }
}

/** What makes a beginning the same as another is in its headers. */
function keyOf(request: FastifyRequest): Key | undefined {
  const key = keyText(request);
  if (key === undefined) return undefined;
  const { 'upload-length': length = null, 'upload-metadata': metadata = '' } = request.headers;
  return makeKey(request, routeOf(request), key, { length, metadata });
}

function answerOf({ uploadId, attachmentId }: Upload): { status: number; answer: string } {
  const answer = { attachment_id: attachmentIdText(attachmentId), upload_id: uploadId };
  return { status: 201, answer: JSON.stringify(answer) };
}

async function begin(uploading: Uploading, request: FastifyRequest, take: ClaimKey): Promise<Upload> {
  const { pool, maxBytes, checksUsers } = uploading;
  const { 'upload-length': given, 'upload-defer-length': deferred } = request.headers;
  if ((given === undefined) === (deferred === undefined)) {
    throw new Problem('invalid', 'Upload-Length is required, or Upload-Defer-Length: 1 in its place');
  }
  const length = given === undefined ? undefined : Number(given);
  if (length !== undefined && length > maxBytes) throw tooLarge(maxBytes);
  const metadata = String(request.headers['upload-metadata'] ?? '');
  const { attachmentId = newAttachmentId(), name = '' } = readMetadata(metadata);
  const [stored] = await findAttachments(pool, [attachmentId]);
  if (stored && length !== undefined && stored.size !== length) {
    throw new Problem('conflict', `id ${attachmentIdText(attachmentId)} belongs to another file`);
  }
  const userId = request.user ?? null;
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
  // Of an empty file there is nothing to send: no PATCH comes.
  if (length === 0)
    await complete(uploading, { ...upload, length }, { offset: 0, last: Buffer.alloc(0) }, insert);
  else await transaction(pool, insert);
  return upload;
}
