import type { FastifyReply, FastifyRequest } from 'fastify';
import type pg from 'pg';
import { type FileStore, openFileStore, type Received } from '../../../platform/files/index.ts';
import { slotsOfCallers } from '../../../platform/http/caller-slots.ts';
import { contentDisposition } from '../../../platform/http/disposition.ts';
import { matchesTag } from '../../../platform/http/etag.ts';
import { takeForms } from '../../../platform/http/form.ts';
import { PRIVATE } from '../../../platform/http/pipeline/security-headers.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Server } from '../../../platform/http/server.ts';
import type { CallerSlots } from '../../../platform/limits/caller-slots.ts';
import { type ProcessSlots, processSlots } from '../../../platform/limits/slots.ts';
import type { Settings } from '../../../platform/settings/settings.ts';
import {
  keyText,
  makeKey,
  routeOf,
  runWithKey,
  sendIdempotentAnswer,
} from '../../core/idempotency/idempotency.ts';
import type { Key } from '../../core/idempotency/store.ts';
import {
  attachmentIdOf,
  attachmentIdText,
  readAttachmentId,
} from '../../core/packet-format/attachment-ids.ts';
import type { PacketReader } from '../../core/packets/reader.ts';
import { tooLarge, type Uploading } from './complete.ts';
import { allowsRange, readRange } from './range.ts';
import { checkAttachmentReader } from './readers.ts';
import {
  getAttachmentSchema,
  headAttachmentSchema,
  listAttachmentsSchema,
  postAttachmentSchema,
} from './schemas.ts';
import { type Attachment, findAttachments } from './store.ts';
import { contentKey, newAttachmentId, type StoredAttachment, storeAttachment } from './store-attachment.ts';
import { sweepHourly } from './sweep.ts';
import { requireAttachmentId } from './tus.ts';
import { registerUploads } from './uploads.ts';

/** Files of packets: uploaded at once or in parts, downloaded, and removed when no packet refers to them. */
export function registerAttachments(
  app: Server,
  {
    pool,
    settings,
    readPacket,
    slots,
  }: { pool: pg.Pool; settings: Settings; readPacket: PacketReader; slots: CallerSlots },
): void {
  const files = openFileStore(settings);
  const maxBytes = settings.MAX_ATTACHMENT_BYTES;
  const uploading = {
    pool,
    files,
    slots: uploadSlots(settings.CONCURRENT_UPLOADS),
    takeSlot: slotsOfCallers(slots, {
      perCaller: settings.UPLOADS_PER_CALLER,
      what: 'uploads',
      retryAfter: 5,
    }),
    maxBytes,
    checksUsers: settings.AUTH_MODE !== 'off',
  };
  // Separate contexts, because their body parsers apply to no other routes.
  app.register(async scope => registerUploads(scope as Server, uploading));
  app.register(async scope => registerForm(scope as Server, uploading));
  registerDownload(app, pool, files);
  registerList(app, pool, readPacket);

  const stopSweeping = sweepHourly({ pool, files, expireDays: settings.ATTACHMENT_EXPIRE_DAYS }, app.log);
  app.addHook('onClose', async () => stopSweeping());
}

async function registerForm(app: Server, uploading: Uploading): Promise<void> {
  const { pool, files, slots, takeSlot, maxBytes } = uploading;
  await takeForms(app, maxBytes, () => tooLarge(maxBytes));

  app.post('/attachments', { schema: postAttachmentSchema }, async (request, reply) => {
    await takeSlot(request, reply, request.user);
    const done = await slots.run(async () => {
      const { received, id = request.query.id, name } = await takeForm(request, files, maxBytes);
      try {
        const key = keyOf(request, { id: id ?? null, name: name ?? null, sha256: received.sha256 });
        const attachmentId =
          id === undefined ? newAttachmentId() : requireAttachmentId(id, 'attachment.malformed_id');
        const naming = { attachmentId, name, userId: request.user ?? null };
        return await runWithKey(pool, key, async take =>
          answerOf(
            await storeAttachment(uploading, received, naming, (database, kept) =>
              take(database, answerOf(kept)),
            ),
          ),
        );
      } finally {
        await received.discard();
      }
    });
    const { attachment_id } = JSON.parse(done.answer) as { attachment_id: string };
    return sendIdempotentAnswer(reply.header('location', `/attachments/${attachment_id}`), done);
  });
}

/** Two forms are equal if file, file name and id are; the boundary does not count. */
function keyOf(request: FastifyRequest, form: object): Key | undefined {
  const key = keyText(request);
  return key === undefined ? undefined : makeKey(request, routeOf(request), key, form);
}

function answerOf({ attachment, isNew }: StoredAttachment): { status: number; answer: string } {
  return { status: isNew ? 201 : 200, answer: JSON.stringify(asAnswer(attachment)) };
}

interface Form {
  received: Received;
  id: string | undefined;
  name: string | undefined;
}

