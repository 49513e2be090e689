import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningService, runningService } from '../../../../../test/helpers/service.ts';

/**
 * The ways of a search over HTTP, in threads whose length, number or density forces each way: first
 * by thread and then by the index; by time; by time and then by thread.
 */
let service: RunningService;
let long: string;
beforeAll(async () => {
  service = await runningService();
  for (let n = 0; n < 20; n++) {
    const thread = await openThread('many');
    await say([{ thread_id: thread, text: `tale ${n} of many` }]);
  }
  long = await openThread('one');
  await say([{ thread_id: long, text: 'a needle in the hay' }]);
  for (let part = 0; part < 11; part++) {
    await say(Array.from({ length: 1000 }, (_, n) => ({ thread_id: long, text: `hay ${part * 1000 + n}` })));
  }
}, 300_000);
afterAll(() => service.stop());

async function openThread(created_by: string): Promise<string> {
  return (await service.send('POST', '/chat/threads', { name: 'Talk', created_by })).body.thread_id;
}

async function say(messages: { thread_id: string; text: string }[]): Promise<void> {
  const items = messages.map(body => ({ intake: 'chat-message', body }));
  const { body } = await service.send('POST', '/intake/batch', items);
  expect(body.results.filter((result: object) => 'error' in result)).toEqual([]);
}

async function find(query: object): Promise<string[]> {
  const { status, body, text } = await service.send('POST', '/chat/query', query);
  expect(status, text).toBe(200);
  return body.results.map((result: { text: string }) => result.text);
}

test('one match behind ten thousand other messages of a thread is found by the index', async () => {
  expect(await find({ user_id: 'one', keyword: 'needle' })).toEqual(['a needle in the hay']);
  expect(await find({ user_id: 'one', keyword: 'eedl', limit: 10 })).toEqual(['a needle in the hay']);
});

test('a keyword that no word of the dictionary contains ends the search', async () => {
  expect(await find({ user_id: 'one', keyword: 'zebra' })).toEqual([]);
});

test('without a keyword all messages of a long thread are read, newest first', async () => {
  const texts = await find({ user_id: 'one' });
  expect(texts).toHaveLength(11_001);
  expect(texts.at(0)).toBe('hay 10999');
  expect(texts.at(-1)).toBe('a needle in the hay');
});

test('pages of a search join to the whole, without gaps or repeats', async () => {
  const whole = await find({ user_id: 'one', keyword: 'hay 1' });
  const texts: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const { body } = await service.send('POST', '/chat/query', {
      user_id: 'one',
      keyword: 'hay 1',
      limit: 700,
      cursor,
    });
    texts.push(...body.results.map((result: { text: string }) => result.text));
    cursor = body.next_cursor;
    if (!cursor) break;
  }
  expect(texts).toEqual(whole);
  expect(whole.filter(text => !text.startsWith('hay 1'))).toEqual([]);
  expect(whole.length).toBe(1 + 10 + 100 + 1000 + 1000);
});

test('the newest messages of many threads are read in order of time', async () => {
  for (let n = 0; n < 20; n++) {
    const thread = await openThread('traveller');
    await say([{ thread_id: thread, text: `letter ${n}` }]);
  }
  const letters = Array.from({ length: 20 }, (_, n) => `letter ${19 - n}`);
  expect(await find({ user_id: 'traveller', keyword: 'letter' })).toEqual(letters);
  expect(await find({ user_id: 'traveller', keyword: 'letter', limit: 5 })).toEqual(letters.slice(0, 5));
});

test('many threads behind eleven thousand messages of others are read one by one', async () => {
  const tales = Array.from({ length: 20 }, (_, n) => `tale ${19 - n} of many`);
  expect(await find({ user_id: 'many', limit: 1000 })).toEqual(tales);
  expect(await find({ user_id: 'many', keyword: 'of many', limit: 20 })).toEqual(tales);
  expect(await find({ user_id: 'many', keyword: 'of many' })).toEqual(tales);
});
