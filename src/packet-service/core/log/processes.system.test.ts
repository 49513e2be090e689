import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { emptyDataDir } from '../../../../test/helpers/data-dir.ts';
import { type TestDatabase, testDatabase } from '../../../../test/helpers/database.ts';
import { eventually } from '../../../../test/helpers/eventually.ts';
import { type FeedEvent, openFeed } from '../../../../test/helpers/feed.ts';
import { temporaryFolder } from '../../../../test/helpers/folder.ts';
import { type RunningProcess, startProcess } from '../../../../test/helpers/process.ts';
import { uuidToUlid } from '../packet-format/ulid.ts';

const PROCESSES = 3;
const WRITERS = 3;
const KILLS = 6;
const observation = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };

let database: TestDatabase;
let databaseUrl: string;
beforeAll(async () => {
  database = await testDatabase();
  const { host, port, user, password, database: name } = database.connection;
  databaseUrl = `postgres://${user}:${password}@/${name}?host=${encodeURIComponent(host)}&port=${port}`;
});
afterAll(() => database.drop());

/** Processes on one database, each of which is replaced when it has been killed. */
async function processGroup() {
  const start = () =>
    startProcess({ DATABASE_URL: databaseUrl, DATABASE_POOL: '4', LOG_LEVEL: 'error', SERVICES: 'packet' });
  const running: RunningProcess[] = await Promise.all(Array.from({ length: PROCESSES }, start));
  let turn = 0;
  return {
    /** one that runs, another one each time */
    next: () => running[turn++ % running.length] as RunningProcess,
    all: () => [...running],
    async killOne(): Promise<void> {
      const at = turn++ % running.length;
      const [killed] = running.splice(at, 1) as [RunningProcess];
      killed.child.kill('SIGKILL');
      await killed.ended;
      running.push(await start());
    },
    async stop(): Promise<void> {
      for (const { child } of running) child.kill('SIGTERM');
      for (const child of running) expect(await child.ended, child.output()).toBe(0);
    },
  };
}

type Group = Awaited<ReturnType<typeof processGroup>>;

/** Sends to one process until it dies, then to another; notes what was acknowledged, in its order. */
async function write(group: Group, path: string, body: object, over: () => boolean): Promise<string[]> {
  const acknowledged: string[] = [];
  for (let service = group.next(); !over(); ) {
    try {
      const answer = await service.send('POST', path, body);
      if (answer.status === 201) acknowledged.push(answer.body.packet_uuid);
      else if (answer.status !== 503) throw new Error(answer.text);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      service = group.next();
    }
  }
  return acknowledged;
}

/** Polls the log as a reader of the database does. */
async function pollLog(over: () => boolean): Promise<{ position: number; id: string | null }[]> {
  const seen: { position: number; id: string | null }[] = [];
  await eventually(async () => {
    const last = over();
    const { rows } = await database.pool.query(
      'SELECT position, packet_id FROM packet_log WHERE position > $1 ORDER BY position',
      [seen.at(-1)?.position ?? 0],
    );
    seen.push(...rows.map(({ position, packet_id }) => ({ position: Number(position), id: packet_id })));
    return last;
  });
  return seen;
}

