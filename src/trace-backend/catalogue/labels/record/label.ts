import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Database } from '../../../../platform/database/database.ts';
import { Problem } from '../../../../platform/http/problems.ts';
import { listed } from '../../../base/contract/shapes.ts';
import { asLabel, type Label } from '../../products/labels-of-products.ts';
import { LabelBody, type LabelField } from '../../products/record/label-schemas.ts';
import { deleteLabels, findLabels, insertLabel, touchLabels, updateLabel } from './store.ts';

/** Labels of one product, at most. */
export const MAX_LABELS = 100;

/** What depends on labels, or refers to files on their behalf, in features above this one. */
export interface LabelDependents {
  /** which of these labels are in use, and the name of what uses each */
  inUse(database: Database, labelIds: readonly number[]): Promise<{ labelId: number; name: string }[]>;
  /** ends what refers to files on behalf of these labels, before they are deleted */
  release(database: Database, labelIds: readonly number[]): Promise<void>;
}

/** The fields of a label that clients do not set. */
const OURS = ['id', 'uuid', 'status', 'productId', 'labelId', 'businessToCustomerSettings'];

/**
 * Stores the labels that were sent with a product, whose row lock the transaction holds: a label with the id or uuid
 * of an existing one changes it, any other is new. Omitted labels are deleted, except published ones, whose codes may
 * already be printed, and those in use: they have to be deleted explicitly.
 */
export async function saveLabels(
  database: Database,
  { release, inUse }: LabelDependents,
  productId: number,
  sent: LabelBody | readonly LabelBody[] | null,
  before: readonly Label[],
): Promise<Label[]> {
  const left = new Map(before.map(label => [label.id, label]));
  for (const body of sent === null ? [] : listed(sent)) {
    const label = [...left.values()].find(
      ({ id, uuid }) => id === Number(body.id) || uuid === body.uuid?.toLowerCase(),
    );
    if (!label) await insertLabel(database, { uuid: randomUUID(), productId, content: contentOf(body) });
    else {
      const content = withVisibility(contentOf(body), label);
      await updateLabel(database, { ...label, content });
      if (!isDeepStrictEqual(content, label.content)) await touchLabels(database, [label.id]);
      left.delete(label.id);
    }
  }
  const omitted = [...left.values()].filter(({ status }) => status === 'UNPUBLISHED').map(({ id }) => id);
  const used = new Set((await inUse(database, omitted)).map(({ labelId }) => labelId));
  const gone = omitted.filter(id => !used.has(id));
  await release(database, gone);
  await deleteLabels(database, gone);
  const labels = await findLabels(database, productId);
  if (labels.length > MAX_LABELS) throw new Problem('label.too_many', { max: MAX_LABELS });
  return labels;
}

/** The stored content of a label; a single field may have been sent without a list. */
export function contentOf(body: object): Record<string, unknown> {
  const entries = Object.entries(body)
    .filter(([name, value]) => !OURS.includes(name) && !(value === null && name in LabelBody.properties))
    .map(([name, value]) => [name, name === 'fields' ? listed(value) : value]);
  return Object.fromEntries(entries);
}

/**
 * The content of a label that was sent with its product: a field that says nothing about its visibility keeps it,
 * because front ends send only names and values there.
 */
function withVisibility(content: Label['content'], before: Label): Label['content'] {
  if (content.fields === undefined) return content;
  const known = new Map((before.content.fields as LabelField[] | undefined)?.map(each => [each.name, each]));
  const fields = (content.fields as LabelField[]).map(field => {
    const visible = field.visible ?? known.get(field.name)?.visible;
    return { ...field, ...(visible != null && { visible }) };
  });
  return { ...content, fields };
}

/** A label in lists. */
export function asBase(label: Label): object {
  const { fields: _, ...base } = asLabel(label);
  return base;
}
