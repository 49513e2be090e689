import type { Database } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import { type Fault, fault } from '../../../platform/http/reasons/catalogue.ts';
import { keepValueChains } from './store.ts';

/** Maximum value chains per company. */
export const MAX_VALUE_CHAINS = 100;

/**
 * Checks references of a record to value chains in the transaction that stores them: all exist, and new ones are enabled.
 * None can be deleted before the end of the transaction.
 *
 * @param path returns the path of the id with an index for errors, such as `valueChains.0.id`
 * @param before the present references of the record
 * @returns each id once
 * @throws Problem invalid
 */
export async function checkedValueChains(
  database: Database,
  ids: readonly number[],
  path: (index: number) => string,
  before: readonly number[] = [],
): Promise<number[]> {
  const byId = new Map((await keepValueChains(database, ids)).map(each => [each.id, each]));
  const faults: Fault[] = [];
  for (const [index, id] of ids.entries()) {
    const field = path(index);
    const found = byId.get(id);
    if (!found) faults.push(fault('validation.unknown_record', { field, noun: 'value chain' }));
    else if (found.status === 'DISABLED' && !before.includes(id)) {
      const name = JSON.stringify(found.name);
      faults.push(fault('value_chain.named_is_disabled', { field, name }));
    }
  }
  if (faults.length > 0) throw new Problem(faults);
  return [...new Set(ids)];
}
