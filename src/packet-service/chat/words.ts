import { coalesce } from '../../platform/coalesce.ts';
import type { Database } from '../../platform/database.ts';
import { insertWords } from './search-store.ts';

/** Words remembered in each of two generations; some tens of megabytes at most. */
const GENERATION = 100_000;

/** Makes sure that the dictionary has words; resolves when that is durable. */
export type WordKeeper = (words: ReadonlySet<string>) => Promise<void>;

/**
 * Keeps the dictionary of chat_words: every word of a message is there before the message is. Most words were met
 * before and cost nothing; new ones of messages that arrive together are one insert.
 */
export function wordKeeper(database: Database): WordKeeper {
  let recent = new Set<string>();
  let older = new Set<string>();
  const insert = coalesce(
    async (words: string[]) => {
      await insertWords(database, words);
      return words;
    },
    { max: 2000 },
  );

  function remember(word: string): void {
    if (recent.size >= GENERATION) {
      older = recent;
      recent = new Set();
    }
    recent.add(word);
  }

  return async words => {
    const unknown: Promise<string>[] = [];
    for (const word of words) {
      if (recent.has(word)) continue;
      if (older.has(word)) remember(word);
      else unknown.push(insert(word));
    }
    if (unknown.length > 0) for (const word of await Promise.all(unknown)) remember(word);
  };
}
