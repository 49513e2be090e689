import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Arrivals, watchArrivals } from '../../../../test/helpers/arrivals.ts';
import { eventually } from '../../../../test/helpers/eventually.ts';
import { runs } from '../../../../test/helpers/property.ts';
import { type RunningService, runningService } from '../../../../test/helpers/service.ts';
import { bearer, JWT_SECRET, secretToken } from '../../../../test/helpers/user-registry.ts';
import { type LogCursor, logCursorText, parseLogCursor } from '../../core/log/log-cursor.ts';
import { readCursors } from '../../core/log/read-store.ts';
import { queueEvents } from '../../core/log/store.ts';
import { newUlid, ulidToUuid } from '../../core/packet-format/ulid.ts';

interface Item {
  position: number;
  kind: string;
  // biome-ignore lint/suspicious/noExplicitAny: packets are compared whole
  packet: any;
}

interface Page {
  packets: Item[];
  count: number;
  /** `position.tag` */
  since: string;
  more: boolean;
}

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service.stop());

const user = (name: string) => `${name}-${newUlid()}`;
let points = 0;
/** A location of its own each time, so that its GeoID is that of one test alone. */
const newLocation = () => ({ lat: 1 + ++points / 1000, lon: 29 });

async function observe(location: object, message = ''): Promise<string> {
  const body = { observed_at: '2026-03-01T08:15:00Z', capture_point: location, message };
  const { status, body: answer } = await service.send('POST', '/intake/scouting', body);
  expect(status).toBe(201);
  return answer.packet_uuid;
}

async function threadOf(...users: string[]): Promise<string> {
  const { body } = await service.send('POST', '/chat/threads', { name: 'Coffee', created_by: users[0] });
  await service.send('POST', `/chat/threads/${body.thread_id}/participants`, { user_ids: users });
  return body.thread_id;
}

async function say(thread_id: string, more: object = {}): Promise<string> {
  const { body } = await service.send('POST', '/intake/chat-message', { thread_id, text: 'hello', ...more });
  return body.packet_uuid;
}

const geoidOf = async (packet: string) => (await service.send('GET', `/packets/${packet}`)).body.Header.geoid;

async function page(query: Record<string, unknown>, headers = {}, of = service): Promise<Page> {
  const parameters = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  );
  const { status, text, body } = await of.send('GET', `/sync/packets?${parameters}`, undefined, headers);
  expect(status, text).toBe(200);
  expect(body.count).toBe(body.packets.length);
  return body;
}

/** Everything from a position to the end of the log, page by page. */
async function all(query: Record<string, unknown>, headers = {}): Promise<Item[]> {
  const items: Item[] = [];
  for (let at = { since: '0', more: true, ...query }; at.more; ) {
    const next = await page({ limit: 1000, ...query, since: at.since }, headers);
    expect(parseLogCursor(next.since).position).toBeGreaterThanOrEqual(parseLogCursor(at.since).position);
    items.push(...next.packets);
    at = next;
  }
  return items;
}

const idsOf = (items: Item[]) => items.map(({ packet }) => packet.Header.id);

/** The cursor at a position, or at the end of the log. */
async function cursorAt(position?: number): Promise<string> {
  const { cursors, head } = await readCursors(service.pool, position === undefined ? [] : [position]);
  return logCursorText(position === undefined ? head : (cursors[0] as LogCursor));
}

/** The end of the log once it contains everything that was answered. */
async function end(): Promise<string> {
  await eventually(async () => {
    const { rows } = await service.pool.query('SELECT count(*)::int AS waiting FROM packet_log_queue');
    return rows[0].waiting === 0;
  });
  return cursorAt();
}

