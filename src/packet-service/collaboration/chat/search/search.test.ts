import fc from 'fast-check';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { eventually } from '../../../../../test/helpers/eventually.ts';
import { runs } from '../../../../../test/helpers/property.ts';
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

/** Merges what waits; returns how many pages of the list that was. */
async function merged(): Promise<number> {
  const { rows } = await service.pool.query('SELECT merge_messages()::int AS pages');
  return rows[0].pages;
}

/** Whether the service itself has asked for a merge, on whichever of its connections. */
async function isMergeRequested(): Promise<boolean> {
  const { rowCount } = await service.pool.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
       AND query LIKE 'SELECT merge_messages()' AND state = 'idle'`,
  );
  return rowCount === 1;
}

test('messages are merged into the index soon after they were written, and found before and after', async () => {
  const { thread_id } = (await service.send('POST', '/chat/threads', { name: 'Coffee', created_by: 'amina' }))
    .body;
  const search = async () =>
    (await service.send('POST', '/chat/query', { user_id: 'amina', keyword: 'umusaruro' })).body.results
      .length;
  let written = 0;
  const write = async () => {
    for (let n = 0; n < 20; n++) {
      await service.send('POST', '/intake/chat-message', { thread_id, text: `umusaruro ${written++}` });
    }
  };
  // On a busy machine the service may merge before all are written.
  const writeAndMerge = async () => {
    await write();
    expect(await search()).toBe(written);
    return merged();
  };
  expect(await eventually(writeAndMerge, pages => pages > 0)).toBeGreaterThan(0);

  await write();
  expect(await eventually(isMergeRequested, done => done)).toBe(true);
  expect(await merged()).toBe(0);
  expect(await search()).toBe(written);
});

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

test('characters with a meaning in patterns are plain characters', async () => {
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

test("only the user's threads are searched, and no longer after leaving", async () => {
  const thread = await openThread('ana');
  await say(thread, 'between us');
  expect(await find({ user_id: 'zoe', keyword: 'between' })).toEqual([]);
  await service.send('POST', `/chat/threads/${thread}/participants`, { user_ids: ['zoe'] });
  expect(textsOf(await find({ user_id: 'zoe', keyword: 'between' }))).toEqual(['between us']);
  await service.send('DELETE', `/chat/threads/${thread}/participants/zoe`);
  expect(await find({ user_id: 'zoe', keyword: 'between' })).toEqual([]);
});

test('a malformed query is refused by field', async () => {
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

test('every search finds what a scan of all messages finds, whatever the texts, filters and pages', async () => {
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
    { numRuns: runs(250) },
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
    { numRuns: runs(2000) },
  );
});

/** Syllables and characters that make words, runs without spaces, and texts where these meet. */
const syllables = fc.constantFrom('na', 'ndi', 'ka', 'ha', 'wa', 'Rus', 'ß', 'ñe', 'ığ', 'खे', 'त्त');
const words = fc.array(syllables, { minLength: 1, maxLength: 3 }).map(parts => parts.join(''));
const unspaced = fc.constantFrom('咖啡叶', '锈病', 'กาแฟ', 'ราสนิม', 'ใบ', '🌱🌱', 'x咖กา');
const phrases = fc
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

test('the index finds what a scan of all messages finds, for words, their parts, and across word boundaries', async () => {
  const threads = [await openThread('looker'), await openThread('looker')];
  const said: { id: string; text: string }[] = [];
  for (const [n, text] of fc.sample(phrases, { numRuns: 300, seed: 11 }).entries()) {
    said.push({ id: await say(threads[n % 2] as string, text), text });
  }
  const parts = fc
    .tuple(fc.nat(said.length - 1), fc.nat(20), fc.integer({ min: 1, max: 9 }))
    .map(([which, from, length]) => [...(said[which]?.text ?? '')].slice(from, from + length).join(''))
    .filter(part => part.trim() !== '');
  let narrowed = 0;
  await fc.assert(
    fc.asyncProperty(fc.oneof(parts, phrases), async part => {
      const keyword = fold(part);
      const found = await lookedUp('looker', keyword);
      if (found === 'useless') return;
      narrowed++;
      const expected = said.filter(({ text }) => fold(text).includes(keyword)).map(({ id }) => id);
      expect(found.toSorted(), JSON.stringify(keyword)).toEqual(expected.toSorted());
    }),
    { numRuns: runs(400) },
  );
  expect(narrowed).toBeGreaterThan(runs(400) / 2);
});

test('two words that share a number are both in the dictionary', async () => {
  const alike = ['costarring', 'liquid'] as const;
  expect(ngramNumber(alike[0])).toBe(ngramNumber(alike[1]));
  const thread = await openThread('looker');
  for (const word of alike) await say(thread, word);
  for (const word of alike) expect(await lookedUp('looker', word.slice(1, -1))).toHaveLength(1);
});
