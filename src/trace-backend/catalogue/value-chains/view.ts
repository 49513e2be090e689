import type { Static } from 'typebox';
import type { Database } from '../../../platform/database/database.ts';
import type { Language } from '../../base/contract/language.ts';
import { CODE_LISTS, type CodeList } from '../codes/lists.ts';
import { findCodes } from '../codes/store.ts';
import { asCodes, type ShownCode } from '../codes/view.ts';
import type { ValueChain as ValueChainSchema } from './schemas.ts';
import { findLinks, findValueChains, LINK_FIELDS, LINKS, type LinkField, type ValueChain } from './store.ts';

/** Value chains as in lists and in other records, with texts in a language. */
export async function asBriefValueChains(
  database: Database,
  valueChains: readonly ValueChain[],
  language: Language,
): Promise<Static<typeof ValueChainSchema>[]> {
  const ids = [...new Set(valueChains.flatMap(({ productTypeId }) => productTypeId ?? []))];
  const types = new Map(
    (await briefCodes(database, CODE_LISTS.productTypes, ids, language)).map(type => [type.id, type]),
  );
  return valueChains.map(({ id, name, description, status, productTypeId }) => {
    const productType = productTypeId === null ? undefined : types.get(productTypeId);
    return {
      id,
      name,
      ...(description !== null && { description }),
      valueChainStatus: status,
      ...(productType && { productType }),
    };
  });
}

/** Value chains in the order of these ids, for answers about other records. */
export async function briefValueChains(
  database: Database,
  ids: readonly number[],
  language: Language,
): Promise<Static<typeof ValueChainSchema>[]> {
  return asBriefValueChains(database, await findValueChains(database, ids), language);
}

/** A value chain with the codes that are used in it. */
export async function asValueChain(database: Database, valueChain: ValueChain, language: Language) {
  const [brief] = await asBriefValueChains(database, [valueChain], language);
  const links = await findLinks(database, valueChain.id);
  const codes: [LinkField, ShownCode[]][] = [];
  for (const field of LINK_FIELDS) {
    codes.push([field, await briefCodes(database, LINKS[field].list, links[field], language)]);
  }
  return {
    ...(brief as Static<typeof ValueChainSchema>),
    ...(Object.fromEntries(codes) as Record<LinkField, ShownCode[]>),
  };
}

async function briefCodes(
  database: Database,
  list: CodeList,
  ids: readonly number[],
  language: Language,
): Promise<ShownCode[]> {
  return asCodes(database, list, await findCodes(database, list, ids), language, false);
}
