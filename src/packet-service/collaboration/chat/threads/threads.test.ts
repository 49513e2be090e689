import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runs } from '../../../../../test/helpers/property.ts';
import { type RunningService, runningService } from '../../../../../test/helpers/service.ts';
import { newUlid } from '../../../core/packet-format/ulid.ts';
import { MAX_TEXT, truncate } from '../messages/message.ts';

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service.stop());

const POINT = { lat: 40.7128, lon: -74.006 };
const POINT_GEOID = '60d1c38e874410359d1591417137d7c1f41f3707108fb83075d7691e4312ce33';

async function openThread(...participants: string[]): Promise<string> {
  const { status, body } = await service.send('POST', '/chat/threads', { name: 'Lot 7', created_by: 'ana' });
  expect(status).toBe(201);
  expect(Object.keys(body)).toEqual(['thread_id']);
  if (participants.length > 0) {
    await service.send('POST', `/chat/threads/${body.thread_id}/participants`, { user_ids: participants });
  }
  return body.thread_id;
}

async function say(thread_id: string, text: string, more: object = {}): Promise<string> {
  const answer = await service.send('POST', '/intake/chat-message', { thread_id, text, ...more });
  expect(answer.status, answer.text).toBe(201);
  expect(Object.keys(answer.body)).toEqual(['packet_uuid']);
  return answer.body.packet_uuid;
}

const packetOf = async (id: string) => (await service.send('GET', `/packets/${id}`)).body;
const messagesOf = async (thread: string, query = '') =>
  (await service.send('GET', `/chat/threads/${thread}/messages${query}`)).body;
const threadsOf = async (user: string) =>
  (await service.send('GET', `/chat/threads?user_id=${user}`)).body.threads;

test('the creator is a participant from the start; others are added once, and can leave', async () => {
  const thread = await openThread();
  const path = `/chat/threads/${thread}/participants`;
  expect((await threadsOf('ana')).map((thread: { thread_id: string }) => thread.thread_id)).toContain(thread);
  const added = await service.send('POST', path, { user_ids: ['ben', 'ben', 'ana', 'caro'] });
  expect([added.status, added.body]).toEqual([200, { message: expect.any(String), added: 2 }]);
  expect((await service.send('POST', path, { user_ids: ['ben'] })).body.added).toBe(0);
  expect(await threadsOf('ben')).toEqual([
    {
      thread_id: thread,
      name: 'Lot 7',
      created_by: 'ana',
      created_at: expect.stringMatching(/^\d{4}-.*(Z|[+-]\d\d:\d\d)$/),
    },
  ]);
  expect((await service.send('DELETE', `${path}/ben`)).status).toBe(204);
  expect(await threadsOf('ben')).toEqual([]);
  expect((await service.send('DELETE', `${path}/ben`)).status).toBe(404);
});

test('the participants of a thread are listed by user, all of them or page by page', async () => {
  const thread = await openThread('"caro"', 'ben', 'Äna');
  const path = `/chat/threads/${thread}/participants`;
  const { status, body } = await service.send('GET', path);
  const listed = ['"caro"', 'ana', 'ben', 'Äna'].map(user_id => ({
    user_id,
    added_at: expect.stringMatching(/^\d{4}-.*Z$/),
  }));
  expect([status, body]).toEqual([200, { participants: listed }]);
  const pages: unknown[] = [];
  let next = `${path}?limit=1`;
  for (;;) {
    const page = (await service.send('GET', next)).body;
    pages.push(...page.participants);
    if (page.next_cursor === undefined) break;
    next = `${path}?limit=1&cursor=${encodeURIComponent(page.next_cursor)}`;
  }
  expect(pages).toEqual(listed);
  expect((await service.send('GET', '/chat/threads/01JD7Q2M8XW3N5R6T8V9Y0Z1A2/participants')).status).toBe(
    404,
  );
});

