import type { Database } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import { type Fault, fault } from '../../../platform/http/reasons/catalogue.ts';
import { keepValueChains } from './store.ts';

/** Value chains of one company, at most. */
export const MAX_VALUE_CHAINS = 100;

/**
 * Checks references of a record to value chains in the transaction that stores them: they exist, and those that the
 * record did not refer to before are enabled. None of them can be deleted before the end of the transaction.
 *
 * @param path of the first one's id for the errors, such as `valueChains.0.id` or `valueChain.id`
 * @param before what the record refers to already
 * @returns each id once
 * @throws Problem invalid
 */
export async function checkedValueChains(
  database: Database,
  ids: readonly number[],
  path: (index: number) => string,
  before: readonly number[] = [],
): Promise<number[]> {
  const known = new Map((await keepValueChains(database, ids)).map(each => [each.id, each]));
  const faults: Fault[] = [];
  for (const [index, id] of ids.entries()) {
    const field = path(index);
    const found = known.get(id);
    if (!found) faults.push(fault('validation.unknown_record', { field, noun: 'value chain' }));
    else if (found.status === 'DISABLED' && !before.includes(id)) {
      const name = JSON.stringify(found.name);
      faults.push(fault('value_chain.named_is_disabled', { field, name }));
    }
  }
  if (faults.length > 0) throw new Problem(faults);
  return [...new Set(ids)];
}
