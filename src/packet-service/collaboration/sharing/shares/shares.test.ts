import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runs } from '../../../../../test/helpers/property.ts';
import { type RunningService, runningService } from '../../../../../test/helpers/service.ts';
import {
  enter,
  type InboxShare,
  inbox,
  prove,
  share,
  somebody,
  storedPacket,
} from '../../../../../test/helpers/sharing.ts';
import { bearer, JWT_SECRET, secretToken } from '../../../../../test/helpers/user-registry.ts';
import { openFileStore } from '../../../../platform/files/index.ts';
import { readSettings } from '../../../../platform/settings/settings.ts';
import { newUlid } from '../../../core/packet-format/ulid.ts';
import { erasePacket } from '../../../maintenance/erasure/erase.ts';

let folder: string;
let service: RunningService;
let neighbour: RunningService;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'fieldtrace-test-'));
  service = await runningService({ DATA_DIR: folder });
  neighbour = await runningService({ DATA_DIR: folder }, service);
});
afterAll(async () => {
  await neighbour.stop();
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

const ULID = expect.stringMatching(/^[0-9A-Z]{26}$/);

test('a new installation creates an invitation, and a share once the contact is in the directory', async () => {
  const [packet, ben] = [await storedPacket(service), somebody()];
  const invited = await share(service, packet, ben.contact);
  expect([invited.status, invited.body]).toEqual([
    201,
    { invitation_id: ULID, status: 'invitation_sent', message: expect.any(String) },
  ]);

  const eve = somebody();
  await enter(service, eve.user, [eve.contact]);
  const shared = await share(service, packet, eve.contact);
  expect([shared.status, shared.body]).toEqual([
    201,
    { share_id: ULID, status: 'created', message: expect.any(String) },
  ]);
  expect(await inbox(service, eve.user)).toEqual([
    {
      share_id: shared.body.share_id,
      packet_id: packet,
      from_user: 'ana',
      status: 'pending',
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
    },
  ]);
});

test('users in the directory who do not want to be found are invited', async () => {
  const [packet, ben] = [await storedPacket(service), somebody()];
  await enter(service, ben.user, [ben.contact], false);
  expect((await share(service, packet, ben.contact)).body.status).toBe('invitation_sent');
  expect(await inbox(service, ben.user)).toEqual([]);
});

test('an invitation becomes a share as soon as its contact can be found in any way', async () => {
  const [packet, ben] = [await storedPacket(service), somebody()];
  const { invitation_id } = (await share(service, packet, ben.contact)).body;
  await enter(service, ben.user, [ben.contact], false);
  expect(await inbox(service, ben.user)).toEqual([]);
  await enter(service, ben.user, [ben.contact], true);
  expect(await inbox(service, ben.user)).toMatchObject([{ share_id: invitation_id, packet_id: packet }]);
  expect((await share(service, packet, ben.contact)).body).toMatchObject({
    share_id: invitation_id,
    status: 'created',
  });
});

test('a packet, sender and contact have one share or invitation; changing one of them creates another', async () => {
  const [firstPacket, secondPacket] = [await storedPacket(service), await storedPacket(service)];
  const [ben, eve] = [somebody(), somebody()];
  await enter(service, eve.user, [eve.contact]);
  for (const contact of [ben.contact, eve.contact]) {
    const first = await share(service, firstPacket, contact);
    expect((await share(service, firstPacket, ` ${contact.toUpperCase()} `)).text).toBe(first.text);
    for (const other of [
      await share(service, secondPacket, contact),
      await share(service, firstPacket, contact, 'zoe'),
    ]) {
      expect(other.body.status).toBe(first.body.status);
      expect(other.text).not.toBe(first.text);
    }
  }
  expect(await inbox(service, eve.user)).toHaveLength(3);
});

test('20 simultaneous requests for one share, to two processes, create one share and get one answer', async () => {
  for (const discoverable of [true, false]) {
    const [packet, ben] = [await storedPacket(service), somebody()];
    await enter(service, ben.user, [ben.contact], discoverable);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => share(n % 2 ? service : neighbour, packet, ben.contact)),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(201);
    const rows = await service.pool.query('SELECT 1 FROM shares WHERE contact = $1', [ben.contact]);
    const notified = await service.pool.query('SELECT 1 FROM notifications WHERE contact = $1', [
      ben.contact,
    ]);
    expect([rows.rowCount, notified.rowCount]).toEqual([1, 1]);
  }
});

test('a user who becomes discoverable while others share misses no share', async () => {
  for (let round = 0; round < 5; round++) {
    const ben = somebody();
    const packets = await Promise.all(Array.from({ length: 8 }, () => storedPacket(service)));
    await Promise.all([
      ...packets.map((packet, n) => share(n % 2 ? service : neighbour, packet, ben.contact)),
      enter(service, ben.user, [ben.contact]),
    ]);
    const shared = await inbox(service, ben.user);
    expect(shared.map(({ packet_id }) => packet_id).sort()).toEqual(packets.sort());
  }
});

test('only the recipient accepts or rejects, once; repeating is fine, the opposite is 409', async () => {
  const ben = somebody();
  await enter(service, ben.user, [ben.contact]);
  for (const [verb, status, opposite] of [
    ['accept', 'accepted', 'reject'],
    ['reject', 'rejected', 'accept'],
  ]) {
    const packet = await storedPacket(service);
    const { share_id } = (await share(service, packet, ben.contact)).body;
    const decide = (what: string, user?: string) =>
      service.send('POST', `/shares/${share_id}/${what}`, { user_id: user });
    expect((await decide(verb as string, 'mallory')).status).toBe(403);
    expect((await decide(verb as string, 'ana')).status).toBe(403);
    expect((await decide(verb as string)).status).toBe(400);
    for (let again = 0; again < 2; again++) {
      const { status: code, body } = await decide(verb as string, ben.user);
      expect([code, body]).toMatchObject([200, { share_id, packet_id: packet, status }]);
    }
    const conflict = await decide(opposite as string, ben.user);
    expect([conflict.status, conflict.body.error]).toEqual([409, `share ${share_id} was already ${status}`]);
    expect(await inbox(service, ben.user, `&status=${status}`)).toMatchObject([{ share_id }]);
  }
  expect(await inbox(service, ben.user, '&status=pending')).toEqual([]);
});

test('simultaneous accepts and rejects of one share have one outcome', async () => {
  const ben = somebody();
  await enter(service, ben.user, [ben.contact]);
  const { share_id } = (await share(service, await storedPacket(service), ben.contact)).body;
  const answers = await Promise.all(
    Array.from({ length: 16 }, (_, n) =>
      service.send('POST', `/shares/${share_id}/${n % 2 ? 'accept' : 'reject'}`, { user_id: ben.user }),
    ),
  );
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses).toEqual([...Array(8).fill(200), ...Array(8).fill(409)]);
});