test('messages with details name their sender and attachments', async () => {
  const thread = await openThread();
  const said = await say(thread, 'look', { from_user: 'ana', attachments: ['att_1', { id: 'é' }] });
  const anonymous = await say(thread, 'who?');
  const plain = await messagesOf(thread);
  expect(plain.messages.map((message: object) => Object.keys(message).length)).toEqual([4, 4]);
  expect((await messagesOf(thread, '?details=false')).messages).toEqual(plain.messages);
  for (const query of ['?details=true', '?details=true&limit=10']) {
    expect((await messagesOf(thread, query)).messages).toEqual([
      { ...plain.messages[0], packet_id: said, from_user: 'ana', attachments: ['att_1', { id: 'é' }] },
      { ...plain.messages[1], packet_id: anonymous, attachments: [] },
    ]);
  }
  const thread_id = thread;
  const { status, body } = await service.send('GET', `/chat/threads/${thread}`);
  expect([status, body]).toEqual([
    200,
    expect.objectContaining({ thread_id, name: 'Lot 7', created_by: 'ana' }),
  ]);
});

test('a thread is renamed, and everyone sees the new name', async () => {
  const thread = await openThread('dora');
  const renamed = await service.send('PATCH', `/chat/threads/${thread}`, { name: 'Lot 7, harvest' });
  expect([renamed.status, renamed.body.name]).toEqual([200, 'Lot 7, harvest']);
  expect((await threadsOf('dora'))[0].name).toBe('Lot 7, harvest');
});

test('malformed threads and participants are refused by field', async () => {
  const thread = await openThread();
  const wrong: [string, string, unknown, number, RegExp][] = [
    ['POST', '/chat/threads', { created_by: 'ana' }, 400, /^name /],
    ['POST', '/chat/threads', { name: '', created_by: 'ana' }, 400, /^name /],
    ['POST', '/chat/threads', { name: 'x' }, 400, /^created_by /],
    ['POST', '/chat/threads', { name: 'x', created_by: 5 }, 400, /^created_by /],
    ['GET', '/chat/threads', undefined, 400, /^user_id /],
    ['POST', `/chat/threads/${thread}/participants`, {}, 400, /^user_ids /],
    ['POST', `/chat/threads/${thread}/participants`, { user_ids: [] }, 400, /^user_ids /],
    ['POST', `/chat/threads/${thread}/participants`, { user_ids: [''] }, 400, /^user_ids\.0 /],
    ['POST', `/chat/threads/${newUlid()}/participants`, { user_ids: ['x'] }, 404, /thread/],
    ['POST', '/chat/threads/nonsense/participants', { user_ids: ['x'] }, 404, /thread/],
    ['PATCH', `/chat/threads/${newUlid()}`, { name: 'x' }, 404, /thread/],
    ['GET', `/chat/threads/${newUlid()}/messages`, undefined, 404, /thread/],
    ['GET', `/chat/threads/${thread}/messages?limit=0`, undefined, 400, /^limit /],
    ['GET', `/chat/threads/${thread}/messages?cursor=x`, undefined, 400, /^cursor /],
  ];
  for (const [method, path, body, status, error] of wrong) {
    const answer = await service.send(method, path, body);
    expect(answer.status, `${method} ${path}`).toBe(status);
    expect(answer.body).toEqual({ error: expect.stringMatching(error) });
  }
});

test('a message is a packet that keeps everything sent, and the sender', async () => {
  const thread = await openThread('ben');
  const id = await say(thread, 'Habari 🌱', {
    from_user: 'ben',
    mood: 'good',
    attachments: ['att_1'],
    lang: 'sw',
  });
  const packet = await packetOf(id);
  expect(packet.Header).toMatchObject({ id, geoid: '', type: 'chat_message' });
  expect(packet.Body).toEqual({
    text: 'Habari 🌱',
    thread_id: thread,
    from_user: 'ben',
    mood: 'good',
    attachments: ['att_1'],
    lang: 'sw',
  });
  expect(packet.Footer).toEqual({ hash: packet.Footer.hash, enc: 'none', lang: 'sw' });
  const hash = createHash('sha256')
    .update(`${canonicalize(packet.Header)}${canonicalize(packet.Body)}`)
    .digest('hex');
  expect(packet.Footer.hash).toBe(hash);
});

