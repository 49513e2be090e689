import type { Database } from '../../../../platform/database/database.ts';
import { ngramsOf } from '../ngrams/ngrams.ts';
import { deleteWord, insertWords, isWordUsed } from './search-store.ts';

/**
 * Removes the words of an erased message from the dictionary, unless other messages have them.
 *
 * @param folded the message's folded text
 * @returns the words that were removed
 */
export async function removeUnusedWords(database: Database, folded: string): Promise<string[]> {
  const { words, numbers } = ngramsOf(folded);
  const unused: string[] = [];
  for (const [word, number] of new Map(words.map((word, at) => [word, numbers[at] as number]))) {
    if (await isWordUsed(database, word, number)) continue;
    await deleteWord(database, word);
    unused.push(word);
  }
  return unused;
}

/**
 * Restores words that a message has after all: one written while they were being removed, or by a process that still
 * had them in its cache.
 */
export async function restoreWords(database: Database, words: readonly string[]): Promise<void> {
  for (const word of words) {
    const { numbers } = ngramsOf(word);
    if (await isWordUsed(database, word, numbers[0] as number)) await insertWords(database, [word]);
  }
}
