import type { FastifyReply } from 'fastify';
import { contentDisposition } from '../../../platform/http/disposition.ts';
import { type Server, sendText } from '../../../platform/http/server.ts';
import { callerOf } from '../../base/access/authentication.ts';
import { requesterOf } from '../../base/access/requester.ts';
import { ok } from '../../base/contract/envelope.ts';
import { idOf, pathIdOf } from '../../base/contract/schemas.ts';
import { asList } from '../../base/contract/shapes.ts';
import { versionTag } from '../../base/contract/versions.ts';
import { tagVersion } from '../../base/records/answers.ts';
import { readableProduct } from '../products/access.ts';
import { asBase, asLabel } from '../products/labels/label.ts';
import type { Label } from '../products/labels/store.ts';
import { findLabelByUuid, findLabels } from '../products/labels/store.ts';
import { asAnswer, withStoredMetadata } from './contents/content.ts';
import { findDifferences, findOutdated } from './contents/differences.ts';
import { type LabelRead, readableLabel, readableLabelOnly, readableWithProduct } from './contents/read.ts';
import {
  getContentSchema,
  getDifferencesSchema,
  takeOverSchema,
  updateContentSchema,
} from './contents/schemas.ts';
import { comparisonTag, takeOver } from './contents/take-over.ts';
import { asAnalytics, type LabelCounts } from './counts/counts.ts';
import { findCounts } from './counts/store.ts';
import { instructionsPdf } from './instructions.ts';
import { labelUrl } from './label-url.ts';
import {
  changeContent,
  changeLabel,
  changeValues,
  createLabel,
  executeOnLabel,
  removeLabel,
  type WritingContext,
} from './labels.ts';
import {
  analyticsSchema,
  createLabelSchema,
  deleteLabelSchema,
  executeLabelSchema,
  getLabelSchema,
  getValuesSchema,
  instructionsSchema,
  listLabelsSchema,
  updateLabelSchema,
  updateValuesSchema,
} from './schemas.ts';
import { withSettings, withValues } from './values.ts';

interface LabelsContext extends WritingContext {
  counts: LabelCounts;
  /** base URL of printed codes, without a trailing slash */
  publicUrl: () => string;
}

/** Labels of products: written and published by users who may change the product, public once published. */
export function registerLabels(app: Server, context: LabelsContext): void {
  registerWriting(app, context);
  registerContents(app, context);
  registerReading(app, context);
  registerDifferences(app, context);
  registerAnalytics(app, context);
}

/** Any id except the literal path segments of other routes, so that their other methods get 404. */
const PATH = '/api/product/label/:id(^(?!create$|content$|values$)[^]+$)';

function registerWriting(app: Server, context: LabelsContext): void {
  app.post(
    '/api/product/label/create',
    { config: { access: 'product.changeable' }, schema: createLabelSchema },
    async (request, reply) => send(reply, await createLabel(context, requesterOf(request), request.body)),
  );

  app.put(
    '/api/product/label',
    { config: { access: 'product.changeable' }, schema: updateLabelSchema },
    async (request, reply) =>
      send(reply, await changeLabel(context, requesterOf(request), idOf(request.body.id), request.body)),
  );

  app.post(
    '/api/product/label/execute/:action',
    { config: { access: 'product.changeable' }, schema: executeLabelSchema },
    async (request, reply) => {
      const { body, params } = request;
      return send(reply, await executeOnLabel(context, requesterOf(request), idOf(body.id), params.action));
    },
  );

  app.delete(PATH, { config: { access: 'product.changeable' }, schema: deleteLabelSchema }, async request => {
    await removeLabel(context, requesterOf(request), pathIdOf(request.params.id));
    return { status: 'OK' as const };
  });
}

function registerContents(app: Server, context: LabelsContext): void {
  app.put(
    '/api/product/label/content',
    { config: { access: 'product.changeable' }, schema: updateContentSchema },
    async request => {
      await changeContent(context, requesterOf(request), idOf(request.body.labelId), request.body);
      return { status: 'OK' as const };
    },
  );

  app.put(
    '/api/product/label/values',
    { config: { access: 'product.changeable' }, schema: updateValuesSchema },
    async request => {
      const { id, fields, title, language } = request.body;
      const sent = {
        ...(fields != null && { fields: asList(fields) }),
        ...(title !== undefined && { title }),
        ...(language !== undefined && { language }),
      };
      await changeValues(context, requesterOf(request), idOf(id), sent);
      return { status: 'OK' as const };
    },
  );
}