test("the GeoID is the capture point's, else the first listed one, else empty; the others are kept", async () => {
  const thread = await openThread();
  const geoidOf = async (more: object) => (await packetOf(await say(thread, 'here', more))).Header.geoid;
  expect(await geoidOf({ capture_point: POINT, geoids: ['g1', 'g2'] })).toBe(POINT_GEOID);
  expect(await geoidOf({ geoids: ['g1', 'g2'] })).toBe('g1');
  expect(await geoidOf({})).toBe('');
  const found = await service.send('GET', '/packets?geoid=g2');
  expect(found.body.count).toBe(2);
});

test('a message is stored even if the registry is unreachable or does not know the point', async () => {
  const thread = await openThread();
  const cut = await runningService({ ASSET_REGISTRY_URL: 'http://127.0.0.1:9' }, service);
  const strict = await runningService({ ASSET_REGISTRY_STRICT: 'true' }, service);
  for (const lonely of [cut, strict]) {
    const sent = { thread_id: thread, text: 'no registry', capture_point: POINT, geoids: ['g9'] };
    const { status, body } = await lonely.send('POST', '/intake/chat-message', sent);
    expect(status).toBe(201);
    expect((await packetOf(body.packet_uuid)).Header.geoid).toBe('g9');
    await lonely.stop();
  }
});

test('a malformed message is refused by field, and so is a sender who is not a participant', async () => {
  const thread = await openThread();
  const good = { thread_id: thread, text: 'x' };
  const wrong: [number, unknown, RegExp][] = [
    [400, { text: 'x' }, /^thread_id is required/],
    [400, { thread_id: thread }, /^text is required/],
    [400, { ...good, text: 5 }, /^text /],
    [400, { ...good, text: '' }, /^text /],
    [400, { ...good, thread_id: 5 }, /^thread_id /],
    [404, { ...good, thread_id: newUlid() }, /thread/],
    [404, { ...good, thread_id: 'nonsense' }, /thread/],
    [400, { ...good, capture_point: { lat: 100, lon: 0 } }, /^capture_point\.lat /],
    [400, { ...good, capture_point: null }, /^capture_point /],
    [400, { ...good, geoids: 'g' }, /^geoids /],
    [400, { ...good, geoids: [5] }, /^geoids\.0 /],
    [400, { ...good, attachments: 'x' }, /^attachments /],
    [403, { ...good, from_user: 'stranger' }, /from_user/],
  ];
  for (const [status, body, error] of wrong) {
    const answer = await service.send('POST', '/intake/chat-message', body);
    expect(answer.status, JSON.stringify(body)).toBe(status);
    expect(answer.body).toEqual({ error: expect.stringMatching(error) });
  }
  await say(thread, '', { attachments: ['att_1'] });
});

test(`a longer text is cut to ${MAX_TEXT} code points, and marked`, async () => {
  const thread = await openThread();
  const long = await packetOf(await say(thread, '🌱'.repeat(MAX_TEXT + 50)));
  expect(long.Body.text).toBe('🌱'.repeat(MAX_TEXT));
  expect(long.Footer.tags).toEqual(['truncated']);
  const fits = await packetOf(await say(thread, '🌱'.repeat(MAX_TEXT)));
  expect(fits.Footer).not.toHaveProperty('tags');
  const { messages } = await messagesOf(thread);
  expect(messages.map(({ text }: { text: string }) => [...text].length)).toEqual([MAX_TEXT, MAX_TEXT]);
});

