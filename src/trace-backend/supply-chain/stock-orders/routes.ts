import { Problem } from '../../../platform/http/problems.ts';
import type { Server } from '../../../platform/http/server.ts';
import { ok } from '../../base/contract/envelope.ts';
import { taggedOrderSchema } from './schemas.ts';

/** The tag of codes that are for a label alone. */
const NO_ORDER = 'EMPTY';

/** What everyone sees of the stock order that a code on a package names. Tags other than EMPTY are unknown. */
export function registerStockOrders(app: Server): void {
  app.get(
    '/api/public/stock-order/:qrTag',
    {
      config: { access: 'open' },
      schema: taggedOrderSchema,
    },
    async (request, reply) => {
      const { qrTag } = request.params;
      if (qrTag !== NO_ORDER) throw new Problem('not_found', 'there is no stock order with this tag');
      reply.header('cache-control', 'no-cache');
      return ok({ qrTag, certificates: [], historyTimeline: { items: [], journeyMarkers: [] } });
    },
  );
}