/** @throws Problem invalid, too_large; nothing is kept then */
async function takeForm(request: FastifyRequest, files: FileStore, maxBytes: number): Promise<Form> {
  const form: Partial<Form> = {};
  try {
    for await (const part of request.parts()) {
      if (part.type === 'field') {
        if (part.fieldname === 'id') form.id = String(part.value);
        continue;
      }
      if (part.fieldname !== 'file' || form.received) {
        throw new Problem('attachment.not_one_file', { field: 'file' });
      }
      form.name = part.filename;
      form.received = await files.receive(part.file, maxBytes, () => tooLarge(maxBytes));
    }
    if (!form.received) throw new Problem('validation.required', { field: 'file' });
    return form as Form;
  } catch (error) {
    await form.received?.discard();
    // Reads and discards the rest of the body, so that the connection can serve the next request.
    request.raw.unpipe().resume();
    if (error instanceof Problem) throw error;
    throw new Problem('body.incomplete_form', {}, { cause: error });
  }
}

function asAnswer({ attachmentId, sha256, size, contentType, name, uploadedAt }: Attachment) {
  return {
    attachment_id: attachmentIdText(attachmentId),
    sha256,
    size,
    content_type: contentType,
    name,
    uploaded_at: uploadedAt.toISOString(),
  };
}

function registerDownload(app: Server, pool: pg.Pool, files: FileStore): void {
  const getAttachment = async (request: FastifyRequest, id: string): Promise<Attachment> => {
    const attachmentId = readAttachmentId(id);
    const [attachment] = attachmentId === undefined ? [] : await findAttachments(pool, [attachmentId]);
    if (!attachment) throw new Problem('attachment.unknown', { id });
    await checkAttachmentReader(pool, request, attachment);
    return attachment;
  };

  const exposed = { swagger: { exposeHeadRoute: true }, embeddable: true };
  app.head('/attachments/:id', { schema: headAttachmentSchema, config: exposed }, async (request, reply) => {
    const attachment = await getAttachment(request, request.params.id);
    describe(reply, attachment);
    if (matchesTag(request.headers['if-none-match'], tagOf(attachment))) return reply.code(304).send(null);
    return reply.header('content-length', attachment.size).send(null);
  });

  app.get(
    '/attachments/:id',
    { schema: getAttachmentSchema, exposeHeadRoute: false, config: { embeddable: true } },
    async (request, reply) => {
      const attachment = await getAttachment(request, request.params.id);
      const { size, sha256 } = attachment;
      const tag = tagOf(attachment);
      const { range: rangeHeader, 'if-range': ifRange, 'if-none-match': ifNoneMatch } = request.headers;
      if (matchesTag(ifNoneMatch, tag)) return describe(reply, attachment).code(304).send(null);
      const range = allowsRange(ifRange, tag) ? readRange(rangeHeader, size) : 'whole';
      if (range === 'unsatisfiable') {
        reply.header('content-range', `bytes */${size}`);
        throw new Problem('attachment.range_outside', { size });
      }
      // Opened before any header is set: an error must not be cached as the file.
      const stream = await files.read(contentKey(sha256), range === 'whole' ? undefined : range);
      describe(reply, attachment);
      if (range === 'whole') return reply.header('content-length', size).code(200).send(stream);
      const { start, end } = range;
      reply
        .header('content-length', end - start + 1)
        .header('content-range', `bytes ${start}-${end}/${size}`);
      return reply.code(206).send(stream);
    },
  );
}

/** An attachment's strong ETag. */
function tagOf({ sha256 }: Attachment): string {
  return `"${sha256}"`;
}

/**
 * Sets the headers of a file so that no browser executes it: it is downloaded rather than shown, its type is set by
 * us and not sniffed, and if something shows it anyway it has no origin.
 */
function describe<Reply extends FastifyReply>(reply: Reply, attachment: Attachment): Reply {
  reply.header('etag', tagOf(attachment)).header('cache-control', PRIVATE);
  reply.type(attachment.contentType).header('content-disposition', contentDisposition(attachment.name));
  reply.header('content-security-policy', "default-src 'none'; sandbox").header('accept-ranges', 'bytes');
  return reply;
}

function registerList(app: Server, pool: pg.Pool, readPacket: PacketReader): void {
  app.get('/packets/:id/attachments', { schema: listAttachmentsSchema }, async request => {
    const packet = await readPacket(request, request.params.id);
    const { attachments = [] } = JSON.parse(packet.body) as { attachments?: unknown[] };
    const ids = attachments.map(attachmentIdOf);
    const stored = await findAttachments(
      pool,
      ids.filter(named => named !== undefined),
    );
    const byId = new Map(stored.map(attachment => [attachment.attachmentId, attachment]));
    const items = ids.map(id => ({ id, attachment: id === undefined ? undefined : byId.get(id) }));
    // Files uploaded with a token are not found without one.
    const shown = items.filter(
      ({ attachment }) => !request.anonymous || (attachment?.userId ?? null) === null,
    );
    return { attachments: shown.map(({ id, attachment }) => asItem(id, attachment)) };
  });
}

function asItem(id: string | undefined, attachment: Attachment | undefined) {
  if (id === undefined) return { status: 'foreign' as const };
  if (!attachment) return { attachment_id: attachmentIdText(id), status: 'missing' as const };
  const { uploaded_at: _, ...known } = asAnswer(attachment);
  return { ...known, status: 'stored' as const };
}

/** Uploads do not wait: the client retries. */
function uploadSlots(total: number): ProcessSlots {
  const full = () => new Problem('upload.too_many', { max: total }, { retryAfter: 5 });
  return processSlots({ total, mostWaiting: 0, full });
}