test('an invitation is not a share yet: it is in no inbox, and cannot be accepted as one', async () => {
  const ben = somebody();
  const { invitation_id } = (await share(service, await storedPacket(service), ben.contact)).body;
  for (const id of [invitation_id, newUlid(), 'nonsense']) {
    const answer = await service.send('POST', `/shares/${id}/accept`, { user_id: ben.user });
    expect([answer.status, answer.body.error]).toEqual([404, `share ${id} not found`]);
  }
});

test('the inbox gives each share once, newest first, whatever the page and whatever arrives meanwhile', async () => {
  const ben = somebody();
  await enter(service, ben.user, [ben.contact]);
  const packet = await storedPacket(service);
  let senders = 0;
  const arrive = () => share(service, packet, ben.contact, `sender ${++senders}`);
  await Promise.all(Array.from({ length: 25 }, arrive));
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 9 }),
      fc.constantFrom('', '&status=pending'),
      async (limit, filter) => {
        const before = (await inbox(service, ben.user)).map(({ share_id }) => share_id);
        const read: { share_id: string; created_at: string }[] = [];
        for (let cursor = ''; ; ) {
          const path = `/shares/inbox?user_id=${ben.user}${filter}&limit=${limit}&cursor=${cursor}`;
          const { body } = await service.send('GET', path);
          read.push(...body.shares);
          expect(body.shares.length).toBeLessThanOrEqual(limit);
          if (body.next_cursor === undefined) break;
          cursor = body.next_cursor;
          await arrive();
        }
        expect(read.map(({ share_id }) => share_id)).toEqual(before);
        const times = read.map(({ created_at }) => created_at);
        expect(times).toEqual(times.toSorted().reverse());
      },
    ),
    { numRuns: runs(6) },
  );
});

test('an unknown packet is 404, and an invalid share is refused by field', async () => {
  const { contact } = somebody();
  for (const id of [newUlid(), 'nonsense']) {
    const answer = await share(service, id, contact);
    expect([answer.status, answer.body]).toEqual([404, { error: `packet ${id} not found` }]);
  }
  const good = { packet_id: await storedPacket(service), from_user: 'ana', contact_value: contact };
  const wrong: [object, string][] = [
    [{ packet_id: undefined }, 'packet_id'],
    [{ from_user: undefined }, 'from_user'],
    [{ contact_value: undefined }, 'contact_value'],
    [{ contact_value: '' }, 'contact_value'],
    [{ contact_value: '  ' }, 'contact_value'],
    [{ contact_value: 7 }, 'contact_value'],
    [{ contact_value: 'x'.repeat(321) }, 'contact_value'],
    [{ contact_value: 'ben@example.org\r\nBcc: eve@example.org' }, 'contact_value'],
    [{ from_user: '' }, 'from_user'],
    [{ from_user: 'x'.repeat(257) }, 'from_user'],
  ];
  for (const [change, field] of wrong) {
    const answer = await service.send('POST', '/shares', { ...good, ...change });
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(`^${field} `)]);
  }
  const ben = somebody();
  for (const query of ['', 'user_id=', `user_id=${ben.user}&status=lost`, `user_id=${ben.user}&limit=0`]) {
    expect((await service.send('GET', `/shares/inbox?${query}`)).status, query).toBe(400);
  }
});

