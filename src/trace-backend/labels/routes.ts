import type { FastifyReply } from 'fastify';
import { type Server, sendText } from '../../platform/http/server.ts';
import { requesterOf } from '../access/requester.ts';
import { ok } from '../contract/envelope.ts';
import { idOf, pathIdOf } from '../contract/schemas.ts';
import { asLabel } from '../products/labels/label.ts';
import type { Label } from '../products/labels/store.ts';
import { changeLabel, createLabel, executeOnLabel, removeLabel } from './labels.ts';
import { type LabelsContext, registerPublicLabels } from './public.ts';
import { createLabelSchema, deleteLabelSchema, executeLabelSchema, updateLabelSchema } from './schemas.ts';

/** Labels of products: written and published by users who may change the product, public once published. */
export function registerLabels(app: Server, context: LabelsContext): void {
  const { pool } = context;
  app.post(
    '/api/product/label/create',
    {
      config: { access: 'user' },
      schema: createLabelSchema,
    },
    async (request, reply) => send(reply, await createLabel(pool, requesterOf(request), request.body)),
  );

  app.put(
    '/api/product/label',
    {
      config: { access: 'user' },
      schema: updateLabelSchema,
    },
    async (request, reply) =>
      send(reply, await changeLabel(pool, requesterOf(request), idOf(request.body.id), request.body)),
  );

  app.post(
    '/api/product/label/execute/:action',
    {
      config: { access: 'user' },
      schema: executeLabelSchema,
    },
    async (request, reply) => {
      const { body, params } = request;
      return send(reply, await executeOnLabel(pool, requesterOf(request), idOf(body.id), params.action));
    },
  );

  app.delete(
    '/api/product/label/:id(^(?!create$).+$)',
    {
      config: { access: 'user' },
      schema: deleteLabelSchema,
    },
    async request => {
      await removeLabel(pool, requesterOf(request), pathIdOf(request.params.id));
      return { status: 'OK' as const };
    },
  );

  registerPublicLabels(app, context);
}

/** As text, because the serializer of a schema would omit unknown fields. */
function send(reply: FastifyReply, label: Label): FastifyReply {
  return sendText(reply, JSON.stringify(ok(asLabel(label))));
}
