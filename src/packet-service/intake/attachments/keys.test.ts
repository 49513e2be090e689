import { afterAll, beforeAll, expect, test } from 'vitest';
import { TUS, TUS_PATCH } from '../../../../test/helpers/attachments.ts';
import { type RunningService, runningService } from '../../../../test/helpers/service.ts';

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

test('a refused upload does not use up its key', async () => {
  expect((await upload('x', 'k4', { id: 'no id' })).status).toBe(400);
  expect((await upload('x', 'k4')).status).toBe(201);
  const tooLong = await upload('x', 'k'.repeat(256));
  expect([tooLong.status, tooLong.text]).toEqual([400, expect.stringContaining('idempotency-key')]);
});

async function begin(key: string, headers: Record<string, string> = { 'upload-length': '6' }) {
  const sent = { ...TUS, 'idempotency-key': key, ...headers };
  const {
    status,
    headers: got,
    text,
    body,
  } = await service.send('POST', '/attachments/uploads', undefined, sent);
  return {
    status,
    text,
    body,
    location: got.get('location') as string,
    offset: got.get('upload-offset'),
    replayed: got.get('idempotency-replayed'),
  };
}
const uploads = async () =>
  (await service.pool.query('SELECT count(*)::int AS count FROM attachment_uploads')).rows[0].count as number;

test('a resumable upload whose first answer was lost is found again by its key, at the offset it has reached', async () => {
  const before = await uploads();
  const first = await begin('u1');
  expect([first.status, first.replayed, first.offset]).toEqual([201, null, '0']);
  expect(first.location).toBe(`/attachments/uploads/${first.body.upload_id}`);
  await service.send('PATCH', first.location, 'abc', { ...TUS_PATCH, 'upload-offset': '0' });

  const again = await begin('u1');
  expect(again).toEqual({ ...first, replayed: 'true', offset: '3' });
  expect(await uploads()).toBe(before + 1);

  await service.send('PATCH', first.location, 'def', { ...TUS_PATCH, 'upload-offset': '3' });
  expect((await begin('u1')).offset).toBe('6');
  expect((await service.send('GET', `/attachments/${first.body.attachment_id}`)).text).toBe('abcdef');
});

test('simultaneous beginnings under one key are one upload, of an empty file too', async () => {
  for (const [key, length] of [
    ['u2', '5'],
    ['u3', '0'],
  ] as const) {
    const before = await uploads();
    const all = await Promise.all(Array.from({ length: 8 }, () => begin(key, { 'upload-length': length })));
    expect(new Set(all.map(({ status, text, location }) => `${status} ${text} ${location}`)).size).toBe(1);
    expect(await uploads()).toBe(before + 1);
  }
});

test('the same key with another length or other metadata is 409', async () => {
  await begin('u4');
  expect((await begin('u4', { 'upload-length': '7' })).status).toBe(409);
  expect((await begin('u4', { 'upload-defer-length': '1' })).status).toBe(409);
  expect((await begin('u4', { 'upload-length': '6', 'upload-metadata': 'filename YQ==' })).status).toBe(409);
  expect((await begin('u4')).status).toBe(201);
});

test('the key of a cancelled or expired upload starts a new one', async () => {
  const first = await begin('u5');
  await service.send('DELETE', first.location, undefined, TUS);
  const second = await begin('u5');
  expect([second.status, second.replayed]).toEqual([201, null]);
  expect(second.location).not.toBe(first.location);

  await service.pool.query(
    "UPDATE attachment_uploads SET created_at = created_at - interval '8 days' WHERE upload_id = $1",
    [second.body.upload_id],
  );
  const third = await Promise.all(Array.from({ length: 4 }, () => begin('u5')));
  expect(new Set(third.map(({ location }) => location)).size).toBe(1);
  expect(third[0]?.location).not.toBe(second.location);
});

test('a refused start of an upload does not use up its key', async () => {
  expect((await begin('u6', {})).status).toBe(400);
  expect((await begin('u6')).status).toBe(201);
});
