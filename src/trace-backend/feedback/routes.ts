import type pg from 'pg';
import { type Server, sendText } from '../../platform/http/server.ts';
import { requesterOf } from '../access/requester.ts';
import { ok } from '../contract/envelope.ts';
import { listAnswer, pageOf, pathIdOf } from '../contract/schemas.ts';
import type { Lists } from '../lists/lists.ts';
import { addFeedback, readFeedback, removeFeedback } from './feedback.ts';
import { addFeedbackSchema, deleteFeedbackSchema, listFeedbackSchema, SORTABLE } from './schemas.ts';

/** What one address writes in an hour. */
const FEW = { guarded: true, rateLimit: { max: 20, timeWindow: 3600_000 } };

/** What consumers tell the producers of labelled products. */
export function registerFeedback(app: Server, context: { pool: pg.Pool; lists: Lists }): void {
  const { pool } = context;
  app.post(
    '/api/public/product/label/feedback/:uuid',
    {
      config: { access: 'open', ...FEW },
      schema: addFeedbackSchema,
    },
    async request => {
      await addFeedback(pool, request.params.uuid, request.body);
      return { status: 'OK' as const };
    },
  );

  app.get(
    '/api/public/product/label/feedback/list/:uuid',
    {
      config: { access: 'known' },
      schema: listFeedbackSchema,
    },
    async (request, reply) => {
      const page = pageOf(request.query, SORTABLE);
      const of = { uuid: request.params.uuid, type: request.query.type };
      const answer = listAnswer(page, await readFeedback(context, request.caller, of, page));
      // What it shows depends on the caller.
      reply.header('cache-control', 'private, no-store');
      return sendText(reply, JSON.stringify(ok(answer)));
    },
  );

  app.delete(
    '/api/product/label/feedback/:id',
    {
      config: { access: 'user' },
      schema: deleteFeedbackSchema,
    },
    async request => {
      await removeFeedback(pool, requesterOf(request), pathIdOf(request.params.id));
      return { status: 'OK' as const };
    },
  );
}
