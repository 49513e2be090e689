import fc from 'fast-check';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { runs } from '../../../../../test/helpers/property.ts';
import { type RunningService, runningService } from '../../../../../test/helpers/service.ts';
import { ulidFactory, ulidToUuid } from '../../../core/packet-format/ulid.ts';
import type { MessagePosition } from '../messages/store.ts';
import { geoidNumber, ngramsOf } from '../ngrams/ngrams.ts';
import { distributedReader } from './readers.ts';
import { messagePosition, type Search, searchMessages } from './search.ts';
import { findScope, insertWords } from './search-store.ts';

/**
 * The steps of a search of distributed messages, which one server takes, too: whatever the times of messages are, they
 * find what a look at each message finds.
 */
const THREADS = 40;
const MESSAGES = 9000;
const DAY = 86_400_000;

interface Message {
  id: string;
  thread: number;
  ts: string;
  folded: string;
  geoid: string;
}

let service: RunningService;
let messages: Message[];
let threads: string[];
beforeAll(async () => {
  service = await runningService();
  const ulid = ulidFactory(() => Date.UTC(2026, 0, 1));
  threads = Array.from({ length: THREADS }, () => ulidToUuid(ulid()));
  await service.pool.query({
    text: `INSERT INTO chat_threads SELECT id, 'Talk', 'ana', now() FROM unnest($1::uuid[]) AS opened (id)`,
    values: [threads],
  });
  // Few threads, every second one, and those of which only one has messages now and then.
  for (const [user, has] of [
    ['few', (n: number) => n < 3],
    ['many', (n: number) => n % 2 === 0],
    ['rare', (n: number) => n >= 20],
  ] as const) {
    await service.pool.query({
      text: 'INSERT INTO chat_participants SELECT id, $2, now() FROM unnest($1::uuid[]) AS joined (id)',
      values: [threads.filter((_, n) => has(n)), user],
    });
  }
  messages = write(() => ulidToUuid(ulid()));
  const words = new Set<string>();
  const pieces = messages.map(({ folded, geoid }) => {
    const { words: own, numbers } = ngramsOf(folded);
    for (const word of own) words.add(word);
    return `{${[...numbers, geoidNumber(geoid)].join(',')}}`;
  });
  await insertWords(service.pool, [...words]);
  await service.pool.query({
    text: `INSERT INTO chat_messages (thread_id, ts, packet_id, folded, geoid, pieces)
      SELECT thread_id, ts, packet_id, folded, geoid, pieces::int[]
      FROM unnest($1::uuid[], $2::timestamptz[], $3::uuid[], $4::text[], $5::text[], $6::text[])
        AS said (thread_id, ts, packet_id, folded, geoid, pieces)`,
    values: [
      messages.map(({ thread }) => threads[thread]),
      messages.map(({ ts }) => ts),
      messages.map(({ id }) => id),
      messages.map(({ folded }) => folded),
      messages.map(({ geoid }) => geoid),
      pieces,
    ],
  });
  await service.pool.query({ text: 'ANALYZE chat_messages' });
  await service.pool.query({ text: 'ANALYZE packet_log' });
  messages.sort((a, b) => (a.ts < b.ts || (a.ts === b.ts && a.id < b.id) ? 1 : -1));
}, 300_000);
afterAll(() => service.stop());

/** Bursts of one moment, quiet years, and steady days, most of them in a few threads. */
function write(newId: () => string): Message[] {
  const written: Message[] = [];
  let time = 0;
  const at = (year: number) => {
    const date = new Date(0);
    date.setUTCFullYear(year);
    return date.getTime();
  };
  const add = (n: number) => {
    const thread = n % 7 === 0 ? n % THREADS : n % 20;
    const folded = `${n % 3 === 0 ? 'coffee' : 'maize'} ${n % 400 === 0 ? 'rust' : 'leaf'} w${n % 30}`;
    const ts = `${new Date(time).toISOString().slice(0, -1)}000Z`;
    written.push({ id: newId(), thread, ts, folded, geoid: n % 50 === 0 ? 'field' : '' });
  };
  for (let n = 0; n < MESSAGES; n++) {
    if (n === 0) time = at(1);
    else if (n === 250) time = at(1970);
    else if (n === 251) time = at(2024);
    else if (n < 3000) time += DAY / 50;
    else if (n === 3000) time = at(2026);
    // Up to 4500 all are of one moment.
    else if (n >= 4500 && n < 8000) time += 1000;
    else if (n >= 8000) time += n % 100 === 0 ? 10 * DAY : 3;
    add(n);
  }
  return written;
}

const IN: Record<string, (thread: number) => boolean> = {
  few: thread => thread < 3,
  many: thread => thread % 2 === 0,
  rare: thread => thread >= 20,
};
const isLocal = !inject('databaseServer').cluster;