test('pages of any size, read to the end, have every packet once, as GET returns it', async () => {
  const thread = await threadOf(user('amina'));
  const sent = [];
  for (let n = 0; n < 40; n++) sent.push(n % 4 === 0 ? await say(thread) : await observe(newLocation()));
  await end();
  const items = await all({});
  const { body } = await service.send('GET', '/packets?limit=1000');
  expect(idsOf(items).sort()).toEqual(body.packets.map(({ Header }: Item['packet']) => Header.id).sort());
  expect(items.map(({ position }) => position)).toEqual(items.map((_, n) => n + 1));
  expect(idsOf(items).slice(-40)).toEqual(sent);
  for (const { kind, packet } of items.slice(-5)) {
    expect(packet).toEqual((await service.send('GET', `/packets/${packet.Header.id}`)).body);
    expect(kind).toBe(packet.Header.type === 'chat_message' ? 'chat.message' : 'packet');
  }
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 60 }), fc.nat(40), async (limit, since) => {
      expect(await all({ limit, since: await cursorAt(since) })).toEqual(items.slice(since));
    }),
    { numRuns: runs(15) },
  );
});

test('a GeoID narrows it to packets that have it, as their own or a further one', async () => {
  const location = newLocation();
  const own = await observe(location);
  const geoid = await geoidOf(own);
  await observe(newLocation());
  const thread = await threadOf(user('amina'));
  const further = await say(thread, { geoids: ['elsewhere', geoid] });
  const both = await say(thread, { capture_point: location, geoids: [geoid] });
  const head = await end();
  expect(idsOf(await all({ geoid }))).toEqual([own, further, both]);
  expect(idsOf(await all({ geoid, limit: 1 }))).toEqual([own, further, both]);
  expect(await page({ geoid: 'nowhere' })).toEqual({ packets: [], count: 0, since: head, more: false });
});

test('a GeoID with thousands of packets is synced in the same way', async () => {
  const location = newLocation();
  const first = await observe(location);
  const geoid = await geoidOf(first);
  const packets = Array.from({ length: 2500 }, (_, n) => ({
    intake: 'scouting',
    body: { observed_at: '2026-03-01T08:15:00Z', capture_point: n % 5 ? location : newLocation(), n },
  }));
  for (let at = 0; at < packets.length; at += 500) {
    const { status } = await service.send('POST', '/intake/batch', packets.slice(at, at + 500));
    expect(status).toBe(200);
  }
  await observe(location);
  await end();
  const items = await all({ geoid, limit: 300 });
  expect(items).toHaveLength(2002);
  expect(items.every(({ packet }) => packet.Header.geoid === geoid)).toBe(true);
  expect(items.map(({ position }) => position)).toEqual(
    items.map(({ position }) => position).toSorted((a, b) => a - b),
  );
  expect(new Set(idsOf(items)).size).toBe(2002);
});

test('a user gets the messages of the threads, and what was shared, at the place of the share', async () => {
  const [amina, ben] = [user('amina'), user('ben')];
  const early = await observe(newLocation());
  const thread = await threadOf(amina, ben);
  const foreign = await threadOf(ben);
  const sent = [await say(thread), await say(thread)];
  await say(foreign);
  await queueEvents(service.pool, [
    { kind: 'share.created', packetId: ulidToUuid(early), userId: amina, details: { from_user: ben } },
    { kind: 'invitation.sent', packetId: ulidToUuid(early), userId: amina, details: { from_user: ben } },
    { kind: 'share.created', packetId: ulidToUuid(early), userId: user('another'), details: {} },
  ]);
  sent.push(early, await say(thread));
  const head = await end();
  const items = await all({ user_id: amina, limit: 2 });
  expect(idsOf(items)).toEqual(sent);
  expect(items.map(({ kind }) => kind)).toEqual([
    'chat.message',
    'chat.message',
    'share.created',
    'chat.message',
  ]);
  expect(await page({ user_id: user('nobody') })).toMatchObject({ packets: [], since: head, more: false });
});

test('events that concern only users advance the position and return no packet', async () => {
  const since = await end();
  await queueEvents(service.pool, [{ kind: 'invitation.sent', userId: user('amina'), details: {} }]);
  const next = await end();
  expect(parseLogCursor(next).position).toBe(parseLogCursor(since).position + 1);
  expect(await page({ since })).toEqual({ packets: [], count: 0, since: next, more: false });
});

