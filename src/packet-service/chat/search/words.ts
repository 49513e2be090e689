import { coalesce } from '../../../platform/concurrency/coalesce.ts';
import type { Database } from '../../../platform/postgres/database.ts';
import type { ChatMessage } from '../message.ts';
import { insertWords } from './search-store.ts';

/** Words remembered in each of two generations; some tens of megabytes at most. */
const GENERATION = 100_000;

/** Makes sure that the dictionary has the words of a message; resolves when that is durable. */
export type WordKeeper = (message: Pick<ChatMessage, 'words' | 'pieces'>) => Promise<void>;

/**
 * Keeps the dictionary of chat_words: every word of a message is there before the message is. Most words were met
 * before and cost nothing; new ones of messages that arrive together are one insert.
 *
 * Words are remembered by the numbers they have as pieces: a look-up by text hashes it, which took longer than to cut
 * it out. Where two share a number, one of them is inserted each time it comes, which harms nothing.
 */
export function wordKeeper(database: Database): WordKeeper {
  let recent = new Map<number, string>();
  let older = new Map<number, string>();
  const insert = coalesce(
    async (words: string[]) => {
      await insertWords(database, words);
      return words;
    },
    { max: 2000 },
  );

  function remember(number: number, word: string): void {
    if (recent.size >= GENERATION) {
      older = recent;
      recent = new Map();
    }
    recent.set(number, word);
  }

  async function add(number: number, word: string): Promise<void> {
    await insert(word);
    remember(number, word);
  }

  return async ({ words, pieces }) => {
    const added: Promise<void>[] = [];
    for (let at = 0; at < words.length; at++) {
      const [word, number] = [words[at] as string, pieces[at] as number];
      if (recent.get(number) === word) continue;
      if (older.get(number) === word) remember(number, word);
      else added.push(add(number, word));
    }
    if (added.length > 0) await Promise.all(added);
  };
}
