import type { FastifyReply, FastifyRequest } from 'fastify';
import type pg from 'pg';
import type { FileStore } from '../../platform/files/index.ts';
import { callerShare } from '../../platform/http/caller-share.ts';
import { contentDisposition } from '../../platform/http/disposition.ts';
import { matchesTag } from '../../platform/http/etag.ts';
import { takeForms } from '../../platform/http/form.ts';
import { Problem } from '../../platform/http/problems.ts';
import type { Server } from '../../platform/http/server.ts';
import type { Settings } from '../../platform/settings.ts';
import { callerOf } from '../access/authentication.ts';
import { requesterOf } from '../access/requester.ts';
import { ok } from '../contract/envelope.ts';
import { receiveFile, tooLarge } from './form.ts';
import { type MayRead, mayReadImage } from './references-store.ts';
import { type ImageType, type MakeRendition, originalKey, type Renditions, type Size } from './renditions.ts';
import {
  getDocumentSchema,
  getImageSchema,
  getImageSizeSchema,
  MAX_DOCUMENT_BYTES,
  MAX_IMAGE_BYTES,
  postDocumentSchema,
  postImageSchema,
} from './schemas.ts';
import { findImages, type Image, type Kind } from './store.ts';
import { storeImage } from './store-image.ts';
import { sweepHourly } from './sweep.ts';

/** Uploads of one address in a minute, at most. */
const UPLOADS = { rateLimit: { max: 120, timeWindow: 60_000 } };

export interface ImagesContext {
  pool: pg.Pool;
  files: FileStore;
  makeRendition: MakeRendition;
  renditionOf: Renditions;
  mayRead: MayRead;
}

/**
 * Images and documents: uploaded, read by those who may see a record that refers to them, and removed when no record
 * does.
 */
export function registerImages(
  app: Server,
  context: ImagesContext,
  { UPLOADS_PER_CALLER }: Pick<Settings, 'UPLOADS_PER_CALLER'>,
): void {
  const takeShare = callerShare({ perCaller: UPLOADS_PER_CALLER, what: 'uploads', retryAfter: 5 });
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
          takeShare(request, reply, String(callerOf(request).id));
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

  const stopSweeping = sweepHourly(context, app.log);
  app.addHook('onClose', async () => stopSweeping());
}

function asAnswer({ id, storageKey, name, contentType, size }: Image) {
  return { id, storageKey, name, contentType, size };
}

function registerImageReading(app: Server, context: ImagesContext): void {
  const { files, renditionOf } = context;
  const serveImage = async (
    request: FastifyRequest,
    reply: FastifyReply,
    storageKey: string,
    size: Size | undefined,
  ) => {
    const image = await readableImage(context, request, storageKey, 'image');
    const file = () => renditionOf(image.storageKey, image.contentType as ImageType, size);
    const tag = `"${image.storageKey}-${size ?? 'FULL'}"`;
    return serve(files, request, reply, { tag, file, headers: { 'content-type': image.contentType } });
  };

  app.route({
    method: ['GET', 'HEAD'],
    url: '/api/common/image/:storageKey',
    config: { access: 'user', embeddable: true },
    schema: getImageSchema,
    handler: (request, reply) => serveImage(request, reply, request.params.storageKey, undefined),
  });
  app.route({
    method: ['GET', 'HEAD'],
    url: '/api/common/image/:storageKey/:size',
    config: { access: 'user', embeddable: true },
    schema: getImageSizeSchema,
    handler: (request, reply) => serveImage(request, reply, request.params.storageKey, request.params.size),
  });
}

function registerDocumentReading(app: Server, context: ImagesContext): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/api/common/document/:storageKey',
    config: { access: 'user', embeddable: true },
    schema: getDocumentSchema,
    handler: async (request, reply) => {
      const document = await readableImage(context, request, request.params.storageKey, 'document');
      const { storageKey, size, name, contentType } = document;
      return serve(context.files, request, reply, {
        tag: `"${storageKey}"`,
        file: async () => ({ key: originalKey(storageKey), bytes: size }),
        headers: { 'content-type': contentType, 'content-disposition': contentDisposition(name) },
      });
    },
  });
}

/** @throws Problem not_found, also if the caller may not read it */
async function readableImage(
  { pool, mayRead }: ImagesContext,
  request: FastifyRequest,
  storageKey: string,
  kind: Kind,
): Promise<Image> {
  const [image] = await findImages(pool, [storageKey]);
  const caller = callerOf(request);
  if (image?.kind !== kind || !(await mayReadImage(pool, { caller, mayRead }, image))) {
    throw new Problem('not_found', `there is no such ${kind}`);
  }
  return image;
}

/** A served file: its strong ETag, key and type. */
interface Served {
  tag: string;
  file: () => Promise<{ key: string; bytes: number }>;
  headers: Record<string, string>;
}

async function serve(
  files: FileStore,
  request: FastifyRequest,
  reply: FastifyReply,
  { tag, file, headers }: Served,
) {
  const caching = { etag: tag, 'cache-control': 'private, max-age=31536000, immutable' };
  if (matchesTag(request.headers['if-none-match'], tag)) return reply.code(304).headers(caching).send();
  const { key, bytes } = await file();
  // Opened before any header is set: an error must not be cached as the file.
  const stream = request.method === 'HEAD' ? undefined : await files.read(key);
  // In a browser, it cannot run scripts and has no origin.
  const policy = { 'content-security-policy': "default-src 'none'; sandbox" };
  return reply.headers({ ...caching, ...policy, ...headers, 'content-length': bytes }).send(stream);
}
