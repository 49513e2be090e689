import fc from 'fast-check';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loopbackRegistry } from '../../../test/helpers/asset-registry.ts';
import { waitingSessions } from '../../../test/helpers/database.ts';
import { eventually } from '../../../test/helpers/eventually.ts';
import { runs } from '../../../test/helpers/property.ts';
import { type RunningService, runningService } from '../../../test/helpers/service.ts';
import { pacer } from '../../platform/concurrency/pacer.ts';
import { Problem } from '../../platform/http/problems.ts';
import { parseJsonText } from '../../platform/json-text.ts';
import { processSlots } from '../../platform/limits/slots.ts';
import { batchWriter } from '../core/writer/batch-writer.ts';
import { acceptBatch, type BatchContext } from './batch.ts';
import { splitItems } from './items.ts';
import type { ItemKind, ItemKinds } from './kinds.ts';
import { INTAKE_NAMES } from './schemas.ts';

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service.stop());

const body = (n: number) => ({
  observed_at: '2026-03-01T08:15:00Z',
  capture_point: { lat: 1, lon: 2 },
  message: `item ${n}`,
});
const item = (n: number, key?: string) => ({
  intake: 'scouting',
  body: body(n),
  ...(key !== undefined && { idempotency_key: key }),
});

async function messageOf(answer: { packet_uuid: string }): Promise<string> {
  return (await service.send('GET', `/packets/${answer.packet_uuid}`)).body.Body.message;
}

test('a thousand items are stored, and answered in their order', async () => {
  const { status, body: answer } = await service.send(
    'POST',
    '/intake/batch',
    Array.from({ length: 1000 }, (_, n) => item(n)),
  );
  expect(status).toBe(200);
  expect(answer.results).toHaveLength(1000);
  expect(new Set(answer.results.map((result: { packet_uuid: string }) => result.packet_uuid)).size).toBe(
    1000,
  );
  for (const n of [0, 1, 500, 999]) expect(await messageOf(answer.results[n])).toBe(`item ${n}`);
});

test('bad items get the error that they would get alone, and do not affect others', async () => {
  const texts = [
    JSON.stringify(item(0)),
    '{"intake":"scouting","body":{"observed_at":"2026-03-01T08:15:00Z"}}',
    '{"intake":"scouting","body":{"message":"\\ud800"}}',
    '{"intake":"scouting",',
    '{"intake":"weather","body":{}}',
    '{"intake":"scouting","body":{"observed_at":"2026-03-01T08:15:00Z","capture_point":{"lat":99,"lon":0}}}',
    '5',
    JSON.stringify({ intake: 'scouting', body: { ...body(7), message: 'x'.repeat(600_000) } }),
    JSON.stringify(item(8)),
  ];
  const expected = [
    undefined,
    /^capture_point is required/,
    /^body\.message: contains half of a surrogate pair/,
    /^the body is not valid JSON/,
    /^intake must be scouting or chat-message/,
    /^capture_point\.lat /,
    /^the body must be an object/,
    /^the item is larger/,
    undefined,
  ];
  const lines = await service.send('POST', '/intake/batch', texts.join('\n'), {
    'content-type': 'application/x-ndjson',
  });
  expect(lines.headers.get('content-type')).toMatch(/ndjson/);
  const answers = lines.text
    .trim()
    .split('\n')
    .map(line => JSON.parse(line));
  expect(answers).toHaveLength(texts.length);
  for (const [n, answer] of answers.entries()) {
    if (expected[n]) {
      expect(Object.keys(answer)).toEqual(['error', 'status', 'reason', 'parameters']);
      expect(answer.error).toMatch(expected[n]);
      expect(answer.status).toBe(n === 7 ? 413 : 400);
    } else {
      expect(await messageOf(answer)).toBe(`item ${n}`);
    }
  }
  const wellFormed = texts.filter((_, n) => n !== 3);
  const array = await service.send('POST', '/intake/batch', `[${wellFormed.join(',')}]`);
  expect(array.body.results.map((result: object) => 'error' in result)).toEqual([
    false,
    true,
    true,
    true,
    true,
    true,
    true,
    false,
  ]);
});

test('an item whose time is more than a day ahead is refused, and the others are stored', async () => {
  const ahead = { ...body(1), observed_at: new Date(Date.now() + 25 * 3600_000).toISOString() };
  const items = [item(0), { ...item(1, 'clock'), body: ahead }, item(2)];
  const { status, body: answer, headers } = await service.send('POST', '/intake/batch', items);
  expect(status).toBe(200);
  expect(answer.results).toEqual([
    { packet_uuid: expect.any(String) },
    {
      error: expect.stringContaining('observed_at is more than a day ahead'),
      status: 400,
      reason: 'timestamp.ahead',
      parameters: { field: 'observed_at' },
    },
    { packet_uuid: expect.any(String) },
  ]);
  expect(headers.get('date')).toBeTruthy();
  // The key of a refused item stays free for the corrected one.
  const again = await service.send('POST', '/intake/batch', [item(1, 'clock')]);
  expect(await messageOf(again.body.results[0])).toBe('item 1');
});

