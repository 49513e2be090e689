import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LoopbackRegistry, loopbackRegistry } from '../../../test/helpers/asset-registry.ts';
import { type RunningService, runningService } from '../../../test/helpers/service.ts';

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

let places = 0;
/** An observation at a place of its own, so that no look-up of another one answers it. */
const observation = (message: string) => ({
  observed_at: '2026-03-01T08:15:00Z',
  capture_point: { lat: 1 + ++places / 1000, lon: 2 },
  message,
});
const send = (items: object[], key?: string) =>
  service.send('POST', '/intake/batch', items, key === undefined ? {} : { 'idempotency-key': key });
const count = async () =>
  (await service.pool.query('SELECT count(*)::int AS count FROM packets')).rows[0].count as number;

test('a batch with a key that is sent again stores nothing twice and is answered the same', async () => {
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
  expect(changed.body.results[1]).toEqual({ error: expect.stringContaining('day 2/1'), status: 409 });
});

test('the key of an item itself goes before the key of the batch', async () => {
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

test('an item whose place cannot be looked up for now says when to try again, and is taken then', async () => {
  const items = [
    { intake: 'scouting', body: observation('later') },
    { intake: 'scouting', body: { observed_at: '2026-03-01T08:15:00Z' } },
    { intake: 'scouting', idempotency_key: 'later', body: observation('later too') },
  ];
  registry.misbehave('busy');
  const refused = await send(items, 'day 5');
  registry.behave();
  const { results } = refused.body;
  expect(results[0]).toEqual({ error: expect.stringContaining('for now'), status: 400, retry_after: 120 });
  expect(results[1]).toEqual({ error: expect.stringContaining('capture_point'), status: 400 });
  expect(results[2]).toEqual({ error: expect.stringContaining('for now'), status: 400, retry_after: 120 });

  const { results: later } = (await send(items, 'day 5')).body;
  expect([later[0].packet_uuid, later[2].packet_uuid]).toEqual([expect.any(String), expect.any(String)]);
  expect(later[1]).toEqual(results[1]);
});
