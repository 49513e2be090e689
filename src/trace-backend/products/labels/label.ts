import { randomUUID } from 'node:crypto';
import type { Static } from 'typebox';
import { Problem } from '../../../platform/http/problems.ts';
import type { Database } from '../../../platform/postgres/database.ts';
import { listed } from '../../contract/shapes.ts';
import { LabelBody, type LabelView } from './schemas.ts';
import { deleteLabels, findLabels, insertLabel, type Label, updateLabel } from './store.ts';

/** Labels of one product, at most. */
export const MAX_LABELS = 100;

/** The fields of a label that clients do not set. */
const OURS = ['id', 'uuid', 'status', 'productId'];

/**
 * Stores the labels that were sent with a product, whose row lock the transaction holds: a label with the id or uuid
 * of an existing one changes it, any other is new. Omitted labels are deleted, except published ones, whose codes may
 * already be printed: they have to be deleted explicitly.
 */
export async function saveLabels(
  database: Database,
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
      await updateLabel(database, { ...label, content: contentOf(body) });
      left.delete(label.id);
    }
  }
  const gone = [...left.values()].filter(({ status }) => status === 'UNPUBLISHED').map(({ id }) => id);
  await deleteLabels(database, gone);
  const labels = await findLabels(database, productId);
  if (labels.length > MAX_LABELS) throw new Problem('invalid', `a product has at most ${MAX_LABELS} labels`);
  return labels;
}

/** The stored content of a label; a single field may have been sent without a list. */
export function contentOf(body: object): Record<string, unknown> {
  const entries = Object.entries(body)
    .filter(([name, value]) => !OURS.includes(name) && !(value === null && name in LabelBody.properties))
    .map(([name, value]) => [name, name === 'fields' ? listed(value) : value]);
  return Object.fromEntries(entries);
}

/** The labels of a product as its history compares them. */
export function byId(labels: readonly Label[]): Record<string, object> {
  return Object.fromEntries(
    labels.map(({ id, uuid, status, content }) => [id, { uuid, status, ...content }]),
  );
}

/** A label as in answers to users who may see its product. */
export function asLabel({ id, uuid, status, content }: Label): Static<typeof LabelView> {
  return { fields: [], ...content, id, status, uuid };
}