test('a cut text is the longest well-formed beginning of at most that many code points', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), text => {
      const cut = truncate(text);
      expect(cut).toBe([...text].slice(0, MAX_TEXT).join(''));
      expect(text.startsWith(cut)).toBe(true);
    }),
    { numRuns: runs(100) },
  );
});

test('messages come oldest first, all of them or page by page, each once', async () => {
  const thread = await openThread();
  const sent: string[] = [];
  for (let n = 0; n < 25; n++) sent.push(await say(thread, `message ${n}`));
  const all = await messagesOf(thread);
  expect(all.messages.map((message: { packet_id: string }) => message.packet_id)).toEqual(sent);
  expect(all.messages[0]).toEqual({
    packet_id: sent[0],
    text: 'message 0',
    timestamp: expect.any(String),
    geoid: '',
  });
  expect(all.messages[0].timestamp).toBe((await packetOf(sent[0] as string)).Header.timestamp);
  expect(all).not.toHaveProperty('next_cursor');

  for (const order of ['asc', 'desc']) {
    const read: string[] = [];
    for (let cursor = ''; ; ) {
      const page = await messagesOf(thread, `?limit=7&order=${order}&cursor=${cursor}`);
      read.push(...page.messages.map((message: { packet_id: string }) => message.packet_id));
      if (page.next_cursor === undefined) break;
      cursor = page.next_cursor;
    }
    expect(read).toEqual(order === 'asc' ? sent : sent.toReversed());
  }
});

test('a retry with the same Idempotency-Key opens one thread and stores one message', async () => {
  const key = { 'idempotency-key': 'once' };
  const threads = await Promise.all(
    Array.from({ length: 8 }, () =>
      service.send('POST', '/chat/threads', { name: 'One', created_by: 'eve' }, key),
    ),
  );
  expect(new Set(threads.map(({ text }) => text)).size).toBe(1);
  expect(await threadsOf('eve')).toHaveLength(1);
  const thread = threads[0]?.body.thread_id;
  const sent = { thread_id: thread, text: 'once' };
  const messages = await Promise.all(
    Array.from({ length: 8 }, () => service.send('POST', '/intake/chat-message', sent, key)),
  );
  expect(new Set(messages.map(({ text }) => text)).size).toBe(1);
  expect((await messagesOf(thread)).messages).toHaveLength(1);
});

test('a message finalized offline obeys the rules of the chat and is listed in its thread', async () => {
  const thread = await openThread();
  const finalize = (header: object, body: object) => {
    const Header = {
      id: newUlid(),
      geoid: 'g',
      timestamp: '2026-03-01T08:15:00+03:00',
      type: 'chat_message',
      ...header,
    };
    const Body = { text: 'from afar', thread_id: thread, ...body };
    const hash = createHash('sha256')
      .update(`${canonicalize(Header)}${canonicalize(Body)}`)
      .digest('hex');
    return { Header, Body, Footer: { hash, enc: 'none', lang: 'en' } };
  };
  const good = finalize({}, { from_user: 'ana' });
  expect((await service.send('POST', '/packets', good)).status).toBe(201);
  expect((await messagesOf(thread)).messages).toEqual([
    { packet_id: good.Header.id, text: 'from afar', timestamp: '2026-03-01T08:15:00+03:00', geoid: 'g' },
  ]);
  const refused: [number, object][] = [
    [403, finalize({}, { from_user: 'stranger' })],
    [404, finalize({}, { thread_id: newUlid() })],
    [400, finalize({}, { thread_id: undefined })],
    [400, finalize({}, { text: 7 })],
    [400, finalize({}, { text: 'x'.repeat(MAX_TEXT + 1) })],
  ];
  for (const [status, packet] of refused) {
    const answer = await service.send('POST', '/packets', packet);
    expect([answer.status, Object.keys(answer.body)], answer.text).toEqual([status, ['error']]);
  }
  expect((await messagesOf(thread)).messages).toHaveLength(1);
});
