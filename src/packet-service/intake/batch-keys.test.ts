import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LoopbackRegistry, loopbackRegistry } from '../../../test/helpers/asset-registry.ts';
import { type RunningService, runningService } from '../../../test/helpers/service.ts';
import { canonicalJson } from '../core/packet-format/jcs.ts';

let registry: LoopbackRegistry;
let service: RunningService;
beforeAll(async () => {
  registry = await loopbackRegistry({ version: 2 });
  service = await runningService({ ASSET_REGISTRY_URL: registry.url });
});
afterAll(async () => {
  await service.stop();
  await registry.stop();
});

let locations = 0;
/** An observation at a location of its own, so that no look-up of another one answers it. */
const observation = (message: string) => ({
  observed_at: '2026-03-01T08:15:00Z',
  capture_point: { lat: 1 + ++locations / 1000, lon: 2 },
  message,
});
const send = (items: object[], key?: string) =>
  service.send('POST', '/intake/batch', items, key === undefined ? {} : { 'idempotency-key': key });
const count = async () =>
  (await service.pool.query('SELECT count(*)::int AS count FROM packets')).rows[0].count as number;

test('a repeated batch with a key stores nothing twice and gets the same answer', async () => {
  const items = ['a', 'b', 'c'].map(message => ({ intake: 'scouting', body: observation(message) }));
  const before = await count();
  const first = await send(items, 'day 1');
  expect([first.status, first.body.results.length]).toEqual([200, 3]);
  const again = await send(items, 'day 1');
  expect(again.body).toEqual(first.body);
  expect(await count()).toBe(before + 3);
});

test('another body at a place of the same key is 409, and the other items are answered as before', async () => {
  const items = ['a', 'b'].map(message => ({ intake: 'scouting', body: observation(message) }));
  const first = await send(items, 'day 2');
  const changed = await send(
    [items[0] as object, { intake: 'scouting', body: observation('changed') }],
    'day 2',
  );
  expect(changed.body.results[0]).toEqual(first.body.results[0]);
  expect(changed.body.results[1]).toEqual({
    error: expect.stringContaining('day 2/1'),
    status: 409,
    reason: 'idempotency_key.other_body',
    parameters: { key: 'day 2/1' },
  });
});

test("an item's own key takes precedence over the key of the batch", async () => {
  const item = { intake: 'scouting', idempotency_key: 'own', body: observation('own') };
  const first = await send([item], 'day 3');
  const moved = await send([{ intake: 'scouting', body: observation('new') }, item], 'day 4');
  expect(moved.body.results[1]).toEqual(first.body.results[0]);
  const alone = await service.send('POST', '/intake/scouting', item.body, { 'idempotency-key': 'own' });
  expect(alone.body).toEqual(first.body.results[0]);
});

test('the key of a batch has 1 to 255 characters', async () => {
  const items = [{ intake: 'scouting', body: observation('long') }];
  expect((await send(items, 'k'.repeat(255))).body.results[0].packet_uuid).toBeTypeOf('string');
  const { status, body } = await send(items, 'k'.repeat(256));
  expect([status, body.error]).toEqual([400, expect.stringContaining('idempotency-key')]);
});

test('an item whose location cannot be resolved now says when to retry, and is accepted then', async () => {
  const items = [
    { intake: 'scouting', body: observation('later') },
    { intake: 'scouting', body: { observed_at: '2026-03-01T08:15:00Z' } },
    { intake: 'scouting', idempotency_key: 'later', body: observation('later too') },
  ];
  registry.misbehave('busy');
  const refused = await send(items, 'day 5');
  registry.behave();
  const { results } = refused.body;
  const refusal = { error: expect.stringContaining('for now'), status: 400, retry_after: 120 };
  expect(results[0]).toMatchObject(refusal);
  expect(results[1]).toEqual({
    error: expect.stringContaining('capture_point'),
    status: 400,
    reason: 'observation.without_place',
    parameters: { field: 'capture_point' },
  });
  expect(results[2]).toMatchObject(refusal);

  const { results: later } = (await send(items, 'day 5')).body;
  expect([later[0].packet_uuid, later[2].packet_uuid]).toEqual([expect.any(String), expect.any(String)]);
  expect(later[1]).toEqual(results[1]);
});

test('an item of a batch with a key shares its key with the endpoint for a single item, both ways', async () => {
  const bodies = ['first', 'second'].map(observation);
  const [first, second] = bodies as [object, object];
  const { thread_id } = (await service.send('POST', '/chat/threads', { name: 'x', created_by: 'ana' })).body;
  const message = { thread_id, text: 'third' };
  const batch = [
    { intake: 'scouting', body: first },
    { intake: 'scouting', body: second },
    { intake: 'chat-message', body: message },
  ];
  const alone = (path: string, body: object, key: string) =>
    service.send('POST', path, body, { 'idempotency-key': key });
  const early = await alone('/intake/scouting', second, 'day 6/1');
  const before = await count();
  const { results } = (await send(batch, 'day 6')).body;
  expect(results[1]).toEqual(early.body);
  expect(await count()).toBe(before + 2);
  for (const [path, body, index] of [
    ['/intake/scouting', first, 0],
    ['/intake/scouting', second, 1],
    ['/intake/chat-message', message, 2],
  ] as const) {
    const again = await alone(path, body, `day 6/${index}`);
    expect([again.status, again.body, again.headers.get('idempotency-replayed')]).toEqual([
      201,
      results[index],
      'true',
    ]);
  }
  expect((await alone('/intake/scouting', observation('other'), 'day 6/0')).status).toBe(409);
  expect(await count()).toBe(before + 2);
});

test('a batch whose answer version 0.1 stored gets the same answer again', async () => {
  const body = observation('long ago');
  const { results } = (await send([{ intake: 'scouting', body }], 'day 7')).body;
  const { rowCount } = await service.pool.query(
    `UPDATE idempotency_keys SET route = 'POST /intake/batch', fingerprint = $1 WHERE key = 'day 7/0'`,
    [
      createHash('sha256')
        .update(canonicalJson({ intake: 'scouting', body }))
        .digest(),
    ],
  );
  expect(rowCount).toBe(1);
  const before = await count();
  expect((await send([{ intake: 'scouting', body }], 'day 7')).body.results).toEqual(results);
  const [changed] = (await send([{ intake: 'scouting', body: observation('changed') }], 'day 7')).body
    .results;
  expect(changed.status).toBe(409);
  expect(await count()).toBe(before);
});
