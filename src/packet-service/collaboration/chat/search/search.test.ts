import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningService, runningService } from '../../../../../test/helpers/service.ts';
import { fold } from '../ngrams/fold.ts';

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service.stop());

interface Result {
  packet_id: string;
  thread_id: string;
  text: string;
}

async function openThread(user: string): Promise<string> {
  return (await service.send('POST', '/chat/threads', { name: 'Talk', created_by: user })).body.thread_id;
}

async function say(thread_id: string, text: string, more: object = {}): Promise<string> {
  const answer = await service.send('POST', '/intake/chat-message', { thread_id, text, ...more });
  expect(answer.status, answer.text).toBe(201);
  return answer.body.packet_uuid;
}

async function find(query: object): Promise<Result[]> {
  const answer = await service.send('POST', '/chat/query', query);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.results;
}

const textsOf = (results: Result[]) => results.map(({ text }) => text);

const LANGUAGES: [string, string, string[], string[]][] = [
  [
    'English',
    'Coffee rust on the lower leaves',
    ['COFFEE', 'rust on', 'ee ru', 'w', 'leaves'],
    ['tea', 'rusty', 'coffeerust'],
  ],
  [
    'Spanish with accents',
    'Mañana llegará el camión',
    ['mañana', 'MAÑANA', 'ará el', 'CAMIÓN', 'ñ'],
    ['manana', 'camion'],
  ],
  ['Swahili', 'Mavuno yameanza leo asubuhi', ['mavuno', 'VUNO YAME', 'asub', 'z'], ['vuna', 'mavunoy']],
  ['Hindi', 'कॉफी के पत्तों पर रतुआ', ['कॉफी', 'पत्तों', 'त्त', 'र', 'पर रतुआ'], ['चाय', 'रतुआपर']],
  ['Chinese', '咖啡叶上有锈病', ['咖啡', '锈病', '叶', '啡叶上'], ['茶', '病锈']],
  ['Thai', 'ใบกาแฟเป็นสนิม', ['กาแฟ', 'สนิม', 'ฟเป', 'ม'], ['ชา', 'สนาม']],
  ['Arabic', 'صدأ على أوراق القهوة', ['القهوة', 'قهو', 'ق', 'على أو'], ['شاي', 'قهوه']],
  ['Turkish dotless i', 'Yapraklarda pas ışığı gördüm', ['ışığı', 'IŞIĞI', 'GÖRDÜM', 'ğ'], ['isigi gordum']],
  ['emoji', 'Harvest 👩🏽‍🌾 starts 🌱🌱', ['🌱', '👩🏽‍🌾', '👩', '🌱🌱', 'starts 🌱'], ['🌾🌱', '🌱🌱🌱']],
];

test.each(LANGUAGES)(
  '%s: words, their parts, and single characters are found in either case',
  async (language, text, found, missed) => {
    const user = `reader of ${language}`;
    const thread = await openThread(user);
    await say(thread, 'something else');
    await say(thread, text);
    for (const keyword of found)
      expect(textsOf(await find({ user_id: user, keyword })), keyword).toEqual([text]);
    for (const keyword of missed) expect(await find({ user_id: user, keyword }), keyword).toEqual([]);
  },
);

test('characters that mean something elsewhere are plain characters here', async () => {
  const thread = await openThread('plain');
  const texts = [
    '100% ripe',
    '100 ripe',
    'lot_7',
    'lot77',
    'C:\\data',
    "it's",
    'say "yes"',
    'a*b',
    'a.b',
    '(a|b)',
    '$1',
    "'; DROP TABLE chat_messages; --",
  ];
  for (const text of texts) await say(thread, text);
  const keywords: [string, string[]][] = [
    ['%', ['100% ripe']],
    ['0% r', ['100% ripe']],
    ['_', ['lot_7', "'; DROP TABLE chat_messages; --"]],
    ['t_7', ['lot_7']],
    ['\\', ['C:\\data']],
    ["'", ["it's", "'; DROP TABLE chat_messages; --"]],
    ['"', ['say "yes"']],
    ['*', ['a*b']],
    ['a.b', ['a.b']],
    ['(a|', ['(a|b)']],
    ['$1', ['$1']],
    ['; drop', ["'; DROP TABLE chat_messages; --"]],
  ];
  for (const [keyword, expected] of keywords) {
    expect(textsOf(await find({ user_id: 'plain', keyword })).sort(), keyword).toEqual(expected.sort());
  }
});

test('only the threads in which the user takes part are searched, and no longer after leaving', async () => {
  const thread = await openThread('ana');
  await say(thread, 'between us');
  expect(await find({ user_id: 'zoe', keyword: 'between' })).toEqual([]);
  await service.send('POST', `/chat/threads/${thread}/participants`, { user_ids: ['zoe'] });
  expect(textsOf(await find({ user_id: 'zoe', keyword: 'between' }))).toEqual(['between us']);
  await service.send('DELETE', `/chat/threads/${thread}/participants/zoe`);
  expect(await find({ user_id: 'zoe', keyword: 'between' })).toEqual([]);
});

