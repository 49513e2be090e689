import type pg from 'pg';
import type { Server } from '../../../platform/http/server.ts';
import type { LabelCounts } from '../../catalogue/labels/counts/counts.ts';
import { findPublishedLabel } from '../../catalogue/products/labels/store.ts';
import { logRequestSchema } from './schemas.ts';
import { countRequest } from './store.ts';

/** Rate limit of reports per address. */
const RATE_LIMIT = { rateLimit: { max: 120, timeWindow: 60_000 } };

/** Reports of front ends about the use of labels' pages. */
export function registerLabelRequests(
  app: Server,
  { pool, counts }: { pool: pg.Pool; counts: LabelCounts },
): void {
  app.post(
    '/api/public/logRequest',
    { config: { access: 'open', ...RATE_LIMIT }, schema: logRequestSchema },
    async ({ body: { type, logKey }, ip }) => {
      const label = await findPublishedLabel(pool, logKey ?? '');
      const day = new Date().toISOString().slice(0, 10);
      // A reported visit and the front end's request of the label count as one.
      if (label && type === 'VISIT_QR') counts.add({ labelId: label.id, kind: 'VISIT' }, ip);
      if (label) await countRequest(pool, { labelId: label.id, type, day });
      return { status: 'OK' as const };
    },
  );
}
