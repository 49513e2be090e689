import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Static } from 'typebox';
import type { Database } from '../../../../platform/database/database.ts';
import { Problem } from '../../../../platform/http/problems.ts';
import { asList } from '../../../base/contract/shapes.ts';
import type { RecordKinds } from '../../../base/records/kinds.ts';
import { dropReferences } from '../../images/references-store.ts';
import { LabelBody, type LabelField, type LabelView } from '../record/label-schemas.ts';
import { deleteLabels, findLabels, insertLabel, type Label, touchLabels, updateLabel } from './store.ts';

/** Maximum labels per product. */
export const MAX_LABELS = 100;

/** The fields of a label that clients do not set. */
const READ_ONLY = ['id', 'uuid', 'status', 'productId', 'labelId', 'businessToCustomerSettings'];

/**
 * Stores the labels that were sent with a product; the transaction holds the product's row lock. A label with the id or
 * uuid of an existing one changes it, any other is new. Omitted labels are deleted, except those in use, and published
 * ones, because their codes may be printed: they have to be deleted explicitly.
 */
export async function saveLabels(
  database: Database,
  records: RecordKinds,
  productId: number,
  sent: LabelBody | readonly LabelBody[] | null,
  before: readonly Label[],
): Promise<Label[]> {
  const unmatched = new Map(before.map(label => [label.id, label]));
  for (const body of sent === null ? [] : asList(sent)) {
    const label = [...unmatched.values()].find(
      ({ id, uuid }) => id === Number(body.id) || uuid === body.uuid?.toLowerCase(),
    );
    if (!label) await insertLabel(database, { uuid: randomUUID(), productId, content: contentOf(body) });
    else {
      const content = withVisibility(contentOf(body), label);
      await updateLabel(database, { ...label, content });
      if (!isDeepStrictEqual(content, label.content)) await touchLabels(database, [label.id]);
      unmatched.delete(label.id);
    }
  }
  const omitted = [...unmatched.values()]
    .filter(({ status }) => status === 'UNPUBLISHED')
    .map(({ id }) => id);
  const used = new Set((await records.label.findUses(database, omitted)).map(({ id }) => id));
  const removed = omitted.filter(id => !used.has(id));
  await dropReferences(database, records, 'label', removed);
  await deleteLabels(database, removed);
  const labels = await findLabels(database, productId);
  if (labels.length > MAX_LABELS) throw new Problem('label.too_many', { max: MAX_LABELS });
  return labels;
}

/** The stored content of a label; a single field may have been sent without a list. */
export function contentOf(body: object): Record<string, unknown> {
  const entries = Object.entries(body)
    .filter(([name, value]) => !READ_ONLY.includes(name) && !(value === null && name in LabelBody.properties))
    .map(([name, value]) => [name, name === 'fields' ? asList(value) : value]);
  return Object.fromEntries(entries);
}

/**
 * The content of a label that was sent with its product. Fields keep their visibility unless it is sent, because front
 * ends send only names and values there.
 */
function withVisibility(content: Label['content'], before: Label): Label['content'] {
  if (content.fields === undefined) return content;
  const fieldsBefore = new Map(
    (before.content.fields as LabelField[] | undefined)?.map(each => [each.name, each]),
  );
  const fields = (content.fields as LabelField[]).map(field => {
    const visible = field.visible ?? fieldsBefore.get(field.name)?.visible;
    return { ...field, ...(visible != null && { visible }) };
  });
  return { ...content, fields };
}

/** A label in lists. */
export function asBase(label: Label): object {
  const { fields: _, ...base } = asLabel(label);
  return base;
}

/** The labels of a product by id, in the form that its history compares. */
export function byId(labels: readonly Label[]): Record<string, object> {
  return Object.fromEntries(
    labels.map(({ id, uuid, status, content }) => [id, { uuid, status, ...content }]),
  );
}

/** A label as in answers to users who may see its product. */
export function asLabel({ id, uuid, status, productId, content }: Label): Static<typeof LabelView> {
  return { fields: [], ...content, id, productId, status, uuid };
}
