import type pg from 'pg';
import type { Database } from '../../../../platform/database/database.ts';
import { Problem } from '../../../../platform/http/problems.ts';
import type { Caller } from '../../../base/access/authentication.ts';
import type { Requester } from '../../../base/access/requester.ts';
import type { AuditAction } from '../../../base/audit/actions.ts';
import { dayOf } from '../../../base/contract/dates.ts';
import { withoutUnset } from '../../../base/contract/shapes.ts';
import { current, notFoundAs, sentFields } from '../../../base/records/changes.ts';
import type { RecordKinds } from '../../../base/records/kinds.ts';
import { setReferences } from '../../images/references-store.ts';
import { findImages } from '../../images/store.ts';
import { changeDependent } from '../../products/dependents.ts';
import type { Label } from '../../products/labels/store.ts';
import { findLabel } from '../../products/labels/store.ts';
import { describedDocument } from '../../products/view.ts';
import { existingLabel, readableLabelOnly, unknownLabel } from '../contents/read.ts';
import { type BatchBody, BatchLocations } from './schemas.ts';
import {
  type Batch,
  countBatches,
  deleteBatch,
  findBatch,
  findBatchByNumber,
  insertBatch,
  touchBatch,
  updateBatch,
} from './store.ts';

/** Maximum batches per label. */
const MAX_BATCHES = 10_000;

export interface BatchContext {
  pool: pg.Pool;
  records: RecordKinds;
}

const EMPTY = {
  productionDate: null,
  expiryDate: null,
  locations: [],
  photo: null,
  checkAuthenticity: null,
  traceOrigin: null,
  version: 1,
};

/**
 * Adds a batch to a label.
 *
 * @returns its id
 * @throws Problem not_found, forbidden, invalid
 */
export async function createBatch(
  context: BatchContext,
  requester: Requester,
  labelId: number,
  body: BatchBody & { number: string },
): Promise<number> {
  const label = await existingLabel(context.pool, labelId);
  const change = { requester, label, action: 'CREATE_LABEL_BATCH' as const, unknown: unknownLabel };
  return changeBatches(context, change, async (database, at) => {
    const { numberOfBatches } = await countBatches(database, labelId);
    if (numberOfBatches >= MAX_BATCHES) {
      throw new Problem('label_batch.too_many', { max: MAX_BATCHES });
    }
    const created = batchAfter({ ...EMPTY, id: 0, labelId, number: body.number }, body);
    await checkNumber(database, undefined, created);
    return { after: { ...created, id: await insertBatch(database, created, at) } };
  });
}

/**
 * Changes a batch; omitted fields stay unchanged.
 *
 * @throws Problem not_found, forbidden, precondition_failed, invalid
 */
export async function changeBatch(
  context: BatchContext,
  requester: Requester,
  id: number,
  body: BatchBody,
): Promise<void> {
  await changeExisting(context, requester, id, 'UPDATE_LABEL_BATCH', async (database, before, at) => {
    const after = batchAfter(before, body);
    await checkNumber(database, before, after);
    await updateBatch(database, after, at);
    return { before, after };
  });
}

/** @throws Problem not_found, forbidden, precondition_failed */
export async function removeBatch(context: BatchContext, requester: Requester, id: number): Promise<void> {
  await changeExisting(context, requester, id, 'DELETE_LABEL_BATCH', async (database, before) => {
    await deleteBatch(database, id);
    return { before };
  });
}

interface Work {
  before?: Batch;
  after?: Batch;
}

async function changeExisting(
  context: BatchContext,
  requester: Requester,
  id: number,
  action: AuditAction,
  work: (database: Database, before: Batch, at: Date) => Promise<Work>,
): Promise<void> {
  const batch = await findBatch(context.pool, id);
  const label = batch && (await findLabel(context.pool, batch.labelId));
  if (!label) throw unknownBatch();
  await changeBatches(context, { requester, label, action, unknown: unknownBatch }, async (database, at) => {
    return work(database, current(requester, await findBatch(database, id), unknownBatch), at);
  });
}

interface Change {
  requester: Requester;
  label: Label;
  action: AuditAction;
  unknown: () => Problem;
}

/** Changes a batch in the history of its product; returns its id. */
async function changeBatches(
  { pool, records }: BatchContext,
  { requester, label, action, unknown }: Change,
  work: (database: Database, at: Date) => Promise<Work>,
): Promise<number> {
  const { id: labelId, productId } = label;
  return changeDependent({ pool, requester, productId, action, unknown }, async database => {
    if (!(await findLabel(database, labelId))) throw unknown();
    const { before, after } = await work(database, new Date());
    const { id, number } = (after ?? before) as Batch;
    const record = { entity: 'label_batch', entityId: id } as const;
    const field = 'photo.storageKey';
    const photos = after?.photo ? [{ field, storageKey: after.photo, kind: 'image' as const }] : [];
    await setReferences(database, { caller: requester.caller, records }, record, photos);
    const state = (batch: Batch | undefined) => ({
      labels: { [labelId]: { batches: { [id]: batch && { ...batch, version: undefined } } } },
    });
    return {
      result: id,
      before: state(before),
      after: state(after),
      details: { labelId, batchId: id, number },
      ...(before && after && { next: () => touchBatch(database, id).then(() => id) }),
    };
  });
}

/** A batch after a change. */
function batchAfter(before: Batch, body: BatchBody): Batch {
  const { number, productionDate, expiryDate, locations, photo, checkAuthenticity, traceOrigin } = body;
  const sent = sentFields({
    number: number ?? undefined,
    productionDate: productionDate && dayOf('productionDate', productionDate),
    expiryDate: expiryDate && dayOf('expiryDate', expiryDate),
    locations: locations === null ? [] : withoutUnset(locations, BatchLocations),
    photo: photo && (photo.storageKey?.toLowerCase() ?? undefined),
    checkAuthenticity,
    traceOrigin,
  });
  return { ...before, ...sent } as Batch;
}

/** Checks that a new number is unique. An unchanged one is not checked: older numbers may differ only in case. */
async function checkNumber(database: Database, before: Batch | undefined, after: Batch): Promise<void> {
  const { id, labelId, number } = after;
  if (number === before?.number || !(await findBatchByNumber(database, labelId, number, id))) return;
  throw new Problem('label_batch.number_taken', { field: 'number' });
}

/**
 * A batch for a reader of its product.
 *
 * @throws Problem not_found, also for callers who may not see it
 */
export async function readableBatch(database: Database, caller: Caller, id: number): Promise<Batch> {
  const batch = await findBatch(database, id);
  if (!batch) throw unknownBatch();
  await readableLabelOnly(database, caller, batch.labelId).catch(notFoundAs(unknownBatch));
  return batch;
}

/** Batches as in answers, in order. */
export async function asBatches(database: Database, batches: readonly Batch[]): Promise<object[]> {
  const images = await findImages(
    database,
    batches.flatMap(({ photo }) => photo ?? []),
  );
  return batches.map(({ photo, version: _, ...batch }) => {
    const fields = { ...batch, locations: withoutUnset(batch.locations, BatchLocations) };
    const set = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
    return { ...set, ...(photo && { photo: describedDocument({ storageKey: photo }, images) }) };
  });
}

export function unknownBatch(): Problem {
  return new Problem('label_batch.unknown');
}
