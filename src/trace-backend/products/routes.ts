import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { Problem } from '../../platform/http/problems.ts';
import { type Server, sendText } from '../../platform/http/server.ts';
import { callerOf } from '../access/authentication.ts';
import { findUsers } from '../accounts/users/store.ts';
import { findCompanyNames } from '../companies/members-store.ts';
import { Done, envelope, failureAnswers, ok } from '../contract/envelope.ts';
import {
  Id,
  idOf,
  listAnswer,
  listOf,
  listQuery,
  NO_NUL,
  PathId,
  pageOf,
  pathIdOf,
} from '../contract/schemas.ts';
import { IfMatch, versionTag } from '../contract/versions.ts';
import { mayChange, readableProduct, readerOf, unknownProduct } from './access.ts';
import { listChanges } from './changes-store.ts';
import { originFile } from './origin.ts';
import { changeProduct, createProduct, leaveProduct, type ProductsContext, removeProduct } from './save.ts';
import { Change, NewProduct, ProductItem, ProductUpdate, ProductView } from './schemas.ts';
import { listProducts, type Product, SORTABLE } from './store.ts';
import { asItems, asProduct } from './view.ts';

const tags = ['Product'];
const Identified = envelope(Type.Object({ id: Type.Integer({ examples: [12] }) }), 'the id of the product');
/** Any id but the words that stand in its place in other routes, whose other methods are then known not to be there. */
const PATH = '/api/product/:id(^(?!create$|list$|label$).+$)';
const Params = Type.Object({ id: PathId });
const HISTORY_SORTABLE = ['id'] as const;

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
    {
      config: { access: 'user' },
      schema: {
        tags,
        summary: 'Add a product',
        description:
          'It belongs to the company that is named, which you act for; else to your only company; else to you alone.',
        body: NewProduct,
        response: { 200: Identified, ...failureAnswers(401) },
      },
    },
    async request => ok({ id: await createProduct(context, request, request.body) }),
  );

  app.put(
    '/api/product',
    {
      config: { access: 'user' },
      schema: {
        tags,
        summary: 'Change a product',
        description:
          'What is left out stays, in the product and inside its parts; null clears; a list that is sent replaces ' +
          'the one that was there. A published label stays, too, when it is left out of labels.',
        headers: IfMatch,
        body: ProductUpdate,
        response: { 200: Identified, ...failureAnswers(401, 403, 404, 412) },
      },
    },
    async request => {
      const id = idOf(request.body.id);
      await changeProduct(context, request, id, request.body);
      return ok({ id });
    },
  );

  app.delete(
    PATH,
    {
      config: { access: 'user' },
      schema: {
        tags,
        summary: 'Remove a product',
        description: 'With its labels, also published ones. Its history is kept.',
        params: Params,
        headers: IfMatch,
        response: { 200: Done, ...failureAnswers(401, 403, 404, 412) },
      },
    },
    async request => {
      await removeProduct(context, request, pathIdOf(request.params.id));
      return { status: 'OK' as const };
    },
  );
}

function registerLeaving(app: Server, context: ProductsContext): void {
  app.delete(
    '/api/product/:id/company/:companyId',
    {
      config: { access: 'user' },
      schema: {
        tags,
        summary: 'Take an associated company off a product',
        description:
          'For those who act for the company, who then do not see the product or its pictures any more, and for those who ' +
          'may change the product. The owner stays.',
        params: Type.Object({ id: PathId, companyId: PathId }),
        response: { 200: Done, ...failureAnswers(401, 403, 404) },
      },
    },
    async request => {
      const { id, companyId } = request.params;
      await leaveProduct(context, request, pathIdOf(id), pathIdOf(companyId));
      return { status: 'OK' as const };
    },
  );
}

