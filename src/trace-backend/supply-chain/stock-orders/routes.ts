import type { Server } from '../../../platform/http/server.ts';
import { ok } from '../../base/contract/envelope.ts';
import { taggedOrderSchema } from './schemas.ts';

/**
 * What everyone sees of the stock orders that a code on a package names. Front ends show the label of the code only
 * with this answer, so a tag that no order has gets an empty journey: none has one yet.
 */
export function registerStockOrders(app: Server): void {
  app.get(
    '/api/public/stock-order/:qrTag',
    {
      config: { access: 'open' },
      schema: taggedOrderSchema,
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-cache');
      const { qrTag } = request.params;
      return ok({ qrTag, certificates: [], historyTimeline: { items: [], journeyMarkers: [] } });
    },
  );
}
