import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningService, runningService } from '../../../../../test/helpers/service.ts';
import type { Database } from '../../../../platform/database/database.ts';
import { searchMessages } from './search.ts';

/**
 * The steps of a search, in threads whose length, number or density forces each way: all ways
 * find the same, and the wrong one only costs more.
 */
let service: RunningService;
beforeAll(async () => {
  service = await runningService();
  // Until the end the planner has the size of the table from nowhere.
  await service.pool.query('ALTER TABLE chat_messages SET (autovacuum_enabled = false)');
  const many = [];
  for (let n = 0; n < 20; n++) many.push(await openThread('many', 'everyone'));
  await say(many.map((thread_id, n) => ({ thread_id, text: `tale ${n}` })));
  const long = await openThread('one', 'everyone');
  const inLong = (count: number, text: (n: number) => string) =>
    say(Array.from({ length: count }, (_, n) => ({ thread_id: long, text: text(n) })));
  for (let part = 0; part < 3; part++) await inLong(700, n => `fossil ${part} ${n}`);
  await inLong(200, n => `qq${n}`);
  await inLong(3, () => 'a needle in the hay');
  for (let part = 0; part < 11; part++) await inLong(1000, n => `hay ${part} ${n}`);
  const halves = [await openThread('half', 'everyone'), await openThread('neighbour', 'everyone')];
  for (let n = 0; n < 16; n++) await openThread('half');
  await say(
    Array.from({ length: 500 }, (_, n) => ({
      thread_id: halves[n % 2] as string,
      text: `hay and chaff ${n}`,
    })),
  );
}, 300_000);
afterAll(() => service.stop());

async function openThread(created_by: string, ...others: string[]): Promise<string> {
  const { thread_id } = (await service.send('POST', '/chat/threads', { name: 'Talk', created_by })).body;
  if (others.length > 0) {
    await service.send('POST', `/chat/threads/${thread_id}/participants`, { user_ids: others });
  }
  return thread_id;
}

async function say(messages: { thread_id: string; text: string }[]): Promise<void> {
  const items = messages.map(body => ({ intake: 'chat-message', body }));
  const { body } = await service.send('POST', '/intake/batch', items);
  expect(body.results.filter((result: object) => 'error' in result)).toEqual([]);
}

/** The step that a statement of a search belongs to; undefined for all other statements. */
function stepOf({ text, values = [] }: pg.QueryConfig): string | undefined {
  const numbers = values.filter(value => typeof value === 'number');
  if (text.includes('AS newest')) return `by time ${numbers[0]}, sample ${numbers.at(-1)}`;
  if (text.includes('AS last')) return `by thread ${(numbers[0] ?? 0) + 1}`;
  if (text.includes('AS asked')) return 'look up';
  return text.includes('FROM chat_words') ? 'words' : undefined;
}

/** The steps of a search: the way, the messages to read in all or of each thread, and what was found. */
async function stepsOf(userId: string, keyword: string | undefined, wanted: number): Promise<string[]> {
  const steps: string[] = [];
  const database: Database = {
    query(statement) {
      const step = stepOf(statement);
      if (step) steps.push(step);
      return service.pool.query(statement);
    },
  };
  const search = { userId, openOnly: false, keyword };
  for await (const rows of searchMessages({ database, primary: database }, search, undefined, wanted)) {
    steps.push(`${steps.pop()}: ${rows.length}`);
  }
  return steps;
}

test('a table that was never analysed counts as large', async () => {
  expect(await stepsOf('one', 'needle', 50)).toEqual(['by thread 10000: 0', 'words', 'look up: 3']);
  await service.pool.query('ANALYZE chat_messages');
});

test('few threads are read one by one, and rare matches in them are looked up', async () => {
  expect(await stepsOf('one', 'needle', 50)).toEqual(['by thread 10000: 0', 'words', 'look up: 3']);
  expect(await stepsOf('one', 'needle', 2)).toEqual(['by thread 10000: 0', 'words', 'look up: 2']);
});

test('a look-up gives 2000 matches at a time, each time older ones', async () => {
  expect(await stepsOf('one', 'fossil', Infinity)).toEqual([
    'by thread 10000: 0',
    'words',
    'look up: 2000',
    'look up: 100',
  ]);
});

test('reading continues if so many words contain the keyword that a look-up costs more', async () => {
  const steps = await stepsOf('one', 'qq', 50);
  expect(steps.slice(0, 2)).toEqual(['by thread 10000: 0', 'words']);
  expect(steps.slice(2)).toEqual([expect.stringMatching(/^by thread \d+: 50$/)]);
});

test('a keyword that no word of the dictionary contains is not looked up', async () => {
  expect(await stepsOf('one', 'zebra', 50)).toEqual(['by thread 10000: 0', 'words']);
});

test('few threads are read to their end if the index would not narrow the search', async () => {
  const [first, ...rest] = await stepsOf('one', undefined, Infinity);
  expect(first).toBe('by thread 10000: 2000');
  expect(rest.length).toBeGreaterThan(3);
  expect(rest.filter(step => !step.startsWith('by thread '))).toEqual([]);
});

test('many threads are read in order of time while their messages are frequent, for what is still wanted', async () => {
  // Each step allows three times what the matches so far would need.
  expect(await stepsOf('everyone', 'hay', 5000)).toEqual([
    'by time 2000, sample 500: 2000',
    'by time 6002, sample 0: 2000',
    'by time 6002, sample 0: 1000',
  ]);
});

test('many threads that have none of the newest messages are read one by one after the first step', async () => {
  const [first, second, ...rest] = await stepsOf('many', undefined, Infinity);
  expect([first, second]).toEqual(['by time 2000, sample 500: 0', 'by thread 260: 20']);
  expect(rest).toEqual([]);
});

test('half of the messages are the user’s: a step by time is twice as long, until a look-up costs less', async () => {
  // 250 matches in 1000 of the user's messages, which are among 2000: 250 more in 1000, or with room for chance 3000,
  // of the user's, or 6000 of all.
  expect(await stepsOf('half', 'chaff', 500)).toEqual([
    'by time 2000, sample 500: 250',
    'by time 5995, sample 0: 0',
    'words',
    'look up: 0',
  ]);
});