function registerReading(app: Server, { pool }: ProductsContext): void {
  app.get(
    PATH,
    {
      config: { access: 'user' },
      schema: {
        tags,
        summary: 'A product',
        description: 'Its ETag is its version; send it as If-Match with a change.',
        params: Params,
        response: { 200: envelope(ProductView, 'the product'), ...failureAnswers(401, 404) },
      },
    },
    async (request, reply) => {
      const product = await readable(request, request.params.id);
      reply.header('etag', versionTag(product.version)).header('cache-control', 'private, no-cache');
      // As text: the serializer of a schema would bring numbers and unknown fields into its own shape.
      return sendText(reply, JSON.stringify(ok(await asProduct(pool, product))));
    },
  );

  app.get(
    '/api/product/:id/origin.geojson',
    {
      config: { access: 'user' },
      schema: {
        tags,
        summary: 'Where a product comes from, as a geolocation file of the EU deforestation regulation',
        description:
          'A GeoJSON feature for each location of its origin; 400 names the features that would be refused.',
        params: Params,
        response: {
          200: {
            description: 'a FeatureCollection, in WGS 84 with six decimals',
            content: { 'application/geo+json': { schema: Type.Object({}, { additionalProperties: true }) } },
          },
          ...failureAnswers(401, 404),
        },
      },
    },
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
  for (const [path, access, summary] of [
    ['/api/product/list', 'user', 'The products that you may see'],
    ['/api/product/admin/list', 'regional-admin', 'All products'],
  ] as const) {
    app.get(
      path,
      {
        config: { access },
        schema: {
          tags,
          summary,
          querystring: listQuery(SORTABLE, {
            query: Type.Optional(
              Type.String({
                maxLength: 255,
                pattern: NO_NUL,
                description: 'part of the name, in either case',
              }),
            ),
            companyId: Type.Optional({ ...Id, description: 'the company that owns it' } as typeof Id),
          }),
          response: {
            200: envelope(listOf(ProductItem), 'a page of products'),
            ...(access === 'user' ? failureAnswers(401) : failureAnswers(401, 403)),
          },
        },
      },
      async request => {
        const { query } = request;
        const page = pageOf(query, SORTABLE);
        const reader = await readerOf(pool, {
          ...callerOf(request),
          ...(access === 'user' && { role: 'USER' }),
        });
        const companyId = query.companyId === undefined ? undefined : idOf(query.companyId);
        const filter = { reader, query: query.query, companyId };
        const { items, count } = await listProducts(pool, lists, filter, page);
        return ok(listAnswer(page, { items: await asItems(pool, items), count }));
      },
    );
  }
}

function registerHistory(app: Server, { pool, lists }: ProductsContext): void {
  app.get(
    '/api/product/:id/history',
    {
      config: { access: 'user' },
      schema: {
        tags,
        summary: 'Who changed which field of a product, and when',
        description: 'For those who may change it. A SYSTEM_ADMIN reads that of a removed product, too.',
        params: Params,
        querystring: listQuery(HISTORY_SORTABLE, {}),
        response: { 200: envelope(listOf(Change), 'a page of changes'), ...failureAnswers(401, 403, 404) },
      },
    },
    async request => {
      const page = pageOf(request.query, HISTORY_SORTABLE);
      const id = pathIdOf(request.params.id);
      await checkMayReadHistory(request, id);
      const { items, count } = await listChanges(pool, lists, id, page);
      if (count === 0) throw unknownProduct();
      const users = await findUsers(pool, [...new Set(items.map(({ userId }) => userId))]);
      const names = new Map(users.map(user => [user?.id, user]));
      const changes = items.map(({ userId, at, before, after, ...change }) => {
        const { name = '', surname = '' } = names.get(userId) ?? {};
        const values = { ...(before !== null && { before }), ...(after !== null && { after }) };
        return { ...change, at: at.toISOString(), user: { id: userId, name, surname }, ...values };
      });
      return ok(listAnswer(page, { items: changes, count }));
    },
  );

  async function checkMayReadHistory(request: FastifyRequest, id: number): Promise<void> {
    const caller = callerOf(request);
    if (caller.role === 'SYSTEM_ADMIN') return;
    const product = await readableProduct(pool, caller, id);
    if (!(await mayChange(pool, caller, product))) {
      throw new Problem('forbidden', 'the history is read by those who may change the product');
    }
  }
}
