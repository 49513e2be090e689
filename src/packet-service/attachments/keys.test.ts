import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningService, runningService } from '../../../test/helpers/service.ts';

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service.stop());

async function upload(
  content: string,
  key: string,
  { name = 'leaf.jpg', id }: { name?: string; id?: string } = {},
) {
  const form = new FormData();
  if (id !== undefined) form.set('id', id);
  form.set('file', new Blob([content]), name);
  const headers = { 'idempotency-key': key };
  const answer = await fetch(`${service.url}/attachments`, { method: 'POST', body: form, headers });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}
const count = async () =>
  (await service.pool.query('SELECT count(*)::int AS count FROM attachments')).rows[0].count as number;

test('an upload with a key that is sent again is answered with the same attachment, and stored once', async () => {
  const before = await count();
  const first = await upload('a leaf', 'k1');
  expect([first.status, first.headers.get('idempotency-replayed')]).toEqual([201, null]);
  const again = await upload('a leaf', 'k1');
  expect([again.status, again.text, again.headers.get('location')]).toEqual([
    201,
    first.text,
    first.headers.get('location'),
  ]);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect(await count()).toBe(before + 1);
});

test('simultaneous uploads under one key make one attachment', async () => {
  const before = await count();
  const answers = await Promise.all(Array.from({ length: 8 }, () => upload('many leaves', 'k2')));
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect(await count()).toBe(before + 1);
});

test('the same key with another file, name or id is 409', async () => {
  await upload('one', 'k3');
  expect((await upload('two', 'k3')).status).toBe(409);
  expect((await upload('one', 'k3', { name: 'other.jpg' })).status).toBe(409);
  expect((await upload('one', 'k3', { id: 'att_01JD7Q2M8XW3N5R6T8V9Y0Z1A2' })).status).toBe(409);
});

test('an upload that was refused did not use its key up', async () => {
  expect((await upload('x', 'k4', { id: 'no id' })).status).toBe(400);
  expect((await upload('x', 'k4')).status).toBe(201);
  const tooLong = await upload('x', 'k'.repeat(256));
  expect([tooLong.status, tooLong.text]).toEqual([400, expect.stringContaining('idempotency-key')]);
});