/** Syncs as a client does, from whichever process is there. */
async function sync(group: Group, over: () => boolean) {
  const got: { position: number; id: string }[] = [];
  for (let since = '0', last = false; !last; ) {
    last = over();
    try {
      const { status, body } = await group
        .next()
        .send('GET', `/sync/packets?since=${since}&limit=500&wait=1`);
      if (status !== 200) continue;
      for (const { position, packet } of body.packets) got.push({ position, id: packet.Header.id });
      since = body.since;
      last &&= !body.more;
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
  }
  return got;
}

/** Follows a user's feed as a browser does: wherever it is answered, from the last id on. */
async function follow(
  group: Group,
  userId: string,
  over: (events: FeedEvent[]) => boolean,
): Promise<FeedEvent[]> {
  const events: FeedEvent[] = [];
  for (let lastId = '0'; !over(events); ) {
    const feed = await openFeed(group.next().url, userId, lastId).catch(() => undefined);
    if (!feed) continue;
    const known = events.length;
    let ended = false;
    feed.ended.then(() => {
      ended = true;
    });
    await eventually(() => {
      events.splice(known, Infinity, ...feed.events);
      return ended || over(events);
    });
    lastId = feed.lastId() ?? lastId;
    feed.close();
  }
  return events;
}

test('three processes write, one after the other is killed and replaced: every reader gets every position once, in order', async () => {
  const group = await processGroup();
  const [amina, ben] = ['amina', 'ben'];
  const thread = await group.next().send('POST', '/chat/threads', { name: 'Coffee', created_by: amina });
  const message = { thread_id: thread.body.thread_id, text: 'hello' };

  let killing = true;
  let written: Set<string> | undefined;
  const noMore = () => !killing;
  const writers = Array.from({ length: WRITERS }, (_, n) =>
    n === 0
      ? write(group, '/intake/chat-message', message, noMore)
      : write(group, '/intake/scouting', observation, noMore),
  );
  const logged = async () => {
    const { rows } = await database.pool.query(
      'SELECT (SELECT count(*) FROM packet_log) = (SELECT count(*) FROM packets) AS all',
    );
    return rows[0].all as boolean;
  };
  const polled = pollLog(() => written !== undefined);
  const synced = sync(group, () => written !== undefined);
  let messages = -1;
  const followed = follow(group, amina, events => events.length === messages);

  for (let n = 0; n < KILLS; n++) await group.killOne();
  killing = false;
  const acknowledged = await Promise.all(writers);
  await eventually(logged);
  messages = Number(
    (await database.pool.query("SELECT count(*) FROM packet_log WHERE kind = 'chat.message'")).rows[0].count,
  );
  written = new Set(acknowledged.flat());

  const log = await polled;
  expect(log.map(({ position }) => position)).toEqual(log.map((_, n) => n + 1));
  const ids = log.map(({ id }) => uuidToUlid(id as string));
  expect(new Set(ids).size).toBe(ids.length);
  expect(written.difference(new Set(ids)).size).toBe(0);
  expect(written.size).toBeGreaterThan(200);

  // What one writer was answered before it sent the next stands before it.
  const positionOf = new Map(ids.map((id, n) => [id, n]));
  for (const own of acknowledged) {
    const positions = own.map(id => positionOf.get(id) as number);
    expect(positions).toEqual(positions.toSorted((a, b) => a - b));
  }

  expect(await synced).toEqual(ids.map((id, n) => ({ position: n + 1, id })));
  const events = await followed;
  const ofThread = await database.pool.query(
    "SELECT position, packet_id FROM packet_log WHERE kind = 'chat.message' ORDER BY position",
  );
  expect(events.map(({ position, data }) => [position, data.packet_id])).toEqual(
    ofThread.rows.map(({ position, packet_id }) => [Number(position), uuidToUlid(packet_id)]),
  );
  expect(events.map(({ data }) => data.user_id)).not.toContain(ben);
  await group.stop();
}, 240_000);

async function killPostgres(folder: string): Promise<void> {
  const files = await readdir(folder, { recursive: true });
  const pidFile = files.find(file => path.basename(file) === 'postmaster.pid') as string;
  process.kill(Number((await readFile(path.join(folder, pidFile), 'utf8')).split('\n')[0]), 'SIGKILL');
}

test('PostgreSQL is killed: positions stay, an open feed continues, and every acknowledged packet is delivered once', async () => {
  const { folder, remove } = await temporaryFolder();
  await emptyDataDir(folder);
  const service = await startProcess({ DATA_DIR: folder, LOG_LEVEL: 'error', SERVICES: 'packet' });
  const { send } = service;
  const thread = await send('POST', '/chat/threads', { name: 'Coffee', created_by: 'amina' });
  const feed = await openFeed(service.url, 'amina');
  const acknowledged: string[] = [];
  let over = false;
  const writing = Array.from({ length: 8 }, async () => {
    while (!over) {
      const message = { thread_id: thread.body.thread_id, text: 'hello' };
      const answer = await send('POST', '/intake/chat-message', message);
      if (answer.status === 201) acknowledged.push(answer.body.packet_uuid);
    }
  });
  const idAt = new Map<number, string>();
  for (let round = 1; round <= 3; round++) {
    const enough = acknowledged.length + 100;
    await eventually(() => acknowledged.length > enough);
    const { body } = await send('GET', '/sync/packets?limit=1000');
    for (const { position, packet } of body.packets) idAt.set(position, packet.Header.id);
    await killPostgres(folder);
  }
  const enough = acknowledged.length + 100;
  await eventually(() => acknowledged.length > enough);
  over = true;
  await Promise.all(writing);

  const synced: { position: number; id: string }[] = [];
  let since = '0';
  await eventually(async () => {
    const { body } = await send('GET', `/sync/packets?limit=1000&since=${since}`);
    for (const { position, packet } of body.packets) synced.push({ position, id: packet.Header.id });
    since = body.since;
    return synced.length >= acknowledged.length && body.packets.length === 0;
  });
  expect(synced.map(({ position }) => position)).toEqual(synced.map((_, n) => n + 1));
  for (const [position, id] of idAt) expect(synced[position - 1]?.id).toBe(id);
  const ids = synced.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(new Set(acknowledged).difference(new Set(ids)).size).toBe(0);
  await eventually(() => feed.events.length === ids.length);
  expect(feed.events.map(({ data }) => data.packet_id)).toEqual(ids);
  service.child.kill('SIGTERM');
  expect(await service.ended, service.output()).toBe(0);
  await remove();
}, 240_000);