test('a query that is not well-formed is refused by field', async () => {
  const wrong: [unknown, RegExp][] = [
    [{}, /^user_id /],
    [{ user_id: 5 }, /^user_id /],
    [{ user_id: 'a', keyword: 5 }, /^keyword /],
    [{ user_id: 'a', keyword: 'x'.repeat(1001) }, /^keyword /],
    [{ user_id: 'a', from: 'yesterday' }, /^from /],
    [{ user_id: 'a', to: '2026-02-30' }, /^to /],
    [{ user_id: 'a', limit: 0 }, /^limit /],
    [{ user_id: 'a', limit: '5' }, /^limit /],
    [{ user_id: 'a', cursor: 'x' }, /^cursor /],
  ];
  for (const [body, error] of wrong) {
    const answer = await service.send('POST', '/chat/query', body);
    expect([answer.status, answer.body], JSON.stringify(body)).toEqual([
      400,
      { error: expect.stringMatching(error) },
    ]);
  }
});

/** Code points that meet, join, fold and break in every way that scripts know. */
const letters = fc.constantFrom(...'aAbBßẞıİiIσςΣéE\u0301e\u0304कखा्त咖啡叶กาแฟصدأ🌱👩🏽\u200d%_\\\'" .');
const texts = fc.array(letters, { minLength: 1, maxLength: 14 }).map(points => points.join(''));

test('every search finds what a look at each message finds, whatever the texts, filters and pages', async () => {
  const said: { id: string; thread: string; text: string; geoids: string[] }[] = [];
  const threads = await Promise.all(['one', 'two', 'three'].map(() => openThread('owner')));
  await service.send('POST', `/chat/threads/${threads[0]}/participants`, { user_ids: ['reader'] });
  await service.send('POST', `/chat/threads/${threads[1]}/participants`, { user_ids: ['reader'] });
  for (const [n, text] of fc.sample(texts, { numRuns: 250, seed: 7 }).entries()) {
    if (text.trim() === '') continue;
    const thread = threads[n % 3] as string;
    const geoids = n % 4 === 0 ? ['g1', 'g2'] : n % 4 === 1 ? ['g2'] : [];
    said.push({ id: await say(thread, text, { geoids }), thread, text, geoids });
  }
  const keywords = fc.oneof(
    texts.map(text => [...text].slice(0, 3).join('')),
    fc
      .tuple(fc.nat(said.length - 1), fc.nat(13), fc.integer({ min: 1, max: 6 }))
      .map(([which, from, length]) =>
        [...(said[which] as { text: string }).text].slice(from, from + length).join(''),
      ),
  );
  await fc.assert(
    fc.asyncProperty(
      keywords,
      fc.option(fc.constantFrom('g1', 'g2', 'none'), { nil: undefined }),
      fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined }),
      fc.constantFrom('reader', 'owner', 'nobody'),
      async (keyword, geoid, limit, user) => {
        const expected = said
          .filter(({ thread }) => user === 'owner' || (user === 'reader' && thread !== threads[2]))
          .filter(({ text }) => fold(text).includes(fold(keyword)))
          .filter(({ geoids }) => geoid === undefined || geoids.includes(geoid))
          .map(({ id }) => id)
          .reverse();
        const found: string[] = [];
        for (let cursor: string | undefined = ''; cursor !== undefined; ) {
          const query: object = { user_id: user, keyword, geoid, limit, cursor };
          const { body, status, text } = await service.send('POST', '/chat/query', query);
          expect(status, text).toBe(200);
          if (limit !== undefined) expect(body.results.length).toBeLessThanOrEqual(limit);
          found.push(...body.results.map((result: Result) => result.packet_id));
          cursor = body.next_cursor;
        }
        expect(found, JSON.stringify(keyword)).toEqual(expected);
      },
    ),
    { numRuns: 250 },
  );
});

test('the time range is inclusive, alone and with a keyword', async () => {
  const thread = await openThread('timely');
  const ids: string[] = [];
  for (let n = 0; n < 5; n++) ids.push(await say(thread, `note ${n}`));
  const { messages } = (await service.send('GET', `/chat/threads/${thread}/messages`)).body;
  const [, second, , fourth] = messages as { timestamp: string }[];
  const range = { from: second?.timestamp, to: fourth?.timestamp };
  const found = await find({ user_id: 'timely', ...range });
  expect(found.map(({ packet_id }) => packet_id)).toEqual(ids.slice(1, 4).reverse());
  expect(textsOf(await find({ user_id: 'timely', ...range, keyword: '2' }))).toEqual(['note 2']);
  expect(await find({ user_id: 'timely', to: '2000-01-01' })).toEqual([]);
  expect(found[0]).toEqual({
    packet_id: ids[3],
    thread_id: thread,
    text: 'note 3',
    timestamp: fourth?.timestamp,
    geoid: '',
  });
});

test('folding twice is folding once, and a part of a text stays a part of it', () => {
  const any = fc.oneof(texts, fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }));
  fc.assert(
    fc.property(any, text => {
      expect(fold(fold(text))).toBe(fold(text));
      expect(fold(text.toUpperCase())).toBe(fold(text));
    }),
    { numRuns: 2000 },
  );
});