test('a batch that is sent again stores nothing again, also in another order or one by one', async () => {
  const count = async () =>
    (await service.pool.query('SELECT count(*)::int AS count FROM packets')).rows[0].count;
  const items = Array.from({ length: 50 }, (_, n) => item(n, `batch ${n}`));
  const first = (await service.send('POST', '/intake/batch', items)).body.results;
  const stored = await count();
  const both = await Promise.all([
    service.send('POST', '/intake/batch', items),
    service.send('POST', '/intake/batch', items.toReversed()),
  ]);
  expect(both[0]?.body.results).toEqual(first);
  expect(both[1]?.body.results).toEqual(first.toReversed());
  const alone = await service.send('POST', '/intake/scouting', body(7), { 'idempotency-key': 'batch 7' });
  expect(alone.body).toEqual(first[7]);
  const changed = await service.send('POST', '/intake/batch', [item(99, 'batch 7')]);
  expect(changed.body.results).toEqual([
    {
      error: expect.stringContaining('Idempotency-Key'),
      status: 409,
      reason: 'idempotency_key.other_body',
      parameters: { key: 'batch 7' },
    },
  ]);
  expect(await count()).toBe(stored);
});

test('a key that occurs twice in one batch stores one packet', async () => {
  const { body: answer } = await service.send('POST', '/intake/batch', [
    item(1, 'twin'),
    item(1, 'twin'),
    item(2, 'twin'),
  ]);
  const [first, second, third] = answer.results;
  const stored = [first, second, third].filter(result => 'packet_uuid' in result);
  expect(new Set(stored.map(result => result.packet_uuid)).size).toBe(1);
  expect(third.status === 409 || (first.status === 409 && second.status === 409)).toBe(true);
});

test('messages come out in the order of their items, though the place of an earlier one took longer', async () => {
  const registry = await loopbackRegistry({ version: 2 });
  registry.misbehave('silent', 1);
  const slow = await runningService({ ASSET_REGISTRY_URL: registry.url }, service);
  const thread = { name: 'A day', created_by: 'amina' };
  const { thread_id } = (await slow.send('POST', '/chat/threads', thread)).body;
  const said = (text: string, rest: object = {}) => ({
    intake: 'chat-message',
    body: { thread_id, text, ...rest },
  });
  const sent = slow.send('POST', '/intake/batch', [
    said('one', { capture_point: { lat: 1, lon: 2 } }),
    said('two'),
    said('two and a half', { from_user: 'a stranger' }),
    item(0, 'between'),
    said('three', { from_user: 'amina' }),
    item(0, 'between'),
    said('four'),
  ]);
  // The observation waits for no message; when it is stored, the location of the first message is still not resolved.
  await eventually(
    async () => (await service.pool.query("SELECT FROM idempotency_keys WHERE key = 'between'")).rowCount,
  );
  registry.behave();
  const { results } = (await sent).body;
  expect(results[2].status).toBe(403);
  expect(results.filter((result: object) => 'error' in result)).toHaveLength(1);
  const { messages } = (await slow.send('GET', `/chat/threads/${thread_id}/messages?order=asc&limit=10`))
    .body;
  const texts = messages.map(({ text }: { text: string }) => text);
  expect(texts).toEqual(['one', 'two', 'three', 'four']);
  expect(registry.requests.length).toBeGreaterThan(0);
  await slow.stop();
  await registry.stop();
});

test('no items, more than a thousand, or no array at all are refused as a whole', async () => {
  const wrong = [[], Array.from({ length: 1001 }, (_, n) => item(n)), {}, '[1', '[1]]', ''];
  for (const batch of wrong) {
    const { status, body: answer } = await service.send('POST', '/intake/batch', batch);
    expect(status, String(batch).slice(0, 20)).toBe(400);
    expect(answer.error).toMatch(/^the body /);
  }
  const large = await service.send('POST', '/intake/batch', `["${'x'.repeat(16 * 1024 * 1024)}"]`);
  expect(large.status).toBe(413);
});

test('an array is taken apart exactly where JSON.parse takes it apart', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.jsonValue({ stringUnit: fc.constantFrom(...'[]{},"\\ :ab') }), { minLength: 1 }),
      fc.constantFrom('', ' ', '\n\t'),
      async (values, space) => {
        const text = `${space}[${values.map(value => space + JSON.stringify(value, null, space)).join(`${space},`)}${space}]${space}`;
        const items = await splitItems(Buffer.from(text), 'array', pacer(1));
        expect(items.map(part => parseJsonText(String(part)))).toEqual(parseJsonText(text));
      },
    ),
    { numRuns: runs(500) },
  );
});

