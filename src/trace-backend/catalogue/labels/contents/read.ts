import type { Database } from '../../../../platform/database/database.ts';
import { Problem } from '../../../../platform/http/problems.ts';
import type { Caller } from '../../../base/access/authentication.ts';
import { maySeeCompanies } from '../../companies/access.ts';
import { readableProduct } from '../../products/access.ts';
import type { Label } from '../../products/labels/store.ts';
import { findLabel } from '../../products/labels/store.ts';
import type { Product } from '../../products/record/store.ts';
import { copyOf } from './content.ts';
import { findOwn, type OwnContent } from './store.ts';

/** A label with its product and its own content. */
export interface Read {
  label: Label;
  product: Product;
  own: OwnContent;
}

/**
 * A label for a reader of its product; without own content yet, with what it would copy. To readers who may not see the
 * owner, its copy tells only its name.
 *
 * @throws Problem not_found, also if they may not see it
 */
export async function readableLabel(database: Database, caller: Caller, id: number): Promise<Read> {
  const { label, product } = await readableLabelOnly(database, caller, id);
  const own = (await findOwn(database, id)) ?? (await copyOf(database, product));
  return { label, product, own: await asSeen(database, caller, product, own) };
}

/**
 * A label like `readableLabel`, and what a new label of its product would tell the reader.
 *
 * @throws Problem not_found, also if they may not see it
 */
export async function readableWithProduct(
  database: Database,
  caller: Caller,
  id: number,
): Promise<Read & { current: OwnContent }> {
  const read = await readableLabel(database, caller, id);
  const current = await copyOf(database, read.product);
  return { ...read, current: await asSeen(database, caller, read.product, current) };
}

/** The content of a label as a reader sees it: of an owner that they may not see, only the name. */
async function asSeen(
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
 * @throws Problem not_found, also if they may not see it
 */
export async function readableLabelOnly(
  database: Database,
  caller: Caller,
  id: number,
): Promise<Omit<Read, 'own'>> {
  const label = await findLabel(database, id);
  if (!label) throw unknownLabel();
  const product = await readableProduct(database, caller, label.productId).catch(error => {
    throw error instanceof Problem && error.code === 'not_found' ? unknownLabel() : error;
  });
  return { label, product };
}

export function unknownLabel(): Problem {
  return new Problem('label.unknown');
}
