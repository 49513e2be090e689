import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { Problem } from '../../platform/http/problems.ts';
import { type Database, transaction } from '../../platform/postgres/database.ts';
import type { Requester } from '../access/requester.ts';
import { audit } from '../audit/audit.ts';
import { idOf } from '../contract/schemas.ts';
import { changeableProduct } from '../products/access.ts';
import { changesBetween } from '../products/changes.ts';
import { insertChanges } from '../products/changes-store.ts';
import { byId, contentOf, MAX_LABELS } from '../products/labels/label.ts';
import {
  deleteLabels,
  findLabel,
  findLabels,
  insertLabel,
  type Label,
  updateLabel,
} from '../products/labels/store.ts';
import { touchProduct } from '../products/store.ts';
import type { Action } from './schemas.ts';

/**
 * Adds a label to a product.
 *
 * @throws Problem not_found, forbidden, invalid
 */
export async function createLabel(
  pool: pg.Pool,
  requester: Requester,
  body: { productId: string | number },
): Promise<Label> {
  const productId = idOf(body.productId);
  return change(pool, requester, productId, 'CREATE_LABEL', async (database, before) => {
    if (before.length >= MAX_LABELS)
      throw new Problem('invalid', `a product has at most ${MAX_LABELS} labels`);
    return insertLabel(database, { uuid: randomUUID(), productId, content: contentOf(body) });
  });
}

/**
 * Changes a label; omitted fields stay unchanged, null clears.
 *
 * @throws Problem not_found, forbidden
 */
export async function changeLabel(
  pool: pg.Pool,
  requester: Requester,
  id: number,
  body: object,
): Promise<Label> {
  return changeOne(pool, requester, id, 'UPDATE_LABEL', async (database, label) => {
    const cleared = Object.entries(body).filter(([, value]) => value === null);
    const kept = Object.entries(label.content).filter(([name]) => !cleared.some(([gone]) => gone === name));
    const changed = { ...label, content: { ...Object.fromEntries(kept), ...contentOf(body) } };
    await updateLabel(database, changed);
    return changed;
  });
}

/**
 * Publishes or unpublishes a label. It succeeds without a change if the label is already in that state.
 *
 * @throws Problem not_found, forbidden
 */
export async function executeOnLabel(
  pool: pg.Pool,
  requester: Requester,
  id: number,
  action: Action,
): Promise<Label> {
  const status = action === 'PUBLISH_LABEL' ? 'PUBLISHED' : 'UNPUBLISHED';
  return changeOne(pool, requester, id, action, async (database, label) => {
    await updateLabel(database, { ...label, status });
    return { ...label, status };
  });
}

/**
 * Deletes a label, also a published one, whose code then gets 404.
 *
 * @throws Problem not_found, forbidden
 */
export async function removeLabel(pool: pg.Pool, requester: Requester, id: number): Promise<void> {
  await changeOne(pool, requester, id, 'DELETE_LABEL', async (database, label) => {
    await deleteLabels(database, [id]);
    return label;
  });
}

async function changeOne(
  pool: pg.Pool,
  requester: Requester,
  id: number,
  action: string,
  work: (database: Database, label: Label) => Promise<Label>,
): Promise<Label> {
  const found = await findLabel(pool, id);
  if (!found) throw unknownLabel();
  return change(pool, requester, found.productId, action, async (database, before) => {
    const label = before.find(each => each.id === id);
    if (!label) throw unknownLabel();
    return work(database, label);
  });
}

/** Changes a label of a product, which makes a new version of the product. */
async function change(
  pool: pg.Pool,
  requester: Requester,
  productId: number,
  action: string,
  work: (database: Database, before: Label[]) => Promise<Label>,
): Promise<Label> {
  const caller = requester.caller;
  return transaction(pool, async database => {
    const product = await changeableProduct(database, caller, productId).catch(error => {
      const isForeign = error instanceof Problem && error.code === 'not_found' && action !== 'CREATE_LABEL';
      throw isForeign ? unknownLabel() : error;
    });
    const before = await findLabels(database, productId);
    const label = await work(database, before);
    const after = await findLabels(database, productId);
    const changes = changesBetween({ labels: byId(before) }, { labels: byId(after) });
    if (changes.length === 0) return label;
    const at = new Date();
    await touchProduct(database, productId, at);
    const revision = { productId, version: product.version + 1, at, userId: caller.id };
    await insertChanges(database, revision, changes);
    const details = { labelId: label.id, uuid: label.uuid };
    await audit(database, requester, { action, entity: 'product', entityId: productId, details });
    return label;
  });
}

function unknownLabel(): Problem {
  return new Problem('not_found', 'there is no such label');
}
