import { type Server, sendText } from '../../../../platform/http/server.ts';
import { callerOf } from '../../../base/access/authentication.ts';
import { requesterOf } from '../../../base/access/requester.ts';
import { ok } from '../../../base/contract/envelope.ts';
import { idOf, pathIdOf } from '../../../base/contract/schemas.ts';
import type { Lists } from '../../../base/lists/lists.ts';
import { listPage, tagVersion } from '../../../base/records/answers.ts';
import { readableLabelOnly } from '../contents/read.ts';
import {
  asBatches,
  type BatchContext,
  changeBatch,
  createBatch,
  readableBatch,
  removeBatch,
} from './batches.ts';
import {
  createBatchSchema,
  deleteBatchSchema,
  getBatchSchema,
  listBatchesSchema,
  SORTABLE,
  updateBatchSchema,
} from './schemas.ts';
import { listBatches } from './store.ts';

interface BatchesContext extends BatchContext {
  lists: Lists;
}

/** Any id except the literal path segments of other routes, so that their other methods get 404. */
const PATH = '/api/product/label_batch/:id(^(?!create$)[^]+$)';

/** Batches of labels: written by users who may change the product. */
export function registerBatches(app: Server, context: BatchesContext): void {
  registerWriting(app, context);
  registerReading(app, context);
}

function registerWriting(app: Server, context: BatchesContext): void {
  app.post(
    '/api/product/label_batch/create',
    { config: { access: 'product.changeable' }, schema: createBatchSchema },
    async request => {
      const { labelId, ...body } = request.body;
      return ok({ id: await createBatch(context, requesterOf(request), idOf(labelId), body) });
    },
  );

  app.put(
    '/api/product/label_batch',
    { config: { access: 'product.changeable' }, schema: updateBatchSchema },
    async request => {
      const { id, labelId: _, ...body } = request.body;
      await changeBatch(context, requesterOf(request), idOf(id), body);
      return { status: 'OK' as const };
    },
  );

  app.delete(PATH, { config: { access: 'product.changeable' }, schema: deleteBatchSchema }, async request => {
    await removeBatch(context, requesterOf(request), pathIdOf(request.params.id));
    return { status: 'OK' as const };
  });
}

function registerReading(app: Server, { pool, lists }: BatchesContext): void {
  app.get(
    PATH,
    { config: { access: 'product.readable' }, schema: getBatchSchema },
    async (request, reply) => {
      const batch = await readableBatch(pool, callerOf(request), pathIdOf(request.params.id));
      // Answers as text, because the serializer of a schema would omit unknown fields.
      const [item] = await asBatches(pool, [batch]);
      return sendText(tagVersion(reply, batch.version), JSON.stringify(ok(item)));
    },
  );

  app.get(
    '/api/product/label/:id/batches',
    { config: { access: 'product.readable' }, schema: listBatchesSchema },
    async (request, reply) => {
      const { label } = await readableLabelOnly(pool, callerOf(request), pathIdOf(request.params.id));
      const filter = { labelId: label.id, number: request.query.number };
      const find = (page: Parameters<typeof listBatches>[3]) => listBatches(pool, lists, filter, page);
      const answer = await listPage(request.query, SORTABLE, find, items => asBatches(pool, items));
      return sendText(reply, JSON.stringify(ok(answer)));
    },
  );
}
