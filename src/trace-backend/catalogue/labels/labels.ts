import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Database } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Requester } from '../../base/access/requester.ts';
import type { AuditAction } from '../../base/audit/actions.ts';
import { idOf } from '../../base/contract/schemas.ts';
import { current } from '../../base/records/changes.ts';
import type { RecordKinds } from '../../base/records/kinds.ts';
import { dropReferences } from '../images/references-store.ts';
import { changeDependent } from '../products/dependents.ts';
import { byId, contentOf, MAX_LABELS } from '../products/labels/label.ts';
import type { Label } from '../products/labels/store.ts';
import { deleteLabels, findLabels, insertLabel, touchLabels, updateLabel } from '../products/labels/store.ts';
import type { Product } from '../products/record/store.ts';
import { contentAfter, copyOf } from './contents/content.ts';
import { existingLabel, unknownLabel } from './contents/read.ts';
import type { ContentBody } from './contents/schemas.ts';
import { fieldsOf, settle } from './contents/settle.ts';
import { findOwn } from './contents/store.ts';
import type { Action } from './schemas.ts';
import { dividedValues, fieldsAfter, type SentValue } from './values.ts';

/** Maximum fields per label. */
const MAX_FIELDS = 200;

export interface WritingContext {
  pool: pg.Pool;
  records: RecordKinds;
}

/**
 * Adds a label to a product.
 *
 * @throws Problem not_found, forbidden, invalid
 */
export async function createLabel(
  context: WritingContext,
  requester: Requester,
  body: { productId: string | number },
): Promise<Label> {
  const productId = idOf(body.productId);
  return change(context, requester, productId, 'CREATE_LABEL', async (database, before) => {
    if (before.length >= MAX_LABELS) throw new Problem('label.too_many', { max: MAX_LABELS });
    return insertLabel(database, { uuid: randomUUID(), productId, content: contentOf(body) });
  });
}

/**
 * Changes a label; omitted fields stay unchanged, null clears.
 *
 * @throws Problem not_found, forbidden, precondition_failed
 */
export async function changeLabel(
  context: WritingContext,
  requester: Requester,
  id: number,
  body: object,
): Promise<Label> {
  return changeExisting(context, requester, id, 'UPDATE_LABEL', async (database, label) => {
    const cleared = Object.entries(body).filter(([, value]) => value === null);
    const kept = Object.entries(label.content).filter(([name]) => !cleared.some(([field]) => field === name));
    const changed = { ...label, content: { ...Object.fromEntries(kept), ...contentOf(body) } };
    await updateLabel(database, changed);
    return changed;
  });
}

/**
 * Publishes or unpublishes a label. It succeeds without a change if the label is already in that state.
 *
 * @throws Problem not_found, forbidden, precondition_failed
 */
export async function executeOnLabel(
  context: WritingContext,
  requester: Requester,
  id: number,
  action: Action,
): Promise<Label> {
  const status = action === 'PUBLISH_LABEL' ? 'PUBLISHED' : 'UNPUBLISHED';
  return changeExisting(context, requester, id, action, async (database, label) => {
    await updateLabel(database, { ...label, status });
    return { ...label, status };
  });
}

/**
 * Deletes a label. The code of a published one then leads to 404.
 *
 * @throws Problem not_found, forbidden, precondition_failed; invalid if it is in use
 */
export async function removeLabel(context: WritingContext, requester: Requester, id: number): Promise<void> {
  await changeExisting(context, requester, id, 'DELETE_LABEL', async (database, label) => {
    const [use] = await context.records.label.findUses(database, [id]);
    if (use) throw new Problem('label.in_use', { name: use.name });
    await dropReferences(database, context.records, 'label', [id]);
    await deleteLabels(database, [id]);
    return label;
  });
}

/**
 * Changes a label's own content; omitted fields stay unchanged.
 *
 * @throws Problem not_found, forbidden, precondition_failed, invalid
 */
export async function changeContent(
  context: WritingContext,
  requester: Requester,
  id: number,
  body: ContentBody,
): Promise<void> {
  await changeWithContent(context, requester, id, 'UPDATE_LABEL_CONTENT', { body, edit: label => label });
}

/**
 * Sets values of a label's fields: in its own content if a field's name is a path there, otherwise in the field.
 *
 * @throws Problem not_found, forbidden, precondition_failed, invalid
 */
export async function changeValues(
  context: WritingContext,
  requester: Requester,
  id: number,
  {
    fields = [],
    ...sent
  }: { fields?: readonly SentValue[]; title?: string | null; language?: string | null },
): Promise<void> {
  const { content: body, own } = dividedValues(fields);
  const edit = (label: Label) => {
    const nextFields = fieldsAfter(fieldsOf(label), own);
    if (nextFields.length > MAX_FIELDS) throw new Problem('label.too_many_fields', { max: MAX_FIELDS });
    return { ...label, content: { ...label.content, ...contentOf({ ...sent, fields: nextFields }) } };
  };
  await changeWithContent(context, requester, id, 'UPDATE_LABEL', { body, edit });
}

async function changeWithContent(
  { pool, records }: WritingContext,
  requester: Requester,
  id: number,
  action: AuditAction,
  { body, edit }: { body: ContentBody; edit: (label: Label) => Label },
): Promise<void> {
  const { productId } = await existingLabel(pool, id);
  await changeDependent(
    { pool, requester, productId, action, unknown: unknownLabel },
    async (database, product) => {
      const label = currentLabel(await findLabels(database, productId), id, requester);
      const own = (await findOwn(database, id)) ?? (await copyOf(database, product));
      const [edited, after] = [edit(label), contentAfter(own, body)];
      await updateLabel(database, edited);
      await settle(database, { caller: requester.caller, records }, product, edited, after);
      return {
        result: undefined,
        before: { labels: { [id]: { ...byId([label])[id], content: own } } },
        after: { labels: { [id]: { ...byId([edited])[id], content: after } } },
        details: { labelId: id, uuid: label.uuid },
        next: () => touchLabels(database, [id]),
      };
    },
  );
}

async function changeExisting(
  context: WritingContext,
  requester: Requester,
  id: number,
  action: AuditAction,
  work: (database: Database, label: Label) => Promise<Label>,
): Promise<Label> {
  const { productId } = await existingLabel(context.pool, id);
  return change(context, requester, productId, action, (database, before) => {
    return work(database, currentLabel(before, id, requester));
  });
}

function currentLabel(labels: readonly Label[], id: number, requester: Requester): Label {
  return current(
    requester,
    labels.find(each => each.id === id),
    unknownLabel,
  );
}

/** Changes a label of a product, which makes a new version of the product. */
async function change(
  { pool, records }: WritingContext,
  requester: Requester,
  productId: number,
  action: AuditAction,
  work: (database: Database, before: Label[], product: Product) => Promise<Label>,
): Promise<Label> {
  const isNew = action === 'CREATE_LABEL';
  const target = { pool, requester, productId, action, ...(!isNew && { unknown: unknownLabel }) };
  return changeDependent(target, async (database, product) => {
    const before = await findLabels(database, productId);
    const label = await work(database, before, product);
    const after = await findLabels(database, productId);
    const exists = after.some(({ id }) => id === label.id);
    if (exists) await settle(database, { caller: requester.caller, records }, product, label);
    return {
      result: label,
      before: { labels: byId(before) },
      after: { labels: byId(after) },
      details: { labelId: label.id, uuid: label.uuid },
      ...(exists && !isNew && { next }),
    };

    async function next() {
      await touchLabels(database, [label.id]);
      return { ...label, version: label.version + 1 };
    }
  });
}
