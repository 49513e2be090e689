import type { FastifyReply, FastifyRequest } from 'fastify';
import type pg from 'pg';
import type { FileStore } from '../../../platform/files/index.ts';
import { slotsOfCallers } from '../../../platform/http/caller-slots.ts';
import { contentDisposition } from '../../../platform/http/disposition.ts';
import { matchesTag } from '../../../platform/http/etag.ts';
import { takeForms } from '../../../platform/http/form.ts';
import { PRIVATE } from '../../../platform/http/pipeline/security-headers.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Server } from '../../../platform/http/server.ts';
import type { CallerSlots } from '../../../platform/limits/caller-slots.ts';
import type { Settings } from '../../../platform/settings/settings.ts';
import { callerOf } from '../../base/access/authentication.ts';
import { requesterOf } from '../../base/access/requester.ts';
import { ok } from '../../base/contract/envelope.ts';
import type { RecordKinds } from '../../base/records/kinds.ts';
import { receiveFile, tooLarge } from './form.ts';
import { isPublicImage, mayReadImage } from './references-store.ts';
import { type ImageType, type MakeRendition, originalKey, type Renditions, type Size } from './renditions.ts';
import {
  getDocumentSchema,
  getImageSchema,
  getImageSizeSchema,
  getPublicDocumentSchema,
  getPublicImageSchema,
  getPublicImageSizeSchema,
  MAX_DOCUMENT_BYTES,
  MAX_IMAGE_BYTES,
  postDocumentSchema,
  postImageSchema,
} from './schemas.ts';
import { findImages, type Image, type Kind } from './store.ts';
import { storeImage } from './store-image.ts';
import { sweepHourly } from './sweep.ts';

/** Rate limit of uploads per address. */
const UPLOADS = { rateLimit: { max: 120, timeWindow: 60_000 } };

interface ImagesContext {
  pool: pg.Pool;
  files: FileStore;
  makeRendition: MakeRendition;
  renditionOf: Renditions;
  records: RecordKinds;
  slots: CallerSlots;
}

/**
 * Images and documents: uploads, and downloads for those who may see a record that refers to them. A sweep removes those
 * that no record refers to.
 */
export function registerImages(
  app: Server,
  context: ImagesContext,
  { UPLOADS_PER_CALLER }: Pick<Settings, 'UPLOADS_PER_CALLER'>,
): void {
  const takeSlot = slotsOfCallers(context.slots, {
    perCaller: UPLOADS_PER_CALLER,
    what: 'uploads',
    retryAfter: 5,
  });
  // Separate contexts, because their body parsers apply to no other routes.
  for (const [kind, schema, maxBytes] of [
    ['image', postImageSchema, MAX_IMAGE_BYTES],
    ['document', postDocumentSchema, MAX_DOCUMENT_BYTES],
  ] as const) {
    app.register(async scope => {
      await takeForms(scope as Server, maxBytes, () => tooLarge(maxBytes));
      scope.post(
        `/api/common/${kind}`,
        { config: { access: 'user', ...UPLOADS }, schema },
        async (request, reply) => {
          await takeSlot(request, reply, String(callerOf(request).id));
          const file = await receiveFile(request, context.files, maxBytes);
          try {
            return ok(asAnswer(await storeImage(context, requesterOf(request), kind, file)));
          } finally {
            await file.received.discard();
          }
        },
      );
    });
  }
  registerImageReading(app, context);
  registerDocumentReading(app, context);
  registerPublicReading(app, context);

  const stopSweeping = sweepHourly(context, app.log);
  app.addHook('onClose', async () => stopSweeping());
}

function asAnswer({ id, storageKey, name, contentType, size }: Image) {
  return { id, storageKey, name, contentType, size };
}

function registerImageReading(app: Server, context: ImagesContext): void {
  const serveImage = async (
    request: FastifyRequest,
    reply: FastifyReply,
    storageKey: string,
    size: Size | undefined,
  ) => {
    const image = await readableImage(context, request, storageKey, 'image');
    return serve(context.files, request, reply, imageIn(context, image, size));
  };

  app.route({
    method: ['GET', 'HEAD'],
    url: '/api/common/image/:storageKey',
    config: { access: 'file.readable', embeddable: true },
    schema: getImageSchema,
    handler: (request, reply) => serveImage(request, reply, request.params.storageKey, undefined),
  });
  app.route({
    method: ['GET', 'HEAD'],
    url: '/api/common/image/:storageKey/:size',
    config: { access: 'file.readable', embeddable: true },
    schema: getImageSizeSchema,
    handler: (request, reply) => serveImage(request, reply, request.params.storageKey, request.params.size),
  });
}