async function runSearch(
  search: Omit<Search, 'openOnly'>,
  after: MessagePosition | undefined,
  wanted: number,
): Promise<string[]> {
  const criteria = { ...search, openOnly: false };
  const from = { database: service.pool, primary: service.pool };
  const ids: string[] = [];
  for await (const rows of searchMessages(from, criteria, after, wanted)) {
    ids.push(...rows.map(({ packetId }) => packetId));
  }
  return ids;
}

/** A step ends at a millisecond. */
const atMicros = (ts: string) =>
  ts.length === '2026-01-01T00:00:00.000Z'.length ? `${ts.slice(0, -1)}000Z` : ts;

function expected(
  { userId, keyword, geoid, from, to }: Omit<Search, 'openOnly'>,
  after: MessagePosition | undefined,
  wanted: number,
): string[] {
  return messages
    .filter(({ thread }) => IN[userId]?.(thread))
    .filter(({ folded }) => keyword === undefined || folded.includes(keyword))
    .filter(message => geoid === undefined || message.geoid === geoid)
    .filter(({ ts }) => (from === undefined || ts >= from) && (to === undefined || ts <= to))
    .filter(({ ts, id }) => !after || ts < atMicros(after.ts) || (ts === atMicros(after.ts) && id < after.id))
    .slice(0, wanted)
    .map(({ id }) => id);
}

test('every message of a user is found once, in order, over bursts and quiet years', async () => {
  for (const userId of Object.keys(IN)) {
    const search = { userId, isDistributed: true };
    expect(await runSearch(search, undefined, Number.POSITIVE_INFINITY), userId).toEqual(
      expected(search, undefined, Number.POSITIVE_INFINITY),
    );
  }
}, 60_000);

test('steps of any length, one after the other, find every match once', async () => {
  const steps = fc.array(
    fc.record({
      way: fc.constantFrom('by time' as const, 'by thread' as const),
      count: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 5000 })),
      limit: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.constant(2000)),
    }),
    { minLength: 1, maxLength: 12 },
  );
  const criteria = fc.record({
    userId: fc.constantFrom('few', 'many', 'rare'),
    keyword: fc.constantFrom('coffee', 'rust', 'w29', undefined),
  });
  let ended = 0;
  await fc.assert(
    fc.asyncProperty(criteria, fc.nat(MESSAGES - 1), steps, async (search, start, taken) => {
      const scope = await findScope(service.pool, { userId: search.userId, openOnly: false });
      const reader = distributedReader(service.pool, { ...search, threads: scope.threads }, scope.count);
      const begin = messages[start] as Message;
      let before: MessagePosition | undefined = { ts: begin.ts, id: begin.id };
      const right = expected(search, before, Number.POSITIVE_INFINITY);
      const ids: string[] = [];
      for (const { limit, ...step } of taken) {
        const { rows, end } = await reader.read(step, before, limit);
        expect(rows.length).toBeLessThanOrEqual(limit);
        ids.push(...rows.map(({ packetId }) => packetId));
        const last = rows.length === limit ? rows.at(-1) : undefined;
        before = last ? messagePosition(last) : end;
        if (!before) break;
      }
      if (!before) ended++;
      const upTo = before;
      expect(ids).toEqual(
        right.slice(0, right.length - (upTo ? expected(search, upTo, Number.POSITIVE_INFINITY).length : 0)),
      );
    }),
    { numRuns: runs(150) },
  );
  expect(ended).toBeGreaterThan(runs(150) / 15);
});

test('searches find what a scan of all messages finds, from any message on', async () => {
  const times = fc.constantFrom(...messages.map(({ ts }) => ts));
  const searches = fc.record(
    {
      userId: fc.constantFrom('few', 'many', 'rare'),
      keyword: fc.constantFrom('coffee', 'rust', 'us', 'e', 'e r', 'w29', 'w1', 'zebra', 'maize leaf'),
      geoid: fc.constant('field'),
      from: times,
      to: times,
    },
    { requiredKeys: ['userId'] },
  );
  const starts = fc.option(fc.nat(MESSAGES - 1), { nil: undefined });
  const counts = fc.constantFrom(1, 2, 20, 500, 2000, 2001, Number.POSITIVE_INFINITY);
  await fc.assert(
    fc.asyncProperty(searches, starts, counts, async (criteria, start, wanted) => {
      const begin = start === undefined ? undefined : messages[start];
      const after = begin && messagePosition({ utc: begin.ts, packetId: begin.id } as never);
      const right = expected(criteria, after, wanted);
      expect(await runSearch({ ...criteria, isDistributed: true }, after, wanted)).toEqual(right);
      if (isLocal) expect(await runSearch(criteria, after, wanted)).toEqual(right);
    }),
    { numRuns: runs(150) },
  );
});
