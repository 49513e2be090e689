import type pg from 'pg';
import { type Server, sendText } from '../../../platform/http/server.ts';
import { callerOf } from '../../base/access/authentication.ts';
import { requesterOf } from '../../base/access/requester.ts';
import { ok } from '../../base/contract/envelope.ts';
import { languageOf } from '../../base/contract/language.ts';
import { listAnswer, pageOf, pathIdOf } from '../../base/contract/schemas.ts';
import { versionTag } from '../../base/contract/versions.ts';
import type { Lists } from '../../base/lists/lists.ts';
import { readableCompany } from '../companies/access.ts';
import { readableProduct } from '../products/access.ts';
import { asBase } from '../products/labels/label.ts';
import { findLabelsById } from '../products/labels/store.ts';
import {
  asFinalProduct,
  asFinalProducts,
  ofProduct,
  removeFinalProduct,
  saveFinalProduct,
} from './final-products.ts';
import {
  deleteFinalProductSchema,
  finalProductLabelsSchema,
  getFinalProductSchema,
  listFinalProductsSchema,
  SORTABLE,
  saveFinalProductSchema,
} from './schemas.ts';
import { listFinalProducts } from './store.ts';

interface FinalProductsContext {
  pool: pg.Pool;
  lists: Lists;
}

const PATH = '/api/product/:productId/finalProduct';

/** What products are sold as. */
export function registerFinalProducts(app: Server, context: FinalProductsContext): void {
  registerWriting(app, context);
  registerReading(app, context);
  registerLists(app, context);
}

function registerWriting(app: Server, { pool }: FinalProductsContext): void {
  app.put(
    PATH,
    {
      config: { access: 'user' },
      schema: saveFinalProductSchema,
    },
    async request => {
      const productId = pathIdOf(request.params.productId);
      return ok({ id: await saveFinalProduct(pool, requesterOf(request), productId, request.body) });
    },
  );

  app.delete(
    `${PATH}/:finalProductId`,
    {
      config: { access: 'user' },
      schema: deleteFinalProductSchema,
    },
    async request => {
      const { productId, finalProductId } = request.params;
      await removeFinalProduct(pool, requesterOf(request), pathIdOf(productId), pathIdOf(finalProductId));
      return { status: 'OK' as const };
    },
  );
}

function registerReading(app: Server, { pool }: FinalProductsContext): void {
  app.get(
    `${PATH}/:finalProductId`,
    {
      config: { access: 'user' },
      schema: getFinalProductSchema,
    },
    async (request, reply) => {
      const { productId, finalProductId } = request.params;
      const { id } = await readableProduct(pool, callerOf(request), pathIdOf(productId));
      const found = await ofProduct(pool, id, pathIdOf(finalProductId));
      const answer = await asFinalProduct(pool, found, languageOf(request.headers));
      reply.header('etag', versionTag(found.version)).header('cache-control', 'private, no-cache');
      return sendText(reply, JSON.stringify(ok(answer)));
    },
  );

  app.get(
    `${PATH}/:finalProductId/labels`,
    {
      config: { access: 'user' },
      schema: finalProductLabelsSchema,
    },
    async (request, reply) => {
      const { productId, finalProductId } = request.params;
      const { id } = await readableProduct(pool, callerOf(request), pathIdOf(productId));
      const { labelIds } = await ofProduct(pool, id, pathIdOf(finalProductId));
      const labels = await findLabelsById(pool, labelIds);
      const { returnUnpublished } = request.query;
      const shown = labels.filter(({ status }) => returnUnpublished || status === 'PUBLISHED');
      return sendText(reply, JSON.stringify(ok(shown.map(asBase))));
    },
  );
}

function registerLists(app: Server, { pool, lists }: FinalProductsContext): void {
  app.get(
    `${PATH}/list`,
    {
      config: { access: 'user' },
      schema: listFinalProductsSchema('listFinalProducts', 'The final products of a product', 'productId'),
    },
    async (request, reply) => {
      const { productId = '' } = request.params;
      const { id } = await readableProduct(pool, callerOf(request), pathIdOf(productId));
      const page = pageOf(request.query, SORTABLE);
      const found = await listFinalProducts(pool, lists, { productId: id }, page);
      const items = await asFinalProducts(pool, found.items, languageOf(request.headers));
      return sendText(reply, JSON.stringify(ok(listAnswer(page, { items, count: found.count }))));
    },
  );

  app.get(
    '/api/final-product/company/:companyId',
    {
      config: { access: 'user' },
      schema: listFinalProductsSchema(
        'listFinalProductsOfCompany',
        'The final products of the products that a company owns or is associated with',
        'companyId',
      ),
    },
    async (request, reply) => {
      const { companyId = '' } = request.params;
      const { company } = await readableCompany(pool, callerOf(request), pathIdOf(companyId));
      const page = pageOf(request.query, SORTABLE);
      const found = await listFinalProducts(pool, lists, { companyId: company.id }, page);
      const items = await asFinalProducts(pool, found.items, languageOf(request.headers));
      return sendText(reply, JSON.stringify(ok(listAnswer(page, { items, count: found.count }))));
    },
  );
}
