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
import type { BatchAnswer } from './forms/batch-form.ts';
import { checkAuthenticitySchema, checkOriginSchema, publicBatchSchema } from './schemas.ts';

interface BatchChecksContext {
  pool: pg.Pool;
  counts: LabelCounts;
  /** answers with the page of a label and the result of a check */
  showLabel: (reply: FastifyReply, uuid: string, answer: { batch: BatchAnswer }) => Promise<FastifyReply>;
}

/** The rate limit prevents guessing of numbers and dates. */
const CHECKS = {
  access: 'open',
  guarded: true,
  forPeople: true,
  rateLimit: { max: 60, timeWindow: 10 * 60_000 },
} as const;

/** Public checks of batches of published labels. */
export function registerBatchChecks(app: Server, context: BatchChecksContext): void {
  registerBatch(app, context);
  registerAuthenticity(app, context);
  registerOrigin(app, context);
}

function registerBatch(app: Server, { pool }: BatchChecksContext): void {
  app.get(
    '/api/public/product/label_batch/:uuid/:number',
    { config: { access: 'open', rateLimit: CHECKS.rateLimit }, schema: publicBatchSchema },
    async (request, reply) => {
      const { uuid, number } = request.params;
      const batch = await findBatchByNumber(pool, (await publishedLabel(pool, uuid)).id, number);
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
    { config: CHECKS, schema: checkAuthenticitySchema },
    async (request, reply) => {
      const { query, headers } = request;
      const { label, batch } = await findWithBatch(pool, request.params.uuid, query.number);
      reply.headers({ vary: varyOf(reply), 'cache-control': 'private, no-store' });
      if (lacksNumber(query.number, headers.accept))
        return show(reply, label, { ...query, outcome: 'NO_NUMBER' });
      const isAuthentic = batch?.checkAuthenticity === true && hasDates(batch, query);
      counts.add({ labelId: label.id, kind: isAuthentic ? 'AUTH_TRUE' : 'AUTH_FALSE' }, request.ip);
      if (!prefersPage(headers.accept)) return ok(isAuthentic);
      const outcome = !isAuthentic ? 'UNCONFIRMED' : isExpired(batch) ? 'EXPIRED' : 'AUTHENTIC';
      return show(reply, label, { ...query, outcome });
    },
  );
}

function registerOrigin(app: Server, { pool, counts, showLabel }: BatchChecksContext): void {
  const show = pageShower(showLabel);
  app.get(
    '/api/public/product/label/:uuid/verify_batch_origin',
    { config: CHECKS, schema: checkOriginSchema },
    async (request, reply) => {
      const { query, headers } = request;
      const { label, batch } = await findWithBatch(pool, request.params.uuid, query.number);
      reply.headers({ vary: varyOf(reply), 'cache-control': 'private, no-store' });
      if (lacksNumber(query.number, headers.accept))
        return show(reply, label, { ...query, outcome: 'NO_NUMBER' });
      const isTraced = batch?.traceOrigin === true;
      counts.add({ labelId: label.id, kind: isTraced ? 'ORIGIN_TRUE' : 'ORIGIN_FALSE' }, request.ip);
      const locations = isTraced ? batch.locations : [];
      if (!prefersPage(headers.accept)) return sendText(reply, JSON.stringify(ok(locations)));
      const outcome = locations.length > 0 ? 'ORIGIN' : 'NO_ORIGIN';
      return show(reply, label, { ...query, outcome, locations });
    },
  );
}

/** Returns a function that answers with the page of a label; a form without a number gets 400. */
function pageShower(showLabel: BatchChecksContext['showLabel']) {
  return (reply: FastifyReply, { uuid }: Label, batch: BatchAnswer): Promise<FastifyReply> =>
    showLabel(reply.code(batch.outcome === 'NO_NUMBER' ? 400 : 200), uuid, { batch });
}

/** A published label, and its batch with a number, if there is one. */
async function findWithBatch(
  pool: pg.Pool,
  uuid: string,
  number: string | undefined,
): Promise<{ label: Label; batch: Batch | undefined }> {
  const label = await publishedLabel(pool, uuid);
  return { label, batch: number === undefined ? undefined : await findBatchByNumber(pool, label.id, number) };
}

/** @throws Problem not_found, the same for unpublished labels and unknown ones */
async function publishedLabel(pool: pg.Pool, uuid: string): Promise<Label> {
  const label = await findPublishedLabel(pool, uuid);
  if (!label) throw new Problem('label.unknown');
  return label;
}

/** Whether the form of a page was sent without a number; that is not counted as a check. */
function lacksNumber(number: string | undefined, accept: string | undefined): boolean {
  return number === undefined && prefersPage(accept);
}

/** Whether the expiry date of a batch is before today's, in UTC. */
function isExpired({ expiryDate }: Pick<Batch, 'expiryDate'>): boolean {
  return expiryDate !== null && expiryDate < new Date().toISOString().slice(0, 10);
}

/** The public view of a batch. */
function asPublic(batch: Batch): Batch {
  return {
    ...batch,
    ...(batch.checkAuthenticity && { productionDate: null, expiryDate: null }),
    ...(!batch.traceOrigin && { locations: [] }),
  };
}

function hasDates(
  batch: Pick<Batch, 'productionDate' | 'expiryDate'>,
  entered: { productionDate?: string; expiryDate?: string },
): boolean {
  const isSame = (name: 'productionDate' | 'expiryDate') =>
    batch[name] === null || entered[name]?.slice(0, 10) === batch[name];
  return isSame('productionDate') && isSame('expiryDate');
}
