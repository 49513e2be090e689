import { hash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import type { FileStore } from '../../../platform/files/index.ts';
import { matchesTag } from '../../../platform/http/etag.ts';
import { prefersPage, sendHtml, varyOf } from '../../../platform/http/page.ts';
import { Problem } from '../../../platform/http/problems.ts';
import { type Server, sendText } from '../../../platform/http/server.ts';
import { VERSION } from '../../../platform/version.ts';
import { ok } from '../../base/contract/envelope.ts';
import { findCompanyNames } from '../../catalogue/companies/members/members-store.ts';
import type { ImageType, Renditions } from '../../catalogue/images/renditions.ts';
import { findImages, type Image } from '../../catalogue/images/store.ts';
import { countBatches } from '../../catalogue/labels/batches/store.ts';
import {
  isSelective,
  shownField,
  valueAt,
  withStoredMetadata,
} from '../../catalogue/labels/contents/content.ts';
import { fieldsOf } from '../../catalogue/labels/contents/settle.ts';
import { findOwn, type OwnContent } from '../../catalogue/labels/contents/store.ts';
import type { LabelCounts } from '../../catalogue/labels/counts/counts.ts';
import { CERTIFICATIONS, validCertifications } from '../../catalogue/labels/documents/certifications.ts';
import { publicDocuments } from '../../catalogue/labels/documents/documents.ts';
import { labelUrl, PUBLIC_PATH } from '../../catalogue/labels/label-url.ts';
import type { Label } from '../../catalogue/products/labels/store.ts';
import { findPublishedLabel } from '../../catalogue/products/labels/store.ts';
import { photoOf } from '../../catalogue/products/record/content.ts';
import { priceCurrencyOf } from '../../catalogue/products/record/prices.ts';
import { findProduct, type Product } from '../../catalogue/products/record/store.ts';
import { cachedCodes, codeAsPng, codeAsSvg } from './code.ts';
import { type FormAnswers, labelPage } from './page.ts';
import { labelCodeSchema, labelPhotoSchema, type PublicLabel, publicLabelSchema } from './schemas.ts';
import { findShownVersions } from './store.ts';

export interface LabelPagesContext {
  pool: pg.Pool;
  /** the file store of images */
  files: FileStore;
  renditionOf: Renditions;
  counts: LabelCounts;
  /** base URL of printed codes, without a trailing slash */
  publicUrl: () => string;
}

/** The value of the parameter `feedback` in the URL of a label's page after feedback was sent. */
export const SENT = 'sent';

/** Answers with the page of a published label, and answers to its forms. */
export type ShowLabel = (reply: FastifyReply, uuid: string, answers: FormAnswers) => Promise<FastifyReply>;

/**
 * Returns a function that answers with the page of a label, for URLs one level deeper than the page's own. It throws
 * Problem not_found.
 */
export function labelPageSender(context: Pick<LabelPagesContext, 'pool'>): ShowLabel {
  return async (reply, uuid, answers) => {
    const published = await findPublished(context, uuid);
    const label = await asPublic(context, published);
    const answer = { ...answers, isDeeper: true };
    return sendHtml(reply, labelPage(label, isSelective(fieldsOf(published.label)), answer), 'same-origin');
  };
}

/** The public resources of a published label: JSON, page, picture and QR code. */
export function registerLabelPages(app: Server, context: LabelPagesContext): void {
  registerLabel(app, context);
  registerCodes(app, context);
  registerPhoto(app, context);
}

/** Bytes of cached pages and JSON. A product can have a megabyte of content. */
const SHOWN_BYTES = 32 * 1024 * 1024;

function registerLabel(app: Server, context: LabelPagesContext): void {
  const cache = new LRUCache<string, Shown & { etag: string }>({
    maxSize: SHOWN_BYTES,
    // V8 takes two bytes for each character of a text that is not Latin.
    sizeCalculation: ({ text }) => 2 * text.length,
  });
  app.get(
    `${PUBLIC_PATH}/:uuid`,
    { config: { access: 'open', embeddable: true, forPeople: true }, schema: publicLabelSchema },
    async (request, reply) => {
      const { params, headers, query } = request;
      const found = await findShownVersions(context.pool, params.uuid);
      if (!found) throw new Problem('label.unknown');
      context.counts.add({ labelId: found.labelId, kind: 'VISIT' }, request.ip);
      reply.headers({ vary: varyOf(reply), 'cache-control': 'no-cache' });
      const isPage = prefersPage(headers.accept);
      if (isPage && query.feedback === SENT) {
        return sendShown(reply, await show(params.uuid, isPage, { feedback: SENT }));
      }
      // Certifications are shown up to their last day.
      const day = new Date().toISOString().slice(0, 10);
      const etag = `"${hash('sha1', [VERSION, isPage, day, found.versions].join(' '), 'base64url')}"`;
      reply.header('etag', etag);
      if (matchesTag(headers['if-none-match'], etag)) return reply.code(304).send(null);
      const key = `${params.uuid.toLowerCase()} ${isPage}`;
      const cached = cache.get(key);
      if (cached?.etag === etag) return sendShown(reply, cached);
      const shown = await show(params.uuid, isPage);
      cache.set(key, { ...shown, etag });
      return sendShown(reply, shown);
    },
  );

  async function show(uuid: string, isPage: boolean, answers: FormAnswers = {}): Promise<Shown> {
    const published = await findPublished(context, uuid);
    const label = await asPublic(context, published);
    // As text, because the serializer of a schema would change numbers and omit unknown fields.
    if (!isPage) return { text: JSON.stringify(ok(label)) };
    const { html, policy } = labelPage(label, isSelective(fieldsOf(published.label)), answers);
    return { text: html, policy };
  }
}

/** The JSON of a label, or its page with the Content-Security-Policy. */
interface Shown {
  text: string;
  policy?: string;
}

function sendShown(reply: FastifyReply, { text, policy }: Shown): FastifyReply {
  return policy === undefined
    ? sendText(reply, text)
    : sendHtml(reply, { html: text, policy }, 'same-origin');
}

function registerCodes(app: Server, context: LabelPagesContext): void {
  for (const [name, operationId, type, codeOf] of [
    ['qr.svg', 'getLabelCodeAsSvg', 'image/svg+xml', cachedCodes<string | Buffer>(codeAsSvg)],
    ['qr.png', 'getLabelCodeAsPng', 'image/png', cachedCodes<string | Buffer>(codeAsPng)],
  ] as const) {
    app.get(
      `${PUBLIC_PATH}/:uuid/${name}`,
      { config: { access: 'open', embeddable: true }, schema: labelCodeSchema(operationId, type) },
      async (request, reply) => {
        const { label } = await findPublished(context, request.params.uuid);
        const code = await codeOf(labelUrl(context.publicUrl(), label));
        return sendPicture(reply, type).send(code);
      },
    );
  }
}

function registerPhoto(app: Server, context: LabelPagesContext): void {
  app.get(
    `${PUBLIC_PATH}/:uuid/photo`,
    { config: { access: 'open', embeddable: true }, schema: labelPhotoSchema },
    async (request, reply) => {
      const published = await findPublished(context, request.params.uuid);
      const photo = await findPhoto(context.pool, published, await ownOf(context.pool, published.label));
      if (!photo) throw new Problem('label.without_picture');
      const { key, bytes } = await context.renditionOf(
        photo.storageKey,
        photo.contentType as ImageType,
        'XLARGE',
      );
      const stream = await context.files.read(key);
      return sendPicture(reply, photo.contentType).header('content-length', bytes).send(stream);
    },
  );
}

interface Published {
  label: Label;
  product: Product;
}

/** @throws Problem not_found, the same for unpublished labels and unknown ones */
async function findPublished({ pool }: Pick<LabelPagesContext, 'pool'>, uuid: string): Promise<Published> {
  const label = await findPublishedLabel(pool, uuid);
  const product = label && (await findProduct(pool, label.productId));
  if (!label || !product) throw new Problem('label.unknown');
  return { label, product };
}

/** The label's own content; undefined unless its fields select from it. */
async function ownOf(pool: LabelPagesContext['pool'], label: Label): Promise<OwnContent | undefined> {
  return isSelective(fieldsOf(label)) ? findOwn(pool, label.id) : undefined;
}

/** The picture of a label: its own if its fields select from its content, otherwise that of the product. */
async function findPhoto(
  pool: LabelPagesContext['pool'],
  { label, product }: Published,
  own: OwnContent | undefined,
): Promise<Image | undefined> {
  const isShown = fieldsOf(label).some(({ name, visible }) => name === 'photo' && visible);
  const sent = own === undefined ? photoOf(product.content) : isShown ? photoOf(own) : undefined;
  const [photo] = await findImages(pool, [sent?.storageKey ?? '']);
  return photo?.kind === 'image' ? photo : undefined;
}

async function asPublic(
  { pool }: Pick<LabelPagesContext, 'pool'>,
  published: Published,
): Promise<PublicLabel> {
  const { label, product } = published;
  const { title, language } = label.content as { title?: string; language?: string };
  const own = await ownOf(pool, label);
  const isShown = (name: string) => fieldsOf(label).some(field => field.name === name && field.visible);
  const [photo, [company], content, batches, documents, certifications] = await Promise.all([
    findPhoto(pool, published, own),
    findCompanyNames(pool, product.companyId === null ? [] : [product.companyId]),
    own && withStoredMetadata(pool, own),
    countBatches(pool, label.id),
    publicDocuments(pool, published),
    isShown(CERTIFICATIONS) ? validCertifications(pool, product) : [],
  ]);
  const fields = fieldsOf(label).flatMap(field => shownField(field, content) ?? []);
  const ownText = (path: string) => (own && isShown(path) ? (valueAt(own, path) as string) : undefined);
  const currency = own && priceCurrencyOf(own);
  const companyName = own === undefined ? company?.name : ownText('company.name');
  return {
    id: label.id,
    productId: label.productId,
    status: label.status,
    uuid: label.uuid,
    ...(title && { title }),
    ...(language && { language }),
    fields,
    ...batches,
    ...documents,
    certifications,
    businessToCustomerSettings: (content?.businessToCustomerSettings ??
      {}) as PublicLabel['businessToCustomerSettings'],
    product: { name: own === undefined ? product.name : (ownText('name') ?? title ?? '') },
    ...(currency && { currency }),
    ...(companyName && { company: { name: companyName } }),
    ...(photo && { photo: `${PUBLIC_PATH}/${label.uuid}/photo` }),
  };
}

function sendPicture(reply: FastifyReply, type: string): FastifyReply {
  // Not cached, because a label can be unpublished; and it cannot run scripts.
  const policy = "default-src 'none'; style-src 'unsafe-inline'; sandbox";
  return reply.headers({ 'cache-control': 'no-cache', 'content-security-policy': policy }).type(type);
}
