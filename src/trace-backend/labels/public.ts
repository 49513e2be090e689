import type { FastifyReply } from 'fastify';
import type pg from 'pg';
import type { FileStore } from '../../platform/files/index.ts';
import { prefersPage, sendHtml, varyOf } from '../../platform/http/page.ts';
import { Problem } from '../../platform/http/problems.ts';
import type { Server } from '../../platform/http/server.ts';
import { findCompanyNames } from '../companies/members-store.ts';
import { ok } from '../contract/envelope.ts';
import type { ImageType, Renditions } from '../images/renditions.ts';
import { findImages, type Image } from '../images/store.ts';
import { photoOf } from '../products/content.ts';
import type { LabelField, PublicLabel } from '../products/labels/schemas.ts';
import { findPublishedLabel, type Label } from '../products/labels/store.ts';
import { findProduct, type Product } from '../products/store.ts';
import { codeAsPng, codeAsSvg, rememberCodes } from './code.ts';
import { labelPage } from './label-page.ts';
import { labelCodeSchema, labelPhotoSchema, publicLabelSchema } from './schemas.ts';

export interface LabelsContext {
  pool: pg.Pool;
  /** the file store of images */
  files: FileStore;
  renditionOf: Renditions;
  /** base URL of printed codes, without a trailing slash */
  publicUrl: () => string;
}

const PATH = '/api/public/product/label';

/** The public resources of a published label: JSON, page, picture and QR code. */
export function registerPublicLabels(app: Server, context: LabelsContext): void {
  registerLabel(app, context);
  registerCodes(app, context);
  registerPhoto(app, context);
}

function registerLabel(app: Server, context: LabelsContext): void {
  app.get(
    `${PATH}/:uuid`,
    {
      config: { access: 'open', embeddable: true, forPeople: true },
      schema: publicLabelSchema,
    },
    async (request, reply) => {
      const published = await findPublished(context, request.params.uuid);
      reply.headers({ vary: varyOf(reply), 'cache-control': 'no-cache' });
      const label = await asPublic(context, published);
      if (!prefersPage(request.headers.accept)) return ok(label);
      return sendHtml(reply, labelPage(label));
    },
  );
}

function registerCodes(app: Server, context: LabelsContext): void {
  for (const [name, operationId, type, codeOf] of [
    ['qr.svg', 'getLabelCodeAsSvg', 'image/svg+xml', rememberCodes<string | Buffer>(codeAsSvg)],
    ['qr.png', 'getLabelCodeAsPng', 'image/png', rememberCodes<string | Buffer>(codeAsPng)],
  ] as const) {
    app.get(
      `${PATH}/:uuid/${name}`,
      {
        config: { access: 'open', embeddable: true },
        schema: labelCodeSchema(operationId, type),
      },
      async (request, reply) => {
        const { label } = await findPublished(context, request.params.uuid);
        const code = await codeOf(`${context.publicUrl()}${PATH}/${label.uuid}`);
        return sendPicture(reply, type).send(code);
      },
    );
  }
}

function registerPhoto(app: Server, context: LabelsContext): void {
  app.get(
    `${PATH}/:uuid/photo`,
    {
      config: { access: 'open', embeddable: true },
      schema: labelPhotoSchema,
    },
    async (request, reply) => {
      const { product } = await findPublished(context, request.params.uuid);
      const photo = await findPhoto(context.pool, product);
      if (!photo) throw new Problem('not_found', 'the label has no picture');
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
async function findPublished({ pool }: LabelsContext, uuid: string): Promise<Published> {
  const label = await findPublishedLabel(pool, uuid);
  const product = label && (await findProduct(pool, label.productId));
  if (!label || !product) throw new Problem('not_found', 'there is no such label');
  return { label, product };
}

async function findPhoto(pool: LabelsContext['pool'], { content }: Product): Promise<Image | undefined> {
  const [photo] = await findImages(pool, [photoOf(content)?.storageKey ?? '']);
  return photo?.kind === 'image' ? photo : undefined;
}

async function asPublic({ pool }: LabelsContext, { label, product }: Published): Promise<PublicLabel> {
  const { companyId } = product;
  const [photo, [company]] = await Promise.all([
    findPhoto(pool, product),
    findCompanyNames(pool, companyId === null ? [] : [companyId]),
  ]);
  const {
    title,
    language,
    fields = [],
  } = label.content as {
    title?: string;
    language?: string;
    fields?: LabelField[];
  };
  return {
    uuid: label.uuid,
    ...(title && { title }),
    ...(language && { language }),
    fields: fields.map(({ name, section, value }) => ({
      ...(name && { name }),
      ...(section && { section }),
      ...(value != null && { value }),
    })),
    product: { name: product.name },
    ...(company && { company: { name: company.name } }),
    ...(photo && { photo: `${PATH}/${label.uuid}/photo` }),
  };
}

function sendPicture(reply: FastifyReply, type: string): FastifyReply {
  // Not cached, because a label can be unpublished; and it cannot run scripts.
  const policy = "default-src 'none'; style-src 'unsafe-inline'; sandbox";
  return reply.headers({ 'cache-control': 'no-cache', 'content-security-policy': policy }).type(type);
}