/** Waits until a process has received a number of requests and read the log for each. */
async function untilTheyWait(of: RunningService, count: number, arrivals: Arrivals): Promise<void> {
  await eventually(() => arrivals.requests('/sync/packets') === count);
  // Its statement is sent after theirs, and then theirs are answered as well.
  await of.send('GET', '/sync/packets?limit=1');
  await eventually(async () => {
    const { rowCount } = await service.pool.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid()`,
    );
    return rowCount === 0;
  });
  arrivals.end();
}

test('a request with wait is answered when an entry comes, from any user and process', async () => {
  const other = await runningService({}, service);
  const location = newLocation();
  const geoid = await geoidOf(await observe(location));
  const amina = user('amina');
  const thread = await threadOf(amina);
  const since = await end();
  const arrivals = watchArrivals();
  const waiting = [{}, { geoid }, { user_id: amina }].map(wanted =>
    page({ since, wait: 30, ...wanted }, {}, other),
  );
  await untilTheyWait(other, 3, arrivals);
  const unwanted = await observe(newLocation());
  expect(idsOf((await waiting[0])?.packets ?? [])).toEqual([unwanted]);
  const wanted = await observe(location);
  const message = await say(thread);
  expect(idsOf((await waiting[1])?.packets ?? [])).toEqual([wanted]);
  expect(idsOf((await waiting[2])?.packets ?? [])).toEqual([message]);
  await other.stop();
});

test('a wait ends with an empty page when its time is over, and when the service stops', async () => {
  const since = await end();
  expect(await page({ since, wait: 0.05 })).toEqual({ packets: [], count: 0, since, more: false });
  const other = await runningService({}, service);
  const arrivals = watchArrivals();
  const waiting = page({ since, wait: 60 }, {}, other);
  await untilTheyWait(other, 1, arrivals);
  await other.stop();
  expect(await waiting).toMatchObject({ packets: [], since });
});

test("with a token other people's threads are left out, and another user's sync is refused", async () => {
  const guarded = await runningService(
    { AUTH_MODE: 'required', USER_REGISTRY_JWT_SECRET: JWT_SECRET },
    service,
  );
  const [amina, ben] = [user('amina'), user('ben')];
  const since = await end();
  const location = newLocation();
  const observed = await observe(location);
  const geoid = await geoidOf(observed);
  const shared = await threadOf(amina, ben);
  const foreign = await threadOf(ben);
  const readable = await say(shared, { geoids: [geoid] });
  const secret = await say(foreign, { geoids: [geoid] });
  await queueEvents(service.pool, [{ kind: 'share.created', packetId: ulidToUuid(secret), userId: amina }]);
  await end();
  const token = bearer(await secretToken(amina));
  const seen = async (query: object) => (await page({ since, ...query }, token, guarded)).packets;
  expect(idsOf(await seen({}))).toEqual([observed, readable]);
  expect(idsOf(await seen({ geoid }))).toEqual([observed, readable]);
  expect(idsOf(await seen({ user_id: amina }))).toEqual([readable]);
  expect((await page({ since, limit: 1 }, token, guarded)).more).toBe(true);
  expect((await guarded.send('GET', `/sync/packets?user_id=${ben}`, undefined, token)).status).toBe(403);
  await guarded.stop();
});

test('invalid parameters are refused by name', async () => {
  const wrong = {
    since: ['since=-1', 'since=1.5', 'since=x', 'since=1.0F3A9B21', 'since=99999999999999999'],
    limit: ['limit=0', 'limit=x'],
    wait: ['wait=-1', 'wait=soon'],
    user_id: ['user_id=amina&geoid=g'],
  };
  for (const [field, queries] of Object.entries(wrong)) {
    for (const query of queries) {
      const { status, body } = await service.send('GET', `/sync/packets?${query}`);
      expect(status, query).toBe(400);
      expect(body.error).toMatch(new RegExp(`^${field} `));
    }
  }
  expect((await page({ limit: 5000 })).packets.length).toBeLessThanOrEqual(1000);
});
