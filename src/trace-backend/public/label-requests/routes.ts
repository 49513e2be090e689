import type pg from 'pg';
import type { Server } from '../../../platform/http/server.ts';
import type { LabelCounts } from '../../catalogue/labels/counts/counts.ts';
import { findPublishedLabel } from '../../catalogue/products/labels/store.ts';
import { logRequestSchema } from './schemas.ts';
import { countRequest } from './store.ts';

/** Reports of one address in a minute, at most. */
const REPORTS = { rateLimit: { max: 120, timeWindow: 60_000 } };

/** What front ends report of the pages of labels. */
export function registerLabelRequests(
  app: Server,
  { pool, counts }: { pool: pg.Pool; counts: LabelCounts },
): void {
  app.post(
    '/api/public/logRequest',
    { config: { access: 'open', ...REPORTS }, schema: logRequestSchema },
    async ({ body: { type, logKey }, ip }) => {
      const label = await findPublishedLabel(pool, logKey ?? '');
      const day = new Date().toISOString().slice(0, 10);
      // A visit that a front end reports is the same as its request of the label.
      if (label && type === 'VISIT_QR') counts.add({ labelId: label.id, kind: 'VISIT' }, ip);
      if (label) await countRequest(pool, { labelId: label.id, type, day });
      return { status: 'OK' as const };
    },
  );
}
