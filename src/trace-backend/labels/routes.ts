import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { type Server, sendText } from '../../platform/http/server.ts';
import { Done, envelope, failureAnswers, ok } from '../contract/envelope.ts';
import { Id, idOf, PathId, pathIdOf } from '../contract/schemas.ts';
import { asLabel } from '../products/labels/label.ts';
import { LabelUpdate, LabelView, NewLabel } from '../products/labels/schemas.ts';
import type { Label } from '../products/labels/store.ts';
import { ACTIONS, changeLabel, createLabel, executeOnLabel, removeLabel } from './labels.ts';
import { type LabelsContext, registerPublicLabels } from './public.ts';

const tags = ['Label'];
const answers = { 200: envelope(LabelView, 'the label'), ...failureAnswers(401, 403, 404) };

/** What consumers are told about a product: written and published by those who may change it, read by anybody. */
export function registerLabels(app: Server, context: LabelsContext): void {
  const { pool } = context;
  app.post(
    '/api/product/label/create',
    {
      config: { access: 'user' },
      schema: { tags, summary: 'Add a label to a product, unpublished', body: NewLabel, response: answers },
    },
    async (request, reply) => send(reply, await createLabel(pool, request, request.body)),
  );

  app.put(
    '/api/product/label',
    {
      config: { access: 'user' },
      schema: {
        tags,
        summary: 'Change what a label says',
        description: 'What is left out stays, null clears. A published label stays published.',
        body: LabelUpdate,
        response: answers,
      },
    },
    async (request, reply) =>
      send(reply, await changeLabel(pool, request, idOf(request.body.id), request.body)),
  );

  app.post(
    '/api/product/label/execute/:action',
    {
      config: { access: 'user' },
      schema: {
        tags,
        summary: 'Publish a label, or take it back',
        description: 'What is published is read by anybody at /api/public/product/label/{uuid}.',
        params: Type.Object({ action: Type.Enum([...ACTIONS], { description: 'what to do' }) }),
        body: Type.Object({ id: Id }),
        response: answers,
      },
    },
    async (request, reply) => {
      const { body, params } = request;
      return send(reply, await executeOnLabel(pool, request, idOf(body.id), params.action));
    },
  );

  app.delete(
    '/api/product/label/:id(^(?!create$).+$)',
    {
      config: { access: 'user' },
      schema: {
        tags,
        summary: 'Remove a label',
        description: 'Also a published one: its code leads nowhere from then on.',
        params: Type.Object({ id: PathId }),
        response: { 200: Done, ...failureAnswers(401, 403, 404) },
      },
    },
    async request => {
      await removeLabel(pool, request, pathIdOf(request.params.id));
      return { status: 'OK' as const };
    },
  );

  registerPublicLabels(app, context);
}

/** As text: the serializer of a schema would leave out fields that it does not know. */
function send(reply: FastifyReply, label: Label): FastifyReply {
  return sendText(reply, JSON.stringify(ok(asLabel(label))));
}
