import type pg from 'pg';
import { prefersPage, varyOf } from '../../../platform/http/page.ts';
import type { Problem } from '../../../platform/http/problems.ts';
import { type Server, sendText } from '../../../platform/http/server.ts';
import { callerOf } from '../../base/access/authentication.ts';
import { requesterOf } from '../../base/access/requester.ts';
import { ok } from '../../base/contract/envelope.ts';
import { listAnswer, pageOf, pathIdOf } from '../../base/contract/schemas.ts';
import type { Lists } from '../../base/lists/lists.ts';
import type { ShowLabel } from '../label-pages/pages.ts';
import { addFeedback, markFeedbackSeen, readFeedback, removeFeedback, unseenFeedback } from './feedback.ts';
import { FORM_BYTES, readForms, refusedFeedback, thank } from './form.ts';
import {
  addFeedbackSchema,
  deleteFeedbackSchema,
  listFeedbackSchema,
  SORTABLE,
  seeFeedbackSchema,
  unseenFeedbackSchema,
} from './schemas.ts';

/** Rate limit of feedback per address. */
const RATE_LIMIT = { guarded: true, rateLimit: { max: 20, timeWindow: 3600_000 } };

interface FeedbackContext {
  pool: pg.Pool;
  lists: Lists;
  /** answers with the page of a label and refused feedback */
  showLabel: ShowLabel;
}

/** Feedback of consumers to the producers of labelled products. */
export function registerFeedback(app: Server, context: FeedbackContext): void {
  // A separate context, because no other route accepts forms of browsers.
  app.register(async scope => registerAdding(scope as Server, context));
  registerReading(app, context);
}

function registerAdding(app: Server, { pool, showLabel }: FeedbackContext): void {
  readForms(app);
  app.post(
    '/api/public/product/label/feedback/:uuid',
    {
      config: { access: 'open', forPeople: true, ...RATE_LIMIT },
      bodyLimit: FORM_BYTES,
      // The handler gets validation errors, so that the page of the label can show them.
      attachValidation: true,
      schema: addFeedbackSchema,
    },
    async (request, reply) => {
      const { body, params, headers, validationError } = request;
      const isForPage = prefersPage(headers.accept);
      try {
        if (validationError) throw validationError;
        await addFeedback(pool, params.uuid, body);
      } catch (error) {
        const feedback = isForPage ? refusedFeedback(error, body) : undefined;
        if (feedback === undefined) throw error;
        const { status, retryAfter } = error as Problem;
        reply.code(status as 400 | 429).headers({ vary: varyOf(reply), 'cache-control': 'no-store' });
        if (retryAfter !== undefined) reply.header('retry-after', retryAfter);
        return showLabel(reply, params.uuid, { feedback });
      }
      if (!isForPage) return { status: 'OK' as const };
      return thank(reply.header('cache-control', 'no-store'), params.uuid);
    },
  );
}

function registerReading(app: Server, context: FeedbackContext): void {
  const { pool } = context;
  app.get(
    '/api/public/product/label/feedback/list/:uuid',
    { config: { access: 'optional-user' }, schema: listFeedbackSchema },
    async (request, reply) => {
      const page = pageOf(request.query, SORTABLE);
      const filter = { uuid: request.params.uuid, type: request.query.type };
      const answer = listAnswer(page, await readFeedback(context, request.caller, filter, page));
      // The answer depends on the caller.
      reply.header('cache-control', 'private, no-store');
      return sendText(reply, JSON.stringify(ok(answer)));
    },
  );

  app.get(
    '/api/product/label/feedback/unseen',
    { config: { access: 'user' }, schema: unseenFeedbackSchema },
    async request => ok(await unseenFeedback(pool, callerOf(request))),
  );

  app.post(
    '/api/product/label/:id/feedback/seen',
    { config: { access: 'product.changeable' }, schema: seeFeedbackSchema },
    async request => {
      await markFeedbackSeen(pool, callerOf(request), pathIdOf(request.params.id));
      return { status: 'OK' as const };
    },
  );

  app.delete(
    '/api/product/label/feedback/:id',
    { config: { access: 'product.changeable' }, schema: deleteFeedbackSchema },
    async request => {
      await removeFeedback(pool, requesterOf(request), pathIdOf(request.params.id));
      return { status: 'OK' as const };
    },
  );
}
