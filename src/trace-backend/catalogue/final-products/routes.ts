import type pg from 'pg';
import { type Server, sendText } from '../../../platform/http/server.ts';
import { callerOf } from '../../base/access/authentication.ts';
import { requesterOf } from '../../base/access/requester.ts';
import { ok } from '../../base/contract/envelope.ts';
import { languageOf } from '../../base/contract/language.ts';
import { pathIdOf } from '../../base/contract/schemas.ts';
import type { Lists } from '../../base/lists/lists.ts';
import { listPage, tagVersion } from '../../base/records/answers.ts';
import { readableCompany } from '../companies/access.ts';
import { readableProduct } from '../products/access.ts';
import { asBase } from '../products/labels/label.ts';
import { findLabelsById } from '../products/labels/store.ts';
import {
  asFinalProduct,
  asFinalProducts,
  findOfProduct,
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
import { type FinalProduct, listFinalProducts } from './store.ts';

interface FinalProductsContext {
  pool: pg.Pool;
  lists: Lists;
}

const PATH = '/api/product/:productId/finalProduct';

/** Final products: products as they are sold. */
export function registerFinalProducts(app: Server, context: FinalProductsContext): void {
  registerWriting(app, context);
  registerReading(app, context);
  registerLists(app, context);
}

function registerWriting(app: Server, { pool }: FinalProductsContext): void {
  app.put(
    PATH,
    { config: { access: 'product.changeable' }, schema: saveFinalProductSchema },
    async request => {
      const productId = pathIdOf(request.params.productId);
      return ok({ id: await saveFinalProduct(pool, requesterOf(request), productId, request.body) });
    },
  );

  app.delete(
    `${PATH}/:finalProductId`,
    { config: { access: 'product.changeable' }, schema: deleteFinalProductSchema },
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
    { config: { access: 'product.readable' }, schema: getFinalProductSchema },
    async (request, reply) => {
      const { productId, finalProductId } = request.params;
      const { id } = await readableProduct(pool, callerOf(request), pathIdOf(productId));
      const found = await findOfProduct(pool, id, pathIdOf(finalProductId));
      const answer = await asFinalProduct(pool, found, languageOf(request.headers));
      return sendText(tagVersion(reply, found.version), JSON.stringify(ok(answer)));
    },
  );

  app.get(
    `${PATH}/:finalProductId/labels`,
    { config: { access: 'product.readable' }, schema: finalProductLabelsSchema },
    async (request, reply) => {
      const { productId, finalProductId } = request.params;
      const { id } = await readableProduct(pool, callerOf(request), pathIdOf(productId));
      const { labelIds } = await findOfProduct(pool, id, pathIdOf(finalProductId));
      const labels = await findLabelsById(pool, labelIds);
      const { returnUnpublished } = request.query;
      const visible = labels.filter(({ status }) => returnUnpublished || status === 'PUBLISHED');
      return sendText(reply, JSON.stringify(ok(visible.map(asBase))));
    },
  );
}

function registerLists(app: Server, { pool, lists }: FinalProductsContext): void {
  const answerOf = async (
    query: Parameters<typeof listPage>[0],
    headers: Parameters<typeof languageOf>[0],
    owner: Parameters<typeof listFinalProducts>[2],
  ) => {
    const find = (page: Parameters<typeof listFinalProducts>[3]) =>
      listFinalProducts(pool, lists, owner, page);
    const show = (items: FinalProduct[]) => asFinalProducts(pool, items, languageOf(headers));
    return JSON.stringify(ok(await listPage(query, SORTABLE, find, show)));
  };
  app.get(
    `${PATH}/list`,
    {
      config: { access: 'product.readable' },
      schema: listFinalProductsSchema(
        'listFinalProducts',
        'List the final products of a product',
        'productId',
      ),
    },
    async (request, reply) => {
      const { productId = '' } = request.params;
      const { id } = await readableProduct(pool, callerOf(request), pathIdOf(productId));
      return sendText(reply, await answerOf(request.query, request.headers, { productId: id }));
    },
  );

  app.get(
    '/api/final-product/company/:companyId',
    {
      config: { access: 'company.member' },
      schema: listFinalProductsSchema(
        'listFinalProductsOfCompany',
        "List the final products of a company's own and associated products",
        'companyId',
      ),
    },
    async (request, reply) => {
      const { companyId = '' } = request.params;
      const { company } = await readableCompany(pool, callerOf(request), pathIdOf(companyId));
      return sendText(reply, await answerOf(request.query, request.headers, { companyId: company.id }));
    },
  );
}
