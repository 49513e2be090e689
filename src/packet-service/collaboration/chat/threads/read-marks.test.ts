import { afterAll, beforeAll, expect, test } from 'vitest';
import { testDatabase } from '../../../../../test/helpers/database.ts';
import { eventually } from '../../../../../test/helpers/eventually.ts';
import { type RunningService, runningService } from '../../../../../test/helpers/service.ts';
import { packetHash } from '../../../core/packet-format/hash.ts';
import { canonicalJson } from '../../../core/packet-format/jcs.ts';
import { newUlid } from '../../../core/packet-format/ulid.ts';
import { listUnread } from './read-marks.ts';

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service.stop());

async function openThread(...participants: string[]): Promise<string> {
  const { body } = await service.send('POST', '/chat/threads', {
    name: 'Lot 7',
    created_by: participants[0],
  });
  await service.send('POST', `/chat/threads/${body.thread_id}/participants`, { user_ids: participants });
  return body.thread_id;
}

/** Says something, and waits until it is in the log. */
async function say(thread_id: string, text: string, from_user?: string): Promise<string> {
  const { body } = await service.send('POST', '/intake/chat-message', { thread_id, text, from_user });
  await inLog(body.packet_uuid);
  return body.packet_uuid;
}

async function inLog(id: string): Promise<void> {
  await eventually(async () => (await service.send('GET', '/sync/packets?limit=1000')).text.includes(id));
}

const unreadOf = async (user: string, more = '') => {
  const { status, body } = await service.send('GET', `/chat/unread?user_id=${user}${more}`);
  expect(status).toBe(200);
  return body;
};
const read = (thread: string, message_id: string, user_id?: string) =>
  service.send('PUT', `/chat/threads/${thread}/read`, { message_id, user_id });

test('a thread stays unread for each participant until they read what others wrote', async () => {
  const thread = await openThread('amina', 'ben', 'caro');
  expect((await unreadOf('ben')).thread_ids).toEqual([]);
  const first = await say(thread, 'Rust on lot 7', 'amina');
  expect(await unreadOf('amina')).toEqual({ thread_ids: [] });
  expect(await unreadOf('ben')).toEqual({ thread_ids: [thread] });
  expect(await unreadOf('caro')).toEqual({ thread_ids: [thread] });
  const done = await read(thread, first, 'ben');
  expect([done.status, done.body]).toEqual([200, { unread: false }]);
  expect((await read(thread, first, 'ben')).body).toEqual({ unread: false });
  expect((await unreadOf('ben')).thread_ids).toEqual([]);
  expect((await unreadOf('caro')).thread_ids).toEqual([thread]);
  await say(thread, 'On my way', 'ben');
  expect((await unreadOf('ben')).thread_ids).toEqual([]);
  expect((await unreadOf('amina')).thread_ids).toEqual([thread]);
  await say(thread, 'I too');
  expect((await unreadOf('ben')).thread_ids, 'a message without a sender is by somebody else').toEqual([
    thread,
  ]);
});

test('a mark covers the messages up to one, and never moves back', async () => {
  const thread = await openThread('dora', 'emil');
  const [first, second, third] = [
    await say(thread, 'one', 'dora'),
    await say(thread, 'two', 'dora'),
    await say(thread, 'three', 'dora'),
  ];
  expect((await read(thread, first, 'emil')).body).toEqual({ unread: true });
  expect((await read(thread, second, 'emil')).body).toEqual({ unread: true });
  expect((await read(thread, third, 'emil')).body).toEqual({ unread: false });
  expect((await read(thread, first, 'emil')).body).toEqual({ unread: false });
  expect((await unreadOf('emil')).thread_ids).toEqual([]);
});

test('a message that comes late, with an earlier time than the mark, is unread', async () => {
  const thread = await openThread('fay', 'gil');
  const newest = await say(thread, 'now', 'fay');
  expect((await read(thread, newest, 'gil')).body).toEqual({ unread: false });
  const Header = { id: newUlid(), geoid: 'g', timestamp: '2026-03-01T08:15:00Z', type: 'chat_message' };
  const Body = { attachments: [], text: 'written in the field', thread_id: thread, from_user: 'fay' };
  const Footer = { hash: packetHash(canonicalJson(Header), canonicalJson(Body)), enc: 'none', lang: 'und' };
  expect((await service.send('POST', '/packets', { Header, Body, Footer })).status).toBe(201);
  await inLog(Header.id);
  expect((await unreadOf('gil')).thread_ids).toEqual([thread]);
  expect((await read(thread, newest, 'gil')).body).toEqual({ unread: false });
});

