import type { Database } from '../../../../platform/database/database.ts';
import { Problem } from '../../../../platform/http/problems.ts';
import type { Caller } from '../../../base/access/authentication.ts';
import { notFoundAs } from '../../../base/records/changes.ts';
import { maySeeCompanies } from '../../companies/access.ts';
import { readableProduct } from '../../products/access.ts';
import type { Label } from '../../products/labels/store.ts';
import { findLabel } from '../../products/labels/store.ts';
import type { Product } from '../../products/record/store.ts';
import { copyOf } from './content.ts';
import { findOwn, type OwnContent } from './store.ts';

/** A label with its product and its own content, as a reader may see it. */
export interface LabelRead {
  label: Label;
  product: Product;
  own: OwnContent;
}

/**
 * A label for a reader of its product. A label without own content gets a copy of the product. Readers who may not see
 * the owner get only its id and name.
 *
 * @throws Problem not_found, also for callers who may not see it
 */
export async function readableLabel(database: Database, caller: Caller, id: number): Promise<LabelRead> {
  const { label, product } = await readableLabelOnly(database, caller, id);
  const own = (await findOwn(database, id)) ?? (await copyOf(database, product));
  return { label, product, own: await visibleContent(database, caller, product, own) };
}

/**
 * A label like `readableLabel`, and the content of a new label of its product for the same reader.
 *
 * @throws Problem not_found, also for callers who may not see it
 */
export async function readableWithProduct(
  database: Database,
  caller: Caller,
  id: number,
): Promise<LabelRead & { current: OwnContent }> {
  const read = await readableLabel(database, caller, id);
  const current = await copyOf(database, read.product);
  return { ...read, current: await visibleContent(database, caller, read.product, current) };
}

/** The part of a label's content that a reader may see: of an owner that they may not see, only id and name. */
async function visibleContent(
  database: Database,
  caller: Caller,
  { companyId }: Product,
  own: OwnContent,
): Promise<OwnContent> {
  if (!own.company || companyId === null || (await maySeeCompanies(database, caller, [companyId])))
    return own;
  const { id, name } = own.company;
  return { ...own, company: { id, name } };
}

/**
 * A label for a reader of its product, without its content.
 *
 * @throws Problem not_found, also for callers who may not see it
 */
export async function readableLabelOnly(
  database: Database,
  caller: Caller,
  id: number,
): Promise<Omit<LabelRead, 'own'>> {
  const label = await existingLabel(database, id);
  const product = await readableProduct(database, caller, label.productId).catch(notFoundAs(unknownLabel));
  return { label, product };
}

/** @throws Problem not_found */
export async function existingLabel(database: Database, id: number): Promise<Label> {
  const label = await findLabel(database, id);
  if (!label) throw unknownLabel();
  return label;
}

export function unknownLabel(): Problem {
  return new Problem('label.unknown');
}
