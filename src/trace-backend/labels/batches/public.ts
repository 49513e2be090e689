import type pg from 'pg';
import { Problem } from '../../../platform/http/problems.ts';
import { type Server, sendText } from '../../../platform/http/server.ts';
import { ok } from '../../contract/envelope.ts';
import { findPublishedLabel, type Label } from '../../products/label-records/store.ts';
import type { LabelCounts } from '../counts/counts.ts';
import { asBatches, unknownBatch } from './batches.ts';
import { checkAuthenticitySchema, checkOriginSchema, publicBatchSchema } from './schemas.ts';
import { type Batch, findBatchByNumber } from './store.ts';

export interface PublicBatchContext {
  pool: pg.Pool;
  counts: LabelCounts;
}

/** Numbers and dates must not be found by trying. */
const CHECKS = { access: 'open', guarded: true, rateLimit: { max: 60, timeWindow: 10 * 60_000 } } as const;

/** What everyone can ask about batches of published labels. */
export function registerPublicBatches(app: Server, { pool, counts }: PublicBatchContext): void {
  app.get(
    '/api/public/product/label_batch/:uuid/:number',
    {
      config: { access: 'open', rateLimit: CHECKS.rateLimit },
      schema: publicBatchSchema,
    },
    async (request, reply) => {
      const { uuid, number } = request.params;
      const batch = await findBatchByNumber(pool, (await published(uuid)).id, number);
      if (!batch) throw unknownBatch();
      const [answer] = await asBatches(pool, [asPublic(batch)]);
      return sendText(reply.header('cache-control', 'no-cache'), JSON.stringify(ok(answer)));
    },
  );

  app.get(
    '/api/public/product/label/:uuid/verify_batch_authenticity',
    {
      config: CHECKS,
      schema: checkAuthenticitySchema,
    },
    async request => {
      const label = await published(request.params.uuid);
      const { number, ...dates } = request.query;
      const batch = number === undefined ? undefined : await findBatchByNumber(pool, label.id, number);
      const isAuthentic = batch?.checkAuthenticity === true && hasDates(batch, dates);
      counts.add({ labelId: label.id, kind: isAuthentic ? 'AUTH_TRUE' : 'AUTH_FALSE' }, request.ip);
      return ok(isAuthentic);
    },
  );

  app.get(
    '/api/public/product/label/:uuid/verify_batch_origin',
    {
      config: CHECKS,
      schema: checkOriginSchema,
    },
    async (request, reply) => {
      const label = await published(request.params.uuid);
      const { number } = request.query;
      const batch = number === undefined ? undefined : await findBatchByNumber(pool, label.id, number);
      const isTraced = batch?.traceOrigin === true;
      counts.add({ labelId: label.id, kind: isTraced ? 'ORIGIN_TRUE' : 'ORIGIN_FALSE' }, request.ip);
      return sendText(reply, JSON.stringify(ok(isTraced ? batch.locations : [])));
    },
  );

  /** @throws Problem not_found, the same for unpublished labels and unknown ones */
  async function published(uuid: string): Promise<Label> {
    const label = await findPublishedLabel(pool, uuid);
    if (!label) throw new Problem('not_found', 'there is no such label');
    return label;
  }
}

/** A batch without what its label does not show to everyone. */
function asPublic(batch: Batch): Batch {
  return {
    ...batch,
    ...(batch.checkAuthenticity && { productionDate: null, expiryDate: null }),
    ...(!batch.traceOrigin && { locations: [] }),
  };
}

function hasDates(
  batch: Pick<Batch, 'productionDate' | 'expiryDate'>,
  given: { productionDate?: string; expiryDate?: string },
): boolean {
  const isSame = (name: 'productionDate' | 'expiryDate') =>
    batch[name] === null || given[name]?.slice(0, 10) === batch[name];
  return isSame('productionDate') && isSame('expiryDate');
}
