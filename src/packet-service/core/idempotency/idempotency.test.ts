import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningService, runningService } from '../../../../test/helpers/service.ts';
import { forgetOldKeys, KEY_DAYS } from './store.ts';

let service: RunningService;
let neighbour: RunningService;
beforeAll(async () => {
  service = await runningService();
  neighbour = await runningService({}, service);
});
afterAll(async () => {
  await neighbour.stop();
  await service.stop();
});

const observation = {
  observed_at: '2026-03-01T08:15:00Z',
  capture_point: { lat: 1, lon: 2 },
  message: 'once',
};
const count = async () =>
  (await service.pool.query('SELECT count(*)::int AS count FROM packets')).rows[0].count as number;

test('the same key and body give the first answer again, from any process, and one packet', async () => {
  const before = await count();
  const send = (to: RunningService) =>
    to.send('POST', '/intake/scouting', observation, { 'idempotency-key': 'a' });
  const first = await send(service);
  expect([first.status, first.headers.get('idempotency-replayed')]).toEqual([201, null]);
  for (const to of [service, neighbour]) {
    const again = await send(to);
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
  }
  expect(await count()).toBe(before + 1);
});

test('the order of fields and the white space between them do not make another body', async () => {
  const key = { 'idempotency-key': 'reordered' };
  const first = await service.send('POST', '/intake/scouting', observation, key);
  const reordered = `{ "message": "once",\n "capture_point": {"lon":2, "lat":1.0}, "observed_at": "2026-03-01T08:15:00Z" }`;
  expect((await service.send('POST', '/intake/scouting', reordered, key)).text).toBe(first.text);
});

test('the same key with another body is 409 and stores nothing', async () => {
  const key = { 'idempotency-key': 'b' };
  await service.send('POST', '/intake/scouting', observation, key);
  const before = await count();
  const other = await service.send('POST', '/intake/scouting', { ...observation, message: 'twice' }, key);
  expect(other.status).toBe(409);
  expect(other.body.error).toContain('Idempotency-Key');
  expect(await count()).toBe(before);
});

test('many simultaneous requests with one key, to two processes, store one packet and get one answer', async () => {
  for (let round = 0; round < 10; round++) {
    const before = await count();
    const key = { 'idempotency-key': `simultaneous ${round}` };
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, n) =>
        (n % 2 ? service : neighbour).send('POST', '/intake/scouting', observation, key),
      ),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(201);
    expect(await count()).toBe(before + 1);
  }
});

test('simultaneous requests with one key and different bodies: one is stored and the others are 409', async () => {
  const before = await count();
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, n) =>
      service.send('POST', '/intake/scouting', { ...observation, n }, { 'idempotency-key': 'contested' }),
    ),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(11).fill(409)]);
  expect(await count()).toBe(before + 1);
});

test('a failed request does not use up its key', async () => {
  const key = { 'idempotency-key': 'retry' };
  expect((await service.send('POST', '/intake/scouting', { message: 'no place' }, key)).status).toBe(400);
  expect((await service.send('POST', '/intake/scouting', observation, key)).status).toBe(201);
});

test('a key belongs to its route', async () => {
  const key = { 'idempotency-key': 'route' };
  const created = await service.send('POST', '/intake/scouting', observation, key);
  const packet = (await service.send('GET', `/packets/${created.body.packet_uuid}`)).body;
  expect((await service.send('POST', '/packets', packet, key)).status).toBe(200);
});

test('a key has 1 to 255 characters', async () => {
  const send = (key: string) =>
    service.send('POST', '/intake/scouting', observation, { 'idempotency-key': key });
  expect((await send('k'.repeat(255))).status).toBe(201);
  for (const key of ['', 'k'.repeat(256)]) {
    const { status, body } = await send(key);
    expect([status, body.error]).toEqual([
      400,
      expect.stringMatching(/^idempotency-key must (not be empty|have at most)/),
    ]);
  }
});

test(`keys are forgotten after ${KEY_DAYS} days and not before`, async () => {
  await service.send('POST', '/intake/scouting', observation, { 'idempotency-key': 'old' });
  const days = (n: number) => new Date(Date.now() + n * 24 * 3600 * 1000);
  expect(await forgetOldKeys(service.pool, days(KEY_DAYS - 1))).toBe(0);
  expect(await forgetOldKeys(service.pool, days(KEY_DAYS + 1))).toBeGreaterThan(0);
  const { rowCount } = await service.pool.query('SELECT 1 FROM idempotency_keys');
  expect(rowCount).toBe(0);
});
