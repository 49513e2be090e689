import type { Server } from '../../../platform/http/server.ts';
import { ok } from '../../base/contract/envelope.ts';
import { taggedOrderSchema } from './schemas.ts';

/**
 * The public journey of the stock order in the code on a package. Front ends show the label of a code only with this
 * answer, so every tag gets one with an empty journey: no stock orders are stored yet.
 */
export function registerStockOrders(app: Server): void {
  app.get(
    '/api/public/stock-order/:qrTag',
    { config: { access: 'open' }, schema: taggedOrderSchema },
    async (request, reply) => {
      reply.header('cache-control', 'no-cache');
      const { qrTag } = request.params;
      return ok({ qrTag, certificates: [], historyTimeline: { items: [], journeyMarkers: [] } });
    },
  );
}
