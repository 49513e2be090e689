import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type pg from 'pg';
import { Problem } from '../../../platform/http/problems.ts';
import type { Server } from '../../../platform/http/server.ts';
import { streamBodies } from '../../../platform/http/streamed-body.ts';
import type { Caller } from '../../core/access/caller.ts';
import { keyText, makeKey, routeOf, sendIdempotentAnswer } from '../../core/idempotency/idempotency.ts';
import { attachmentIdText } from '../../core/packet-format/attachment-ids.ts';
import { type Beginning, beginOnce } from './begin.ts';
import { complete, pieceKey, tooLarge, type Uploading, wrongOffset } from './complete.ts';
import { cutPieces, PIECE_BYTES } from './pieces.ts';
import {
  deleteUploadSchema,
  headUploadSchema,
  optionsUploadSchema,
  patchUploadSchema,
  postUploadSchema,
} from './schemas.ts';
import { oldestUpload, piecesOf, UPLOAD_DAYS } from './sweep.ts';
import { TUS_BODY, TUS_EXTENSIONS, TUS_VERSION } from './tus.ts';
import { appendPiece, declareLength, deleteUpload, findUpload, type Upload } from './upload-store.ts';
import { writers } from './writers.ts';

const DAY_MS = 24 * 3600 * 1000;
/** Maximum pieces per upload: a client that sends a file in tiny pieces has to start over. */
const MAX_PIECES = 10_000;

/** Resumable uploads by the tus protocol (docs/decisions/attachments.md). */
export function registerUploads(app: Server, uploading: Uploading): void {
  const { pool, files, slots, takeSlot, maxBytes } = uploading;
  const { write, release } = writers();
  const freedUpload = async (request: FastifyRequest, uploadId: string) => {
    const upload = await ownUpload(pool, request, uploadId);
    return (await release(uploadId)) ? ownUpload(pool, request, uploadId) : upload;
  };

  app.addHook('onRequest', async (request, reply) => {
    reply.header('tus-resumable', TUS_VERSION).header('cache-control', 'no-store');
    if (request.method === 'OPTIONS' || request.headers['tus-resumable'] === TUS_VERSION) return;
    reply.header('tus-version', TUS_VERSION);
    throw new Problem('upload.wrong_version', { version: TUS_VERSION });
  });
  streamBodies(app);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));

  app.options(
    '/attachments/uploads',
    { schema: optionsUploadSchema, config: { open: true } },
    async (_request, reply) => {
      reply.header('tus-version', TUS_VERSION).header('tus-extension', TUS_EXTENSIONS);
      return reply.header('tus-max-size', maxBytes).code(204).send(null);
    },
  );

  app.post('/attachments/uploads', { schema: postUploadSchema }, async (request, reply) => {
    const { upload, done } = await beginOnce(uploading, beginningOf(request));
    reply.header('location', `/attachments/uploads/${upload.uploadId}`);
    return sendIdempotentAnswer(describeUpload(reply, upload, upload.received), done);
  });

  const path = '/attachments/uploads/:upload_id';
  const exposed = { swagger: { exposeHeadRoute: true } };
  app.head(path, { schema: headUploadSchema, config: exposed }, async (request, reply) => {
    const upload = await freedUpload(request, request.params.upload_id);
    if (upload.length === undefined) reply.header('upload-defer-length', '1');
    else reply.header('upload-length', upload.length);
    if (upload.metadata !== '') reply.header('upload-metadata', upload.metadata);
    return describeUpload(reply, upload, upload.received).send(null);
  });

  app.patch(path, { schema: patchUploadSchema }, async (request, reply) => {
    if (request.headers['content-type']?.split(';')[0]?.trim().toLowerCase() !== TUS_BODY) {
      throw new Problem('upload.wrong_content_type', { type: TUS_BODY });
    }
    const started = await freedUpload(request, request.params.upload_id);
    const { 'upload-offset': offset, 'upload-length': length = started.length } = request.headers;
    if (offset !== started.received) throw wrongOffset(started);
    const upload = await withLength(uploading, started, length);
    await takeSlot(request, reply, request.user);
    const stream = request.body as unknown as Readable;
    const received = await write(upload.uploadId, stream, () =>
      slots.run(() => takePieces(uploading, upload, stream, started.length === undefined)),
    );
    // A client that has not sent everything by now gets the offset and continues in a new request.
    if (!request.raw.readableEnded) reply.header('connection', 'close');
    return describeUpload(reply, upload, received).code(204).send(null);
  });

  app.delete(path, { schema: deleteUploadSchema }, async (request, reply) => {
    const { uploadId } = await ownUpload(pool, request, request.params.upload_id);
    await deleteUpload(pool, uploadId);
    await files.removeAll(piecesOf(uploadId));
    return reply.code(204).send(null);
  });
}

