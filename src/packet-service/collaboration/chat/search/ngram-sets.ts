import type { Database } from '../../../../platform/database/database.ts';
import { geoidNumber, ngramNumber, ngramQuery } from '../ngrams/ngrams.ts';
import { findWords } from './search-store.ts';

/** Maximum sets per look-up. */
const MAX_SETS = 250;

/**
 * Sets of n-gram numbers to ask the index for: every match has all of one set. Empty if there can be no match;
 * `useless` if the index would not narrow the search.
 */
export type NgramSets = readonly (readonly number[])[] | 'useless';

/**
 * A part of a word becomes all words of the dictionary that contain it; two such parts become each pair of words.
 */
export async function ngramSets(
  database: Database,
  { keyword, geoid }: { keyword?: string | undefined; geoid?: string | undefined },
): Promise<NgramSets> {
  const { required, parts } = ngramQuery(keyword ?? '');
  const known = [...required, ...(geoid === undefined ? [] : [geoidNumber(geoid)])];
  const selective = parts.filter(({ text }) => text.length > 1);
  // Most words contain any one letter: a single letter is looked up only where nothing else narrows.
  const searched = selective.length + known.length > 0 ? selective : parts;
  const words = await Promise.all(searched.map(part => findWords(database, part, MAX_SETS + 1)));
  let sets = [known];
  for (const list of words.sort((a, b) => a.length - b.length)) {
    if (sets.length * list.length > MAX_SETS) break;
    sets = sets.flatMap(set => list.map(word => [...set, ngramNumber(word)]));
  }
  return sets[0]?.length === 0 ? 'useless' : sets;
}
