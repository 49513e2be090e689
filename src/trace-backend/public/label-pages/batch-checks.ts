import type { FastifyReply } from 'fastify';
import type pg from 'pg';
import { prefersPage, varyOf } from '../../../platform/http/page.ts';
import { Problem } from '../../../platform/http/problems.ts';
import { type Server, sendText } from '../../../platform/http/server.ts';
import { ok } from '../../base/contract/envelope.ts';
import { asBatches, unknownBatch } from '../../catalogue/labels/batches/batches.ts';
import { type Batch, findBatchByNumber } from '../../catalogue/labels/batches/store.ts';
import type { LabelCounts } from '../../catalogue/labels/counts/counts.ts';
import type { Label } from '../../catalogue/products/labels/store.ts';
import { findPublishedLabel } from '../../catalogue/products/labels/store.ts';
import type { AskedBatch } from './forms/batch-form.ts';
import { checkAuthenticitySchema, checkOriginSchema, publicBatchSchema } from './schemas.ts';

export interface BatchChecksContext {
  pool: pg.Pool;
  counts: LabelCounts;
  /** answers with the page of a label, and a batch that was asked for */
  showLabel: (reply: FastifyReply, uuid: string, asked: { batch: AskedBatch }) => Promise<FastifyReply>;
}

/** Numbers and dates must not be found by trying. */
const CHECKS = {
  access: 'open',
  guarded: true,
  forPeople: true,
  rateLimit: { max: 60, timeWindow: 10 * 60_000 },
} as const;

/** What everyone can ask about batches of published labels. */
export function registerBatchChecks(app: Server, context: BatchChecksContext): void {
  registerBatch(app, context);
  registerAuthenticity(app, context);
  registerOrigin(app, context);
}

function registerBatch(app: Server, { pool }: BatchChecksContext): void {
  app.get(
    '/api/public/product/label_batch/:uuid/:number',
    {
      config: { access: 'open', rateLimit: CHECKS.rateLimit },
      schema: publicBatchSchema,
    },
    async (request, reply) => {
      const { uuid, number } = request.params;
      const batch = await findBatchByNumber(pool, (await published(pool, uuid)).id, number);
      if (!batch) throw unknownBatch();
      const [answer] = await asBatches(pool, [asPublic(batch)]);
      return sendText(reply.header('cache-control', 'no-cache'), JSON.stringify(ok(answer)));
    },
  );
}

function registerAuthenticity(app: Server, { pool, counts, showLabel }: BatchChecksContext): void {
  const show = pageShower(showLabel);
  app.get(
    '/api/public/product/label/:uuid/verify_batch_authenticity',
    {
      config: CHECKS,
      schema: checkAuthenticitySchema,
    },
    async (request, reply) => {
      const { query: asked, headers } = request;
      const { label, batch } = await findAsked(pool, request.params.uuid, asked.number);
      reply.headers({ vary: varyOf(reply), 'cache-control': 'private, no-store' });
      if (lacksNumber(asked.number, headers.accept))
        return show(reply, label, { ...asked, outcome: 'NO_NUMBER' });
      const isAuthentic = batch?.checkAuthenticity === true && hasDates(batch, asked);
      counts.add({ labelId: label.id, kind: isAuthentic ? 'AUTH_TRUE' : 'AUTH_FALSE' }, request.ip);
      if (!prefersPage(headers.accept)) return ok(isAuthentic);
      const outcome = !isAuthentic ? 'UNCONFIRMED' : isExpired(batch) ? 'EXPIRED' : 'AUTHENTIC';
      return show(reply, label, { ...asked, outcome });
    },
  );
}

function registerOrigin(app: Server, { pool, counts, showLabel }: BatchChecksContext): void {
  const show = pageShower(showLabel);
  app.get(
    '/api/public/product/label/:uuid/verify_batch_origin',
    {
      config: CHECKS,
      schema: checkOriginSchema,
    },
    async (request, reply) => {
      const { query: asked, headers } = request;
      const { label, batch } = await findAsked(pool, request.params.uuid, asked.number);
      reply.headers({ vary: varyOf(reply), 'cache-control': 'private, no-store' });
      if (lacksNumber(asked.number, headers.accept))
        return show(reply, label, { ...asked, outcome: 'NO_NUMBER' });
      const isTraced = batch?.traceOrigin === true;
      counts.add({ labelId: label.id, kind: isTraced ? 'ORIGIN_TRUE' : 'ORIGIN_FALSE' }, request.ip);
      const locations = isTraced ? batch.locations : [];
      if (!prefersPage(headers.accept)) return sendText(reply, JSON.stringify(ok(locations)));
      const outcome = locations.length > 0 ? 'ORIGIN' : 'NO_ORIGIN';
      return show(reply, label, { ...asked, outcome, locations });
    },
  );
}

/** Gives what answers with the page of a label; a form without a number is 400. */
function pageShower(showLabel: BatchChecksContext['showLabel']) {
  return (reply: FastifyReply, { uuid }: Label, batch: AskedBatch): Promise<FastifyReply> =>
    showLabel(reply.code(batch.outcome === 'NO_NUMBER' ? 400 : 200), uuid, { batch });
}

/** A published label, and its batch that was asked for, if there is one. */
async function findAsked(
  pool: pg.Pool,
  uuid: string,
  number: string | undefined,
): Promise<{ label: Label; batch: Batch | undefined }> {
  const label = await published(pool, uuid);
  return { label, batch: number === undefined ? undefined : await findBatchByNumber(pool, label.id, number) };
}

/** @throws Problem not_found, the same for unpublished labels and unknown ones */
async function published(pool: pg.Pool, uuid: string): Promise<Label> {
  const label = await findPublishedLabel(pool, uuid);
  if (!label) throw new Problem('label.unknown');
  return label;
}

/** Whether the form of a page was sent without a number, which is no check. */
function lacksNumber(number: string | undefined, accept: string | undefined): boolean {
  return number === undefined && prefersPage(accept);
}

/** Whether the expiry date of a batch is before today's, in UTC. */
function isExpired({ expiryDate }: Pick<Batch, 'expiryDate'>): boolean {
  return expiryDate !== null && expiryDate < new Date().toISOString().slice(0, 10);
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