/** @throws Problem invalid */
function beginningOf(request: FastifyRequest): Beginning {
  const { 'upload-length': lengthHeader, 'upload-defer-length': deferred } = request.headers;
  if ((lengthHeader === undefined) === (deferred === undefined)) {
    throw new Problem('upload.without_length');
  }
  const length = lengthHeader === undefined ? undefined : Number(lengthHeader);
  const metadata = String(request.headers['upload-metadata'] ?? '');
  const text = keyText(request);
  const headers = { length: length ?? null, metadata };
  const key = text === undefined ? undefined : makeKey(request, routeOf(request), text, headers);
  return { userId: request.user ?? null, key, length, metadata };
}

/**
 * An upload with the length that the client declares. A length beyond the received bytes is stored before the body is
 * read; otherwise the completion stores it.
 *
 * @throws Problem invalid, too_large, or conflict if the upload has been continued meanwhile
 */
async function withLength(
  { pool, maxBytes }: Uploading,
  upload: Upload,
  length: number | undefined,
): Promise<Upload> {
  if (length === upload.length || length === undefined) return upload;
  const { uploadId, received: offset } = upload;
  if (upload.length !== undefined) {
    throw new Problem('upload.length_changed', { length: upload.length });
  }
  if (length > maxBytes) throw tooLarge(maxBytes);
  if (length < offset) {
    throw new Problem('upload.length_too_small', { received: offset });
  }
  if (length > offset && !(await declareLength(pool, { uploadId, offset, length })))
    throw wrongOffset(upload);
  return { ...upload, length };
}

/** @throws Problem not_found, also when it has expired; unauthenticated or forbidden if it belongs to another user */
async function ownUpload(pool: pg.Pool, { user, anonymous }: Caller, uploadId: string): Promise<Upload> {
  const isId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(uploadId);
  const upload = isId ? await findUpload(pool, uploadId, oldestUpload()) : undefined;
  if (!upload) throw new Problem('upload.unknown', { id: uploadId });
  if (upload.userId === null || upload.userId === user) return upload;
  if (anonymous) throw new Problem('upload.needs_token', { id: uploadId });
  if (user !== undefined) {
    throw new Problem('upload.not_own');
  }
  return upload;
}

function describeUpload(reply: FastifyReply, upload: Upload, received: number): FastifyReply {
  reply.header('upload-offset', received).header('attachment-id', attachmentIdText(upload.attachmentId));
  if (received === upload.length) return reply;
  return reply.header(
    'upload-expires',
    new Date(upload.createdAt.getTime() + UPLOAD_DAYS * DAY_MS).toUTCString(),
  );
}

/**
 * Stores the received bytes, piece by piece; the last one completes the upload.
 *
 * @param isDeclared whether the length came with this request
 * @returns the bytes of the upload received so far
 * @throws Problem conflict if another request has written these bytes meanwhile
 */
async function takePieces(
  uploading: Uploading,
  upload: Upload,
  stream: Readable,
  isDeclared: boolean,
): Promise<number> {
  const { pool, files, maxBytes } = uploading;
  const { uploadId, length } = upload;
  const pieces = [...upload.pieces];
  let offset = upload.received;
  for await (const bytes of cutPieces(stream, PIECE_BYTES)) {
    const end = offset + bytes.length;
    if (length !== undefined && end > length) {
      throw new Problem('upload.beyond_length', { length });
    }
    if (end > maxBytes) throw tooLarge(maxBytes);
    if (end === length) {
      await complete(uploading, { ...upload, length, pieces }, { offset, last: bytes });
      return length;
    }
    if (pieces.length >= MAX_PIECES) {
      throw new Problem('upload.too_many_pieces', { max: MAX_PIECES });
    }
    const piece = randomUUID();
    await files.put(pieceKey(uploadId, piece), bytes);
    if (!(await appendPiece(pool, { uploadId, offset, piece, size: bytes.length }))) {
      await files.remove(pieceKey(uploadId, piece));
      throw wrongOffset(upload);
    }
    pieces.push(piece);
    offset = end;
  }
  // A client may declare the length only with its last bytes.
  if (offset === length && isDeclared) {
    await complete(uploading, { ...upload, length, pieces }, { offset, last: Buffer.alloc(0) });
  }
  return offset;
}
