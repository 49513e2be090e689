import { type Server, sendText } from '../../../platform/http/server.ts';
import { callerOf } from '../../base/access/authentication.ts';
import { requesterOf } from '../../base/access/requester.ts';
import { ok } from '../../base/contract/envelope.ts';
import { idOf, pathIdOf } from '../../base/contract/schemas.ts';
import type { Lists } from '../../base/lists/lists.ts';
import { listPage, tagVersion } from '../../base/records/answers.ts';
import { readableProduct } from '../../catalogue/products/access.ts';
import {
  addEntry,
  asEntry,
  type BlogContext,
  changeEntry,
  present,
  publicEntry,
  readableEntry,
} from './knowledge-blog.ts';
import {
  addEntrySchema,
  getEntrySchema,
  listEntriesSchema,
  publicEntrySchema,
  SORTABLE,
  updateEntrySchema,
} from './schemas.ts';
import { listEntries } from './store.ts';

const PATH = '/api/product/knowledgeBlog';

/** The knowledge blogs of products: written by users who may change the product, public with its labels. */
export function registerKnowledgeBlog(app: Server, context: BlogContext & { lists: Lists }): void {
  registerWriting(app, context);
  registerReading(app, context);
}

function registerWriting(app: Server, context: BlogContext): void {
  app.post(
    `${PATH}/:productId`,
    { config: { access: 'product.changeable' }, schema: addEntrySchema },
    async request => {
      const productId = pathIdOf(request.params.productId);
      await addEntry(context, requesterOf(request), productId, request.body);
      return { status: 'OK' as const };
    },
  );

  app.put(PATH, { config: { access: 'product.changeable' }, schema: updateEntrySchema }, async request => {
    const { id, ...body } = request.body;
    await changeEntry(context, requesterOf(request), idOf(id), body);
    return { status: 'OK' as const };
  });
}

function registerReading(app: Server, { pool, lists }: BlogContext & { lists: Lists }): void {
  app.get(
    `${PATH}/list/:productId`,
    { config: { access: 'product.readable' }, schema: listEntriesSchema },
    async (request, reply) => {
      const { id } = await readableProduct(pool, callerOf(request), pathIdOf(request.params.productId));
      const filter = { productId: id, type: request.query.type };
      const find = (page: Parameters<typeof listEntries>[3]) => listEntries(pool, lists, filter, page);
      const answer = await listPage(request.query, SORTABLE, find, items => items.map(present));
      return sendText(reply, JSON.stringify(ok(answer)));
    },
  );

  app.get(
    `${PATH}/:id`,
    { config: { access: 'product.readable' }, schema: getEntrySchema },
    async (request, reply) => {
      const entry = await readableEntry(pool, callerOf(request), pathIdOf(request.params.id));
      return sendText(tagVersion(reply, entry.version), JSON.stringify(ok(await asEntry(pool, entry))));
    },
  );

  app.get(
    '/api/public/product/knowledgeBlog/:id',
    { config: { access: 'open' }, schema: publicEntrySchema },
    async (request, reply) => {
      const entry = await publicEntry(pool, pathIdOf(request.params.id));
      return sendText(
        reply.header('cache-control', 'no-cache'),
        JSON.stringify(ok(await asEntry(pool, entry))),
      );
    },
  );
}
