import { batchLoader } from '../../../../platform/concurrency/batch-loader.ts';
import type { Database } from '../../../../platform/database/database.ts';
import type { ChatMessage } from '../messages/message.ts';
import { insertWords } from './search-store.ts';

/** Words remembered in each of two generations; some tens of megabytes at most. */
const GENERATION = 100_000;

/** Adds missing words of a message to the dictionary; resolves when they are committed. */
export interface AddWords {
  (message: Pick<ChatMessage, 'words' | 'ngrams'>): Promise<void>;
  /** Clears the cache: words may have been removed from the dictionary. */
  forget(): void;
}

/**
 * Keeps the dictionary in chat_words complete: every word of a message is in it before the message is written. Known
 * words are cached; new words of messages that arrive together are one insert.
 *
 * Words are remembered by their n-gram number, because hashing the text again would take longer than splitting it. If
 * two words share a number, one of them is inserted each time, which is harmless.
 */
export function wordAdder(database: Database): AddWords {
  let recent = new Map<number, string>();
  let older = new Map<number, string>();
  const insert = batchLoader(
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

  async function keep({ words, ngrams }: Pick<ChatMessage, 'words' | 'ngrams'>): Promise<void> {
    const added: Promise<void>[] = [];
    for (let at = 0; at < words.length; at++) {
      const [word, number] = [words[at] as string, ngrams[at] as number];
      if (recent.get(number) === word) continue;
      if (older.get(number) === word) remember(number, word);
      else added.push(add(number, word));
    }
    if (added.length > 0) await Promise.all(added);
  }

  return Object.assign(keep, {
    forget() {
      recent = new Map();
      older = new Map();
    },
  });
}