function registerReading(app: Server, { pool, publicUrl }: LabelsContext): void {
  app.get(
    '/api/product/:id/labels',
    { config: { access: 'product.readable' }, schema: listLabelsSchema },
    async (request, reply) => {
      const product = await readableProduct(pool, callerOf(request), pathIdOf(request.params.id));
      const [labels, outdated] = await Promise.all([
        findLabels(pool, product.id),
        findOutdated(pool, product),
      ]);
      const items = labels.map(label => ({ ...asBase(label), productChanged: outdated.has(label.id) }));
      return sendText(reply, JSON.stringify(ok(items)));
    },
  );

  for (const [path, schema, answerOf] of [
    [
      PATH,
      getLabelSchema,
      async ({ label, own }: LabelRead) => ({
        ...withSettings(label, await withStoredMetadata(pool, own)),
        url: labelUrl(publicUrl(), label),
      }),
    ],
    [
      '/api/product/label/content/:id',
      getContentSchema,
      async ({ label, own }: LabelRead) => asAnswer(label.id, await withStoredMetadata(pool, own)),
    ],
    [
      '/api/product/label/values/:id',
      getValuesSchema,
      ({ label, own }: LabelRead) => withValues(pool, label, own),
    ],
  ] as const) {
    app.get(path, { config: { access: 'product.readable' }, schema }, async (request, reply) => {
      const read = await readableLabel(pool, callerOf(request), pathIdOf(request.params.id));
      tagVersion(reply, read.label.version);
      return sendText(reply, JSON.stringify(ok(await answerOf(read))));
    });
  }
}

function registerDifferences(app: Server, context: LabelsContext): void {
  const path = '/api/product/label/:id/differences';
  app.get(
    path,
    { config: { access: 'product.readable' }, schema: getDifferencesSchema },
    async (request, reply) => {
      const { pool } = context;
      const { current, ...read } = await readableWithProduct(
        pool,
        callerOf(request),
        pathIdOf(request.params.id),
      );
      const differences = await findDifferences(pool, read, current);
      reply.header('etag', comparisonTag(read)).header('cache-control', 'private, no-cache');
      return sendText(reply, JSON.stringify(ok(differences)));
    },
  );

  app.post(path, { config: { access: 'product.changeable' }, schema: takeOverSchema }, async request => {
    const { params, body } = request;
    await takeOver(context, requesterOf(request), pathIdOf(params.id), body.names);
    return { status: 'OK' as const };
  });
}

function registerAnalytics(app: Server, { pool, counts, publicUrl }: LabelsContext): void {
  app.get(
    '/api/product/label/analytics/:uuid',
    { config: { access: 'product.readable' }, schema: analyticsSchema },
    async request => {
      const found = await findLabelByUuid(pool, request.params.uuid);
      const { label } = await readableLabelOnly(pool, callerOf(request), found?.id ?? 0);
      await counts.flush();
      return ok(asAnalytics(await findCounts(pool, label.id)));
    },
  );

  app.get(
    '/api/product/label/:id/instructions',
    { config: { access: 'product.readable' }, schema: instructionsSchema },
    async (request, reply) => {
      const { label, product } = await readableLabelOnly(
        pool,
        callerOf(request),
        pathIdOf(request.params.id),
      );
      const { title = product.name, language = 'EN' } = label.content as {
        title?: string;
        language?: string;
      };
      const url = labelUrl(publicUrl(), label);
      const isPublished = label.status === 'PUBLISHED';
      const file = await instructionsPdf({ title, language, url, isPublished });
      return reply
        .type('application/pdf')
        .headers({
          'content-disposition': contentDisposition(`label-${label.id}.pdf`),
          'cache-control': 'private, no-cache',
        })
        .send(file);
    },
  );
}

/** Answers as text, because the serializer of a schema would omit unknown fields. */
function send(reply: FastifyReply, label: Label): FastifyReply {
  return sendText(reply.header('etag', versionTag(label.version)), JSON.stringify(ok(asLabel(label))));
}