test('older messages are unread for a new participant, and again for one who left and returned', async () => {
  const thread = await openThread('hana', 'ines');
  const message = await say(thread, 'before', 'hana');
  const path = `/chat/threads/${thread}/participants`;
  await read(thread, message, 'ines');
  await service.send('POST', path, { user_ids: ['jon'] });
  expect((await unreadOf('jon')).thread_ids).toEqual([thread]);
  await service.send('DELETE', `${path}/ines`);
  expect((await unreadOf('ines')).thread_ids).toEqual([]);
  await service.send('POST', path, { user_ids: ['ines'] });
  expect((await unreadOf('ines')).thread_ids).toEqual([thread]);
});

test('unread threads come page by page, newest first', async () => {
  const threads = [
    await openThread('kai', 'lea'),
    await openThread('kai', 'lea'),
    await openThread('kai', 'lea'),
  ];
  await say(threads[0] as string, 'first', 'kai');
  await say(threads[2] as string, 'last', 'kai');
  expect((await unreadOf('lea')).thread_ids).toEqual([threads[2], threads[0]]);
  const pages = [await unreadOf('lea', '&limit=1')];
  while (pages.at(-1).next_cursor !== undefined) {
    pages.push(await unreadOf('lea', `&limit=1&cursor=${pages.at(-1).next_cursor}`));
  }
  expect(pages.map(({ thread_ids }) => thread_ids)).toEqual([[threads[2]], [], [threads[0]]]);
});

test('only participants have a mark, on a message of the thread', async () => {
  const [thread, other] = [await openThread('max', 'nia'), await openThread('max')];
  const message = await say(thread, 'here', 'max');
  const otherMessage = await say(other, 'there', 'max');
  const wrong: [string, object, number, RegExp][] = [
    [thread, { message_id: message, user_id: 'stranger' }, 403, /^user_id is not a participant/],
    [newUlid(), { message_id: message, user_id: 'nia' }, 404, /thread/],
    [thread, { message_id: message }, 400, /^user_id /],
    [thread, { user_id: 'nia' }, 400, /^message_id /],
    [thread, { message_id: otherMessage, user_id: 'nia' }, 400, /^message_id /],
    [thread, { message_id: newUlid(), user_id: 'nia' }, 400, /^message_id /],
    [thread, { message_id: 'x', user_id: 'nia' }, 400, /^message_id /],
  ];
  for (const [id, body, status, error] of wrong) {
    const answer = await service.send('PUT', `/chat/threads/${id}/read`, body);
    expect([answer.status, answer.body], JSON.stringify(body)).toEqual([
      status,
      { error: expect.stringMatching(error) },
    ]);
  }
  expect((await service.send('GET', '/chat/unread')).status).toBe(400);
  expect((await service.send('GET', '/chat/unread?user_id=nia&cursor=x')).status).toBe(400);
  expect((await unreadOf('nia')).thread_ids).toEqual([thread]);
});

test('an erased message does not make a thread unread', async () => {
  const { pool, drop } = await testDatabase();
  const [thread, message] = ['0193a57b-a2a8-ee07-62c6-9a46d3f50541', '0193a57b-a2a8-ee07-62c6-9a46d3f50542'];
  await pool.query(`INSERT INTO chat_participants (thread_id, user_id, added_at) VALUES ($1, 'ana', now())`, [
    thread,
  ]);
  const unread = async () =>
    (await listUnread(pool, { userId: 'ana', openOnly: false }, { after: undefined, limit: 10 })).threadIds;
  const log = (position: number, kind: string) =>
    pool.query('INSERT INTO packet_log (position, packet_id, kind, thread_id) VALUES ($1, $2, $3, $4)', [
      position,
      message,
      kind,
      thread,
    ]);
  await log(1, 'chat.message');
  expect(await unread()).toEqual([thread]);
  await log(2, 'erased');
  expect(await unread()).toEqual([]);
  await drop();
});
