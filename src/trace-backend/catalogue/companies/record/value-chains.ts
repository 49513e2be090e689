import type { Static } from 'typebox';
import type { Database } from '../../../../platform/database/database.ts';
import type { Language } from '../../../base/contract/language.ts';
import { setCompanyValueChains } from '../../value-chains/companies-store.ts';
import { checkedValueChains } from '../../value-chains/references.ts';
import { briefValueChains } from '../../value-chains/view.ts';
import type { BriefValueChain } from './profile-schemas.ts';
import type { Company } from './store.ts';

/**
 * Replaces the value chains of a company, whose row lock the transaction holds.
 *
 * @param before its present value chains
 * @throws Problem invalid, with the field of each value chain that is not allowed
 */
export async function setValueChains(
  database: Database,
  companyId: number,
  ids: readonly number[],
  before: readonly number[],
): Promise<void> {
  const checked = await checkedValueChains(database, ids, index => `valueChains.${index}.id`, before);
  await setCompanyValueChains(database, companyId, checked);
}

/** The value chains of a company, in its order. */
export async function valueChainsOf(
  database: Database,
  { valueChainIds }: Company,
  language: Language,
): Promise<Static<typeof BriefValueChain>[]> {
  if (valueChainIds.length === 0) return [];
  const valueChains = await briefValueChains(database, valueChainIds, language);
  // Product types have a code and a name.
  return valueChains as Static<typeof BriefValueChain>[];
}
