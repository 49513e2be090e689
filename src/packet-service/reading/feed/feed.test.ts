import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../../../test/helpers/eventually.ts';
import { type OpenFeed, openFeed } from '../../../../test/helpers/feed.ts';
import { type RunningService, runningService, type Send } from '../../../../test/helpers/service.ts';
import { enter, share, somebody, storedPacket } from '../../../../test/helpers/sharing.ts';
import { bearer, JWT_SECRET, secretToken } from '../../../../test/helpers/user-registry.ts';
import { queueEvents } from '../../core/log/store.ts';
import { newUlid, ulidToUuid } from '../../core/packet-format/ulid.ts';

let service: RunningService;
const feeds: OpenFeed[] = [];
beforeAll(async () => {
  service = await runningService();
});
afterAll(async () => {
  for (const feed of feeds) feed.close();
  await service.stop();
});

async function follow(userId: string, lastEventId?: string, url = service.url): Promise<OpenFeed> {
  const feed = await openFeed(url, userId, lastEventId);
  feeds.push(feed);
  return feed;
}

async function threadOf(...users: string[]): Promise<string> {
  const { body } = await service.send('POST', '/chat/threads', { name: 'Coffee', created_by: users[0] });
  const path = `/chat/threads/${body.thread_id}/participants`;
  await service.send('POST', path, { user_ids: users });
  return body.thread_id;
}

async function say(thread_id: string, from_user: string, text: string, send: Send = service.send) {
  const { status, body } = await send('POST', '/intake/chat-message', { thread_id, from_user, text });
  expect(status, JSON.stringify(body)).toBe(201);
  return body.packet_uuid as string;
}

const user = (name: string) => `${name}-${newUlid()}`;
const packetsOf = (feed: OpenFeed) => feed.events.map(({ data }) => data.packet_id);

test('a message event reaches all participants and nobody else; it names the packet without its content', async () => {
  const [amina, ben, stranger] = [user('amina'), user('ben'), user('stranger')];
  const thread = await threadOf(amina, ben);
  const [ofAmina, ofBen, ofStranger] = [await follow(amina), await follow(ben), await follow(stranger)];
  const packet = await say(thread, ben, 'the harvest has begun');
  await eventually(() => ofAmina.events.length === 1 && ofBen.events.length === 1);
  expect(ofAmina.events[0]).toEqual({
    event: 'chat.message',
    position: expect.any(Number),
    data: {
      notification_id: packet,
      type: 'chat.message',
      user_id: amina,
      packet_id: packet,
      thread_id: thread,
      from_user: ben,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    },
  });
  expect(ofBen.events[0]?.data.user_id).toBe(ben);
  expect(ofAmina.text()).not.toContain('harvest');
  expect(ofStranger.events).toEqual([]);
});

test('the answer is an event stream that proxies neither cache nor buffer', async () => {
  const { response, text } = await follow(user('amina'));
  expect(response.headers).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    'x-content-type-options': 'nosniff',
    'x-request-id': expect.any(String),
  });
  expect(text()).toMatch(/^retry: \d+\n\n:\nid: \d+(\.[0-9a-f]{8})?\n\n/);
});

test('shares and invitations reach their user', async () => {
  const amina = user('amina');
  const feed = await follow(amina);
  const [share, packet] = [newUlid(), await storedPacket(service)];
  const details = { share_id: share, from_user: 'ben', created_at: '2026-03-01T08:15:00.000Z' };
  const event = { packetId: ulidToUuid(packet), userId: amina, details };
  await queueEvents(service.pool, [
    { kind: 'share.created', ...event },
    { kind: 'invitation.sent', ...event, details: { ...details, from_user: 'zawadi' } },
    { kind: 'share.created', ...event, userId: user('another') },
  ]);
  await eventually(() => feed.events.length === 2);
  expect(feed.events.map(({ event, data }) => [event, data.from_user])).toEqual([
    ['share.created', 'ben'],
    ['invitation.sent', 'zawadi'],
  ]);
  expect(feed.events[0]?.data).toEqual({
    type: 'share.created',
    user_id: amina,
    packet_id: packet,
    ...details,
  });
});

test('a share and an invitation have the same notification_id in the feed and in the log of deliveries', async () => {
  const [shared, invited] = [somebody(), somebody()];
  await enter(service, shared.user, [shared.contact]);
  await enter(service, invited.user, [invited.contact], false);
  const packet = await storedPacket(service);
  for (const { user, contact } of [shared, invited]) {
    const feed = await follow(user);
    expect((await share(service, packet, contact)).status).toBe(201);
    await eventually(() => feed.events.length === 1);
    const { body } = await service.send('GET', `/notifications?user_id=${user}`);
    expect(feed.events[0]?.data.notification_id).toBe(body.notifications[0].notification_id);
  }
});

test('a client that reconnects with the last id gets what it has missed, then what is new, each once', async () => {
  const [amina, ben] = [user('amina'), user('ben')];
  const thread = await threadOf(amina, ben);
  const first = await follow(amina);
  const sent = [await say(thread, ben, '1'), await say(thread, ben, '2')];
  await eventually(() => first.events.length === 2);
  first.close();
  for (let n = 0; n < 450; n += 50) {
    sent.push(...(await Promise.all(Array.from({ length: 50 }, () => say(thread, ben, 'meanwhile')))));
  }
  const writing = Promise.all(Array.from({ length: 50 }, () => say(thread, ben, 'at the same time')));
  const second = await follow(amina, first.lastId());
  sent.push(...(await writing), await say(thread, ben, 'afterwards'));
  await eventually(() => second.events.length >= sent.length - 2);
  expect([...packetsOf(first), ...packetsOf(second)].sort()).toEqual(sent.sort());
  const ids = [...first.events, ...second.events].map(({ position }) => position);
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
});