/** Downloads of images and documents of published records, for everyone. Pages of labels also read images as documents. */
function registerPublicReading(app: Server, context: ImagesContext): void {
  const config = { access: 'open', embeddable: true } as const;
  const serveImage = async (
    request: FastifyRequest,
    reply: FastifyReply,
    storageKey: string,
    size: Size | undefined,
  ) => {
    const image = await publicImage(context, storageKey, ['image']);
    return serve(context.files, request, reply, { ...imageIn(context, image, size), caching: REVALIDATED });
  };
  app.route({
    method: ['GET', 'HEAD'],
    url: '/api/public/image/:storageKey',
    config,
    schema: getPublicImageSchema,
    handler: (request, reply) => serveImage(request, reply, request.params.storageKey, undefined),
  });
  app.route({
    method: ['GET', 'HEAD'],
    url: '/api/public/image/:storageKey/:size',
    config,
    schema: getPublicImageSizeSchema,
    handler: (request, reply) => serveImage(request, reply, request.params.storageKey, request.params.size),
  });
  app.route({
    method: ['GET', 'HEAD'],
    url: '/api/public/document/:storageKey',
    config,
    schema: getPublicDocumentSchema,
    handler: async (request, reply) => {
      const found = await publicImage(context, request.params.storageKey, ['image', 'document']);
      const served = found.kind === 'image' ? imageIn(context, found, undefined) : documentIn(found);
      return serve(context.files, request, reply, { ...served, caching: REVALIDATED });
    },
  });
}

/** @throws Problem not_found, the same for private files and unknown ones */
async function publicImage(
  { pool, records }: ImagesContext,
  storageKey: string,
  kinds: readonly Kind[],
): Promise<Image> {
  const [image] = await findImages(pool, [storageKey]);
  if (!image || !kinds.includes(image.kind) || !(await isPublicImage(pool, records, image))) {
    throw unknownFile(kinds.at(-1));
  }
  return image;
}

function imageIn(
  { renditionOf }: ImagesContext,
  { storageKey, contentType }: Image,
  size: Size | undefined,
): Served {
  return {
    tag: `"${storageKey}-${size ?? 'FULL'}"`,
    file: () => renditionOf(storageKey, contentType as ImageType, size),
    headers: { 'content-type': contentType },
  };
}

function documentIn({ storageKey, size, name, contentType }: Image): Served {
  return {
    tag: `"${storageKey}"`,
    file: async () => ({ key: originalKey(storageKey), bytes: size }),
    headers: { 'content-type': contentType, 'content-disposition': contentDisposition(name) },
  };
}

function registerDocumentReading(app: Server, context: ImagesContext): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/api/common/document/:storageKey',
    config: { access: 'file.readable', embeddable: true },
    schema: getDocumentSchema,
    handler: async (request, reply) => {
      const document = await readableImage(context, request, request.params.storageKey, 'document');
      return serve(context.files, request, reply, documentIn(document));
    },
  });
}

function unknownFile(kind: Kind | undefined): Problem {
  return new Problem(kind === 'image' ? 'image.unknown' : 'document.unknown');
}

/** @throws Problem not_found, also for callers who may not read it */
async function readableImage(
  { pool, records }: ImagesContext,
  request: FastifyRequest,
  storageKey: string,
  kind: Kind,
): Promise<Image> {
  const [image] = await findImages(pool, [storageKey]);
  const caller = callerOf(request);
  if (image?.kind !== kind || !(await mayReadImage(pool, { caller, records }, image))) {
    throw unknownFile(kind);
  }
  return image;
}

/** A served file: its strong ETag, key and type. */
interface Served {
  tag: string;
  file: () => Promise<{ key: string; bytes: number }>;
  headers: Record<string, string>;
  /** Cache-Control; by default only its reader may keep it */
  caching?: string;
}

/** Caching of files that can be unpublished at any time. */
const REVALIDATED = 'no-cache';

async function serve(
  files: FileStore,
  request: FastifyRequest,
  reply: FastifyReply,
  { tag, file, headers, caching: control = PRIVATE }: Served,
) {
  const caching = { etag: tag, 'cache-control': control };
  if (matchesTag(request.headers['if-none-match'], tag)) return reply.code(304).headers(caching).send();
  const { key, bytes } = await file();
  // Opened before any header is set: an error must not be cached as the file.
  const stream = request.method === 'HEAD' ? undefined : await files.read(key);
  // In a browser, the file cannot run scripts and has no origin.
  const policy = { 'content-security-policy': "default-src 'none'; sandbox" };
  return reply.headers({ ...caching, ...policy, ...headers, 'content-length': bytes }).send(stream);
}
