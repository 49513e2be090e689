import { Problem } from '../../../platform/http/problems.ts';
import type { Database } from '../../../platform/postgres/database.ts';
import type { Caller } from '../../access/authentication.ts';
import { maySeeCompanies } from '../../companies/access.ts';
import { readableProduct } from '../../products/access.ts';
import { findLabel, type Label } from '../../products/label-records/store.ts';
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
  const { companyId } = product;
  if (!own.company || companyId === null || (await maySeeCompanies(database, caller, [companyId]))) {
    return { label, product, own };
  }
  const { id: ownerId, name } = own.company;
  return { label, product, own: { ...own, company: { id: ownerId, name } } };
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
  return new Problem('not_found', 'there is no such label');
}