test('a quiet feed can be resumed too: its position came before any event', async () => {
  const [amina, ben] = [user('amina'), user('ben')];
  const thread = await threadOf(amina, ben);
  const first = await follow(amina);
  first.close();
  const packet = await say(thread, ben, 'nobody listens');
  const second = await openFeed(`${service.url}`, amina, first.lastId());
  await eventually(() => second.events.length === 1);
  expect(packetsOf(second)).toEqual([packet]);
  second.close();
});

test('without a last id there is only what is new from now on', async () => {
  const [amina, ben] = [user('amina'), user('ben')];
  const thread = await threadOf(amina, ben);
  const early = await follow(amina);
  await say(thread, ben, 'before');
  await eventually(() => early.events.length === 1);
  const late = await follow(amina);
  const packet = await say(thread, ben, 'after');
  await eventually(() => late.events.length > 0);
  expect(packetsOf(late)).toEqual([packet]);
});

test('participants are determined when a message is delivered', async () => {
  const [amina, ben, zawadi] = [user('amina'), user('ben'), user('zawadi')];
  const thread = await threadOf(amina, ben);
  const [ofBen, ofZawadi] = [await follow(ben), await follow(zawadi)];
  await say(thread, amina, 'before');
  await eventually(() => ofBen.events.length === 1);
  await service.send('POST', `/chat/threads/${thread}/participants`, { user_ids: [zawadi] });
  await service.send('DELETE', `/chat/threads/${thread}/participants/${ben}`);
  const packet = await say(thread, amina, 'after');
  await eventually(() => ofZawadi.events.length === 1);
  expect(packetsOf(ofZawadi)).toEqual([packet]);
  expect(ofBen.events).toHaveLength(1);
});

test('a client that does not read is disconnected, and resumes without a gap', async () => {
  const amina = user('amina');
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  let text = '';
  socket.setEncoding('utf8').on('error', () => {});
  socket.on('data', chunk => {
    text += chunk;
  });
  socket.write(`GET /events?user_id=${amina} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
  await eventually(() => /^id: \S+$/m.test(text));
  const lastId = /^id: (\S+)$/m.exec(text)?.[1];
  socket.pause();
  const closed = new Promise(resolve => socket.on('close', resolve));

  // More than the kernel's buffers on both sides take.
  const large = { from_user: 'x'.repeat(100_000) };
  const events = Array.from({ length: 20 }, () => ({
    kind: 'share.created' as const,
    userId: amina,
    details: large,
  }));
  const rounds = 15;
  for (let round = 0; round < rounds; round++) await queueEvents(service.pool, events);
  const ben = user('ben');
  const other = await follow(ben);
  await queueEvents(service.pool, [{ kind: 'share.created', userId: ben, details: {} }]);
  await eventually(() => other.events.length === 1);
  socket.resume();
  await closed;
  expect(text.split('\nevent: ').length).toBeLessThan(rounds * events.length);

  const again = await follow(amina, lastId);
  await eventually(() => again.events.length === rounds * events.length);
});

test('a stop ends the feeds, and their clients resume at the next process', async () => {
  const [amina, ben] = [user('amina'), user('ben')];
  const thread = await threadOf(amina, ben);
  const next = await runningService({}, service);
  const first = await follow(amina, undefined, next.url);
  const sent = [await say(thread, ben, 'by another process')];
  await eventually(() => first.events.length === 1);
  await next.stop();
  expect(await first.ended).toBe(true);
  sent.push(await say(thread, ben, 'meanwhile'));
  const second = await follow(amina, first.lastId());
  await eventually(() => second.events.length === 1);
  expect([...packetsOf(first), ...packetsOf(second)]).toEqual(sent);
});

test('with a token it is the feed of its user', async () => {
  const guarded = await runningService(
    { AUTH_MODE: 'required', USER_REGISTRY_JWT_SECRET: JWT_SECRET },
    service,
  );
  const [amina, ben] = [user('amina'), user('ben')];
  const thread = await threadOf(amina, ben);
  const token = bearer(await secretToken(amina));
  expect((await guarded.send('GET', `/events?user_id=${amina}`)).status).toBe(401);
  expect((await guarded.send('GET', `/events?user_id=${ben}`, undefined, token)).status).toBe(403);
  const feed = await openFeed(guarded.url, '', undefined, token);
  const packet = await say(thread, ben, 'hello');
  await eventually(() => feed.events.length === 1);
  expect(packetsOf(feed)).toEqual([packet]);
  feed.close();
  await guarded.stop();
});

test('missing and wrong parameters are refused by name', async () => {
  const wrong: [string, string, Record<string, string>][] = [
    ['user_id', '/events', {}],
    ['last_event_id', '/events?user_id=amina&last_event_id=none', {}],
    ['last-event-id', '/events?user_id=amina', { 'last-event-id': '-1' }],
  ];
  for (const [field, path, headers] of wrong) {
    const { status, body } = await service.send('GET', path, undefined, headers);
    expect(status, path).toBe(400);
    expect(body.error).toMatch(new RegExp(`^${field} `));
  }
  expect((await service.send('HEAD', '/events?user_id=amina')).status).toBe(405);
});