test('a cursor is valid only in its own inbox', async () => {
  const [ben, eve] = [somebody(), somebody()];
  await enter(service, ben.user, [ben.contact]);
  const { share_id } = (await share(service, await storedPacket(service), ben.contact)).body;
  expect((await service.send('GET', `/shares/inbox?user_id=${ben.user}&cursor=${share_id}`)).status).toBe(
    200,
  );
  for (const cursor of [share_id, newUlid(), 'nonsense']) {
    const answer = await service.send('GET', `/shares/inbox?user_id=${eve.user}&cursor=${cursor}`);
    expect(answer.status, cursor).toBe(400);
  }
});

test('with an Idempotency-Key a share is answered the same again, and another body is 409', async () => {
  const [packet, ben] = [await storedPacket(service), somebody()];
  const key = { 'idempotency-key': 'share' };
  const first = await share(service, packet, ben.contact, 'ana', key);
  // By now the same share would be answered as created.
  await enter(service, ben.user, [ben.contact]);
  const again = await share(neighbour, packet, ben.contact, 'ana', key);
  expect([again.status, again.text]).toEqual([201, first.text]);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect((await share(service, packet, ben.contact, 'zoe', key)).status).toBe(409);
});

test('with tokens everyone shares as themselves, what they may read, and decides about their own alone', async () => {
  const closed = await runningService(
    { DATA_DIR: folder, AUTH_MODE: 'required', USER_REGISTRY_JWT_SECRET: JWT_SECRET },
    service,
  );
  const [ana, ben, eve] = await Promise.all(
    ['ana', 'ben', 'eve'].map(async user => bearer(await secretToken(user))),
  );
  const contact = somebody().contact;
  await prove(closed, 'ben', contact, ben as Record<string, string>);
  const thread = (await closed.send('POST', '/chat/threads', { name: 'Two' }, ana)).body.thread_id;
  const message = { thread_id: thread, text: 'between us' };
  const packet = (await closed.send('POST', '/intake/chat-message', message, ana)).body.packet_uuid;
  const send = (headers: Record<string, string> | undefined, from?: string) =>
    closed.send('POST', '/shares', { packet_id: packet, from_user: from, contact_value: contact }, headers);
  expect((await send(undefined)).status).toBe(401);
  expect((await send(ana, 'ben')).status).toBe(403);
  expect((await send(eve)).status).toBe(403);
  const { share_id } = (await send(ana)).body;
  expect((await send(ana, 'ana')).body.share_id).toBe(share_id);

  expect((await closed.send('GET', '/shares/inbox?user_id=ben', undefined, eve)).status).toBe(403);
  expect((await closed.send('GET', '/shares/inbox', undefined, eve)).body.shares).toEqual([]);
  expect((await closed.send('GET', '/shares/inbox', undefined, ben)).body.shares).toMatchObject([
    { share_id, from_user: 'ana' },
  ]);
  const decide = (headers: Record<string, string> | undefined, user?: string) =>
    closed.send('POST', `/shares/${share_id}/accept`, { user_id: user }, headers);
  expect((await decide(eve)).status).toBe(403);
  expect((await decide(eve, 'ben')).status).toBe(403);
  // The token says who decides: no body is needed, and an empty one is none.
  const path = `/shares/${share_id}`;
  expect((await closed.send('POST', `${path}/accept`, undefined, ben)).body).toMatchObject({
    share_id,
    status: 'accepted',
  });
  const empty = { ...ben, 'content-type': 'text/plain' };
  expect((await closed.send('POST', `${path}/accept`, '', empty)).status).toBe(200);
  expect((await closed.send('POST', `${path}/reject`, undefined, ben)).status).toBe(409);
  expect((await closed.send('POST', `${path}/accept`, undefined, eve)).status).toBe(403);
  const unnamed = await service.send('POST', `${path}/accept`);
  expect([unnamed.status, unnamed.body.error]).toEqual([400, 'user_id is required']);
  expect((await decide(ben)).body).toMatchObject({ share_id, status: 'accepted' });
  await closed.stop();
});

