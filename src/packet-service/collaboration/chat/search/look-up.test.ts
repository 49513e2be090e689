import fc from 'fast-check';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type RunningService, runningService } from '../../../../../test/helpers/service.ts';
import { uuidToUlid } from '../../../core/packet-format/ulid.ts';
import { fold } from '../ngrams/fold.ts';
import { ngramNumber } from '../ngrams/ngrams.ts';
import { lookUpDistributed } from './distributed-search-store.ts';
import { ngramSets } from './ngram-sets.ts';
import { findScope, lookUp } from './search-store.ts';

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service.stop());

async function openThread(): Promise<string> {
  const asked = { name: 'Talk', created_by: 'reader' };
  return (await service.send('POST', '/chat/threads', asked)).body.thread_id;
}

async function say(thread_id: string, text: string): Promise<string> {
  const answer = await service.send('POST', '/intake/chat-message', { thread_id, text });
  expect(answer.status, answer.text).toBe(201);
  return answer.body.packet_uuid;
}

/** Syllables and characters that make words, runs without spaces, and places where these meet. */
const syllables = fc.constantFrom(...['na', 'ndi', 'ka', 'ha', 'wa', 'Rus', 'ß', 'ñe', 'ığ', 'खे', 'त्त']);
const words = fc.array(syllables, { minLength: 1, maxLength: 3 }).map(parts => parts.join(''));
const unspaced = fc.constantFrom(...['咖啡叶', '锈病', 'กาแฟ', 'ราสนิม', 'ใบ', '🌱🌱', 'x咖กา']);
const texts = fc
  .array(fc.oneof({ weight: 3, arbitrary: words }, unspaced), { minLength: 1, maxLength: 6 })
  .map(parts => parts.join(' '));

/** One server takes the statement of a cluster, too. */
const WAYS = inject('databaseServer').cluster ? [lookUpDistributed] : [lookUp, lookUpDistributed];

/**
 * What the index and the dictionary give. A service only asks them where reading on would cost more, which among the
 * few messages of a test it never does.
 */
async function lookedUp(userId: string, keyword: string): Promise<string[] | 'useless'> {
  const { threads } = await findScope(service.pool, { userId, openOnly: false });
  const sets = await ngramSets(service.pool, { keyword });
  if (sets === 'useless') return sets;
  // No word of the dictionary contains it: a search ends here, too.
  if (sets.length === 0) return [];
  const found = [];
  for (const look of WAYS) {
    const rows = await look(service.pool, { threads, keyword }, sets, { before: undefined, limit: 1000 });
    found.push(rows.map(({ packetId }) => uuidToUlid(packetId)));
  }
  const [ids = [], ...others] = found;
  for (const other of others) expect(other).toEqual(ids);
  return ids;
}

test('the index gives what a look at each message finds, for words, their parts, and where they meet', async () => {
  const threads = [await openThread(), await openThread()];
  const said: { id: string; text: string }[] = [];
  for (const [n, text] of fc.sample(texts, { numRuns: 300, seed: 11 }).entries()) {
    said.push({ id: await say(threads[n % 2] as string, text), text });
  }
  const parts = fc
    .tuple(fc.nat(said.length - 1), fc.nat(20), fc.integer({ min: 1, max: 9 }))
    .map(([which, from, length]) => [...(said[which]?.text ?? '')].slice(from, from + length).join(''))
    .filter(part => part.trim() !== '');
  let narrowed = 0;
  await fc.assert(
    fc.asyncProperty(fc.oneof(parts, texts), async part => {
      const keyword = fold(part);
      const found = await lookedUp('reader', keyword);
      if (found === 'useless') return;
      narrowed++;
      const expected = said.filter(({ text }) => fold(text).includes(keyword)).map(({ id }) => id);
      expect(found.toSorted(), JSON.stringify(keyword)).toEqual(expected.toSorted());
    }),
    { numRuns: 400 },
  );
  expect(narrowed).toBeGreaterThan(200);
});

test('of two words that share a number, both are in the dictionary', async () => {
  const alike = ['costarring', 'liquid'] as const;
  expect(ngramNumber(alike[0])).toBe(ngramNumber(alike[1]));
  const thread = await openThread();
  for (const word of alike) await say(thread, word);
  for (const word of alike) expect(await lookedUp('reader', word.slice(1, -1))).toHaveLength(1);
});