test('a message that waits for the dictionary is not older than one that readers have seen meanwhile', async () => {
  const { send, pool } = service;
  const { thread_id } = (await send('POST', '/chat/threads', { name: 'Rust', created_by: 'ana' })).body;
  const say = (text: string) => send('POST', '/intake/chat-message', { thread_id, text, from_user: 'ana' });
  const inBatch = (text: string) =>
    send('POST', '/intake/batch', [{ intake: 'chat-message', body: { thread_id, text, from_user: 'ana' } }]);
  expect((await say('known')).status).toBe(201);
  // The process forgets the words that it knows when it begins to listen, which it has by now; then it learns this one.
  await eventually(async () => ((await pool.query('SELECT FROM packet_log')).rowCount ?? 0) > 0);
  expect((await say('known')).status).toBe(201);

  const stranger = await pool.connect();
  await stranger.query('BEGIN');
  await stranger.query('LOCK TABLE chat_words IN SHARE MODE');
  const late = [say('unheard'), inBatch('unseen')];
  await eventually(async () => (await waitingSessions(pool)) > 0);
  const seen = await say('known');
  expect(seen.status, seen.text).toBe(201);
  await stranger.query('COMMIT');
  stranger.release();
  for (const answer of await Promise.all(late)) expect(answer.status, answer.text).toBeLessThan(300);

  const path = `/chat/threads/${thread_id}/messages?limit=10&cursor=${seen.body.packet_uuid}`;
  const { messages } = (await send('GET', path)).body;
  expect(messages.map(({ text }: { text: string }) => text).sort()).toEqual(['unheard', 'unseen']);
});

const taking = (kind: ItemKind, parsedBytes: number): BatchContext => ({
  kinds: Object.fromEntries(INTAKE_NAMES.map(name => [name, kind])) as ItemKinds,
  logger: pino({ level: 'silent' }),
  writer: batchWriter(service.pool, 1, pino({ level: 'silent' })),
  findAnswer: async () => undefined,
  untilComplete: async () => {},
  pace: pacer(20_000),
  parsed: processSlots({ total: parsedBytes }),
});
const sender = {
  user: undefined,
  anonymous: false,
  contentLanguage: undefined,
};
const filled = (count: number, bytes: number) =>
  Array.from({ length: count }, () =>
    Buffer.from(JSON.stringify({ intake: 'scouting', body: { x: 'x'.repeat(bytes) } })),
  );
const refuse = () => Promise.reject(new Problem('observation.without_place'));

function take(kind: Partial<ItemKind>, batch: Buffer[], parsedBytes = 100_000_000) {
  const whole = { isOrdered: false, check: () => {}, truncated: () => [], packetMaker: refuse, ...kind };
  return acceptBatch(taking(whole, parsedBytes), sender, batch, undefined);
}

/** Counts the turns of the event loop. */
function turnCounter(): { turn: () => number; stop: () => void } {
  let count = 0;
  let running = true;
  const next = () => {
    count++;
    if (running) setImmediate(next);
  };
  setImmediate(next);
  return {
    turn: () => count,
    stop: () => {
      running = false;
    },
  };
}

test('one turn of the event loop reads few large items or many small ones', async () => {
  for (const [bytes, most] of [
    [400_000, 1],
    [190_000, 3],
    [200, 1000],
  ] as const) {
    const { turn, stop } = turnCounter();
    const read = new Map<number, number>();
    const batch = filled(bytes === 200 ? 1000 : 30, bytes);
    await take({ check: () => read.set(turn(), (read.get(turn()) ?? 0) + 1) }, batch);
    stop();
    expect(Math.max(...read.values()), `${bytes} bytes`).toBeLessThanOrEqual(most);
    if (bytes === 200) expect(read.size).toBeLessThan(5);
  }
});

test('few large items become packets in one turn, also if their locations are resolved together', async () => {
  const { turn, stop } = turnCounter();
  const made = new Map<number, number>();
  const { promise: resolved, resolve } = Promise.withResolvers<void>();
  let waiting = 0;
  const packetMaker = async () => {
    waiting++;
    if (waiting === 20) setImmediate(resolve);
    await resolved;
    return () => {
      made.set(turn(), (made.get(turn()) ?? 0) + 1);
      throw new Problem('observation.without_place');
    };
  };
  for (const isOrdered of [false, true]) {
    waiting = 0;
    made.clear();
    const answers = await take({ packetMaker, isOrdered }, filled(20, 200_000));
    expect(answers).toEqual(
      Array(20).fill({
        error: 'capture_point is required, or geojson instead',
        status: 400,
        reason: 'observation.without_place',
        parameters: {},
      }),
    );
    expect(Math.max(...made.values()), `ordered: ${isOrdered}`).toBe(1);
  }
  stop();
});

test('parsing stops when there is no room, and all items are answered in order', async () => {
  let inside = 0;
  let most = 0;
  const packetMaker = async () => {
    inside++;
    most = Math.max(most, inside);
    await new Promise(resolve => setImmediate(resolve));
    inside--;
    throw new Problem('observation.without_place');
  };
  const answers = await take({ packetMaker }, filled(50, 10_000), 45_000);
  expect(answers).toHaveLength(50);
  expect(most).toBe(4);
});