test('an inbox summarises its packets, except erased ones', async () => {
  const ben = somebody();
  await enter(service, ben.user, [ben.contact]);
  const [shown, rejected, erased] = await Promise.all([1, 2, 3].map(() => storedPacket(service)));
  for (const packet of [shown, rejected, erased]) {
    await share(service, packet as string, ben.contact, `a friend of ${ben.user}`);
  }
  const list = (query = '') => inbox(service, ben.user, `&details=true${query}`);
  const of = (inbox: InboxShare[], id: string | undefined) => inbox.find(({ packet_id }) => packet_id === id);
  const { share_id } = of(await list(), rejected) as InboxShare;
  await service.send('POST', `/shares/${share_id}/reject`, { user_id: ben.user });
  await erasePacket(
    {
      connection: service.connection,
      files: openFileStore(readSettings({ DATA_DIR: folder })),
      patienceMs: 0,
    },
    erased as string,
    'asked for',
  );
  for (const query of ['', '&limit=10']) {
    const found = await list(query);
    expect(found).toHaveLength(3);
    expect(of(found, shown)).toMatchObject({
      status: 'pending',
      packet: { type: 'note', timestamp: '2026-03-01T08:15:00Z', text: 'Secret leaf rust' },
    });
    // Observations can be read by everyone.
    expect(of(found, rejected)).toMatchObject({ status: 'rejected', packet: { text: 'Secret leaf rust' } });
    expect(of(found, erased)).not.toHaveProperty('packet');
  }
  expect(of(await inbox(service, ben.user), shown)).not.toHaveProperty('packet');
});

test('the inbox shows the kind of a message whose share was rejected, but not its text', async () => {
  const ben = somebody();
  await enter(service, ben.user, [ben.contact]);
  const sender = `a friend of ${ben.user}`;
  const opened = { name: 'Lot 7', created_by: sender };
  const { thread_id } = (await service.send('POST', '/chat/threads', opened)).body;
  const said = { thread_id, text: 'Secret rust', from_user: sender, geoids: ['plot-7'] };
  const { packet_uuid } = (await service.send('POST', '/intake/chat-message', said)).body;
  const { share_id } = (await share(service, packet_uuid, ben.contact, sender)).body;
  const packetIn = async () => (await inbox(service, ben.user, '&details=true'))[0];
  expect(await packetIn()).toMatchObject({ packet: { text: 'Secret rust' } });
  await service.send('POST', `/shares/${share_id}/reject`, { user_id: ben.user });
  const { packet } = (await packetIn()) as InboxShare & { packet?: object };
  expect(packet).toEqual({ type: 'chat_message', timestamp: expect.any(String), geoid: 'plot-7' });
});

test('only the sender sees with whom a packet is shared and the outcome', async () => {
  const [ben, cas, dan] = [somebody(), somebody(), somebody()];
  await enter(service, ben.user, [ben.contact]);
  await enter(service, cas.user, [cas.contact]);
  const [ana, eve] = [`a friend of ${ben.user}`, `a friend of ${cas.user}`];
  const packet = await storedPacket(service);
  const ids: string[] = [];
  for (const { contact } of [ben, cas, dan]) {
    const { body } = await share(service, packet, contact, ana);
    ids.push(body.share_id ?? body.invitation_id);
  }
  await share(service, packet, ben.contact, eve);
  await share(service, await storedPacket(service), ben.contact, ana);
  const sentBy = (user: string) =>
    service.send('GET', `/packets/${packet}/shares?user_id=${encodeURIComponent(user)}`);
  const statuses = async () =>
    (await sentBy(ana)).body.shares.map(({ share_id, contact_value, status }: Record<string, string>) => [
      share_id,
      contact_value,
      status,
    ]);
  expect(await statuses()).toEqual([
    [ids[2], dan.contact, 'invited'],
    [ids[1], cas.contact, 'pending'],
    [ids[0], ben.contact, 'pending'],
  ]);
  await service.send('POST', `/shares/${ids[0]}/accept`, { user_id: ben.user });
  await service.send('POST', `/shares/${ids[1]}/reject`, { user_id: cas.user });
  expect((await statuses()).map(([, , status]: string[]) => status)).toEqual([
    'invited',
    'rejected',
    'accepted',
  ]);
  // The sender does not learn who has the contact.
  expect((await sentBy(ana)).text).not.toContain(ben.user);
  expect((await sentBy(eve)).body.shares).toHaveLength(1);
  expect((await sentBy(ben.user)).body.shares).toEqual([]);
  expect((await service.send('GET', `/packets/${packet}/shares`)).status).toBe(400);
  const unknown = `/packets/01JD7Q2M8XW3N5R6T8V9Y0Z1A2/shares?user_id=nobody-yet`;
  expect((await service.send('GET', unknown)).status).toBe(404);
});
