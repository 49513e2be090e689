import type { Database } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import { idOf } from '../../base/contract/schemas.ts';
import { keepValueChains } from '../value-chains/store.ts';
import type { ProductBody } from './record/schemas.ts';

/**
 * The value chain of a product after a change: the one sent, or the previous one; null clears. A previous one may stay
 * if it is disabled.
 *
 * @throws Problem invalid for a value chain that is unknown or disabled
 */
export async function valueChainOf(
  database: Database,
  sent: ProductBody['valueChain'],
  before: number | null,
): Promise<number | null> {
  if (sent === null) return null;
  if (sent?.id == null) return before;
  const id = idOf(sent.id);
  if (id === before) return before;
  const [valueChain] = await keepValueChains(database, [id]);
  if (valueChain?.status === 'ENABLED') return id;
  throw new Problem('value_chain.not_enabled', { field: 'valueChain.id' });
}
