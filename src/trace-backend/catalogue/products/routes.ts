import type { FastifyRequest } from 'fastify';
import { Problem } from '../../../platform/http/problems.ts';
import { type Server, sendText } from '../../../platform/http/server.ts';
import { sendParts } from '../../../platform/http/streamed-text.ts';
import { callerOf } from '../../base/access/authentication.ts';
import { requesterOf } from '../../base/access/requester.ts';
import { ok } from '../../base/contract/envelope.ts';
import { languageOf } from '../../base/contract/language.ts';
import { idOf, listAnswer, pageOf, pathIdOf, searchTextOf } from '../../base/contract/schemas.ts';
import { tagVersion } from '../../base/records/answers.ts';
import { findCompanyNames } from '../companies/members/members-store.ts';
import { mayChange, readableProduct, readerOf, unknownProduct } from './access.ts';
import { listChanges } from './history/changes-store.ts';
import { historyInParts } from './history/history.ts';
import { originFile } from './origin/origin.ts';
import { allowReturn } from './partners/departures.ts';
import {
  allowProductSchema,
  createProductSchema,
  deleteProductSchema,
  getProductSchema,
  HISTORY_SORTABLE,
  leaveProductSchema,
  listProductsSchema,
  originSchema,
  productHistorySchema,
  SORTABLE,
  updateProductSchema,
} from './record/schemas.ts';
import { listProducts, type Product } from './record/store.ts';
import { changeProduct, createProduct, leaveProduct, type ProductsContext, removeProduct } from './save.ts';
import { asItems, asProduct } from './view.ts';

/** Any id except the literal path segments of other routes, so that their other methods get 404. */
const PATH = '/api/product/:id(^(?!create$|list$|label$|label_batch$|knowledgeBlog$)[^]+$)';

export function registerProducts(app: Server, context: ProductsContext): void {
  registerWriting(app, context);
  registerLeaving(app, context);
  registerReading(app, context);
  registerLists(app, context);
  registerHistory(app, context);
}

function registerWriting(app: Server, context: ProductsContext): void {
  app.post(
    '/api/product/create',
    { config: { access: 'user' }, schema: createProductSchema },
    async request => ok({ id: await createProduct(context, requesterOf(request), request.body) }),
  );

  app.put(
    '/api/product',
    { config: { access: 'product.changeable' }, schema: updateProductSchema },
    async request => {
      const id = idOf(request.body.id);
      await changeProduct(context, requesterOf(request), id, request.body);
      return ok({ id });
    },
  );

  app.delete(
    PATH,
    { config: { access: 'product.changeable' }, schema: deleteProductSchema },
    async request => {
      await removeProduct(context, requesterOf(request), pathIdOf(request.params.id));
      return { status: 'OK' as const };
    },
  );
}

function registerLeaving(app: Server, context: ProductsContext): void {
  app.delete(
    '/api/product/:id/company/:companyId',
    { config: { access: 'product.leavable' }, schema: leaveProductSchema },
    async request => {
      const { id, companyId } = request.params;
      await leaveProduct(context, requesterOf(request), pathIdOf(id), pathIdOf(companyId));
      return { status: 'OK' as const };
    },
  );

  app.post(
    '/api/product/:id/company/:companyId/allow',
    { config: { access: 'user' }, schema: allowProductSchema },
    async request => {
      const { id, companyId } = request.params;
      await allowReturn(context.pool, requesterOf(request), pathIdOf(id), pathIdOf(companyId));
      return { status: 'OK' as const };
    },
  );
}

function registerReading(app: Server, { pool }: ProductsContext): void {
  app.get(
    PATH,
    { config: { access: 'product.readable' }, schema: getProductSchema },
    async (request, reply) => {
      const product = await readable(request, request.params.id);
      tagVersion(reply, product.version);
      // As text, because the serializer of a schema would change numbers and unknown fields.
      const answer = await asProduct(pool, callerOf(request), product, languageOf(request.headers));
      const labels = request.query.includeLabels === false ? { labels: [] } : {};
      return sendText(reply, JSON.stringify(ok({ ...answer, ...labels })));
    },
  );

  app.get(
    '/api/product/:id/origin.geojson',
    { config: { access: 'product.readable' }, schema: originSchema },
    async (request, reply) => {
      const product = await readable(request, request.params.id);
      const file = originFile(product.content, await producerOf(product));
      return sendText(
        reply.header('content-disposition', `attachment; filename="origin-${product.id}.geojson"`),
        file,
        'application/geo+json',
      );
    },
  );

  const readable = (request: FastifyRequest, id: string) =>
    readableProduct(pool, callerOf(request), pathIdOf(id));

  async function producerOf({ companyId, associations }: Product): Promise<string | undefined> {
    const id = associations.find(({ type }) => type === 'PRODUCER')?.companyId ?? companyId;
    return id === null ? undefined : (await findCompanyNames(pool, [id]))[0]?.name;
  }
}

function registerLists(app: Server, { pool, lists }: ProductsContext): void {
  for (const [path, operationId, access, summary] of [
    ['/api/product/list', 'listProducts', 'user', 'List the products that you can see'],
    ['/api/product/admin/list', 'listAllProducts', 'regional-admin', 'List all products'],
  ] as const) {
    app.get(
      path,
      { config: { access }, schema: listProductsSchema(operationId, access, summary) },
      async request => {
        const { query } = request;
        const page = pageOf(query, SORTABLE);
        const reader = await readerOf(pool, {
          ...callerOf(request),
          ...(access === 'user' && { role: 'USER' }),
        });
        const companyId = query.companyId === undefined ? undefined : idOf(query.companyId);
        const filter = { reader, query: searchTextOf(query), companyId };
        const { items, count } = await listProducts(pool, lists, filter, page);
        return ok(listAnswer(page, { items: await asItems(pool, items), count }));
      },
    );
  }
}

function registerHistory(app: Server, { pool, lists }: ProductsContext): void {
  app.get(
    '/api/product/:id/history',
    { config: { access: 'product.changeable' }, schema: productHistorySchema },
    async (request, reply) => {
      const page = pageOf(request.query, HISTORY_SORTABLE);
      const id = pathIdOf(request.params.id);
      await checkMayReadHistory(request, id);
      const { items, count } = await listChanges(pool, lists, id, page);
      if (count === 0) throw unknownProduct();
      if (page.requestType === 'COUNT') return ok(listAnswer(page, { items: [], count }));
      return sendParts(reply, historyInParts(pool, page, items, count));
    },
  );

  async function checkMayReadHistory(request: FastifyRequest, id: number): Promise<void> {
    const caller = callerOf(request);
    if (caller.role === 'SYSTEM_ADMIN') return;
    const product = await readableProduct(pool, caller, id);
    if (!(await mayChange(pool, caller, product))) {
      throw new Problem('product.history_not_readable');
    }
  }
}
