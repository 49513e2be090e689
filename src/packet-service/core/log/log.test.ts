import { createServer, connect as dial, type Server, type Socket } from 'node:net';
import path from 'node:path';
import fc from 'fast-check';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../../test/helpers/database.ts';
import { runs } from '../../../../test/helpers/property.ts';
import { openPool } from '../../../platform/database/database.ts';
import { parseTimestamp, type Timestamp } from '../../../platform/time.ts';
import { packetWrite } from '../../intake/packet-write.ts';
import { makePacket } from '../packet-format/packet.ts';
import { newUlid, ulidToUuid } from '../packet-format/ulid.ts';
import { batchWriter } from '../writer/batch-writer.ts';
import { findKeys, readCursors, readPackets, scanPacketsOfGeoid } from './read-store.ts';
import { appendQueued, geoidKey, NO_HORIZON, queueEvents, queueStatements } from './store.ts';

let database: TestDatabase;
const opened: { end(): unknown }[] = [];

beforeAll(async () => {
  database = await testDatabase();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map(connection => connection.end()));
});
afterAll(() => database.drop());

/** The position of the last entry. */
const readHead = async () => (await readCursors(database.pool, [])).head.position;

async function connection(): Promise<pg.Client> {
  const settings = { options: '-c search_path=packet_service', pipeline: true };
  const client = new pg.Client({ ...database.connection, ...settings } as pg.ClientConfig);
  client.on('error', () => {});
  opened.push(client);
  await client.connect();
  return client;
}

/** Appends as a process does: after an error with a new connection. */
async function appender() {
  let client = await connection();
  let horizon = NO_HORIZON;
  async function tryToAppend(): Promise<boolean> {
    try {
      for (let more = true; more; ) ({ horizon, more } = await appendQueued(client, horizon));
      return true;
    } catch {
      client = await connection();
      horizon = NO_HORIZON;
      return false;
    }
  }
  return {
    tryToAppend,
    async append(): Promise<void> {
      while (!(await tryToAppend()));
    },
    /** Appends, and ends its own connection at some moment of the work. */
    async appendAndDie(): Promise<void> {
      const { processID } = client as unknown as { processID: number };
      const appending = tryToAppend();
      await database.pool.query('SELECT pg_terminate_backend($1::int)', [processID]);
      await appending;
    },
  };
}

/** Keeps polling from the end of the log as it is now, and notes what it gets. */
async function poller() {
  const start = await readHead();
  const seen: { position: number; packetId: string }[] = [];
  return {
    start,
    seen,
    async poll(): Promise<void> {
      const stretch = { after: seen.at(-1)?.position ?? start, upTo: Number.MAX_SAFE_INTEGER };
      for (const { position, packetId } of await readPackets(database.pool, stretch, 1000)) {
        seen.push({ position, packetId: packetId as string });
      }
    },
  };
}

const packetEvent = (packetId: string) => ({ kind: 'packet' as const, packetId, geoids: ['g', 'h'] });

/** A transaction that queues, one statement an event; the times count the steps of the story. */
class Writer {
  readonly committed: { began: number; ended: number; ids: string[] }[] = [];
  private ids: string[] = [];
  private began = 0;
  private readonly client: pg.Client;

  constructor(client: pg.Client) {
    this.client = client;
  }

  async queue(count: number, time: number): Promise<void> {
    if (this.ids.length === 0) {
      await this.client.query('BEGIN');
      this.began = time;
    }
    const ids = Array.from({ length: count }, () => ulidToUuid(newUlid()));
    for (const statement of queueStatements(ids.map(packetEvent))) await this.client.query(statement);
    this.ids.push(...ids);
  }

  async end(how: 'COMMIT' | 'ROLLBACK', time: number): Promise<void> {
    if (this.ids.length === 0) return;
    await this.client.query(how);
    if (how === 'COMMIT') this.committed.push({ began: this.began, ended: time, ids: this.ids });
    this.ids = [];
  }
}

const who = fc.nat(2);
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ does: fc.constant('queue' as const), who, count: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 4, arbitrary: fc.record({ does: fc.constant('commit' as const), who }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('roll back' as const), who }) },
  { weight: 4, arbitrary: fc.record({ does: fc.constant('append' as const), who }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('append, and is killed' as const), who }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('poll' as const), who }) },
);

test('in whatever order writers commit and processes append or die, a poller gets 1, 2, 3 …, each commit once, in the order of time', async () => {
  const clients = await Promise.all([connection(), connection(), connection()]);
  const processes = await Promise.all([appender(), appender(), appender()]);
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async steps => {
      const writers = clients.map(client => new Writer(client));
      const { start, seen, poll } = await poller();
      for (const [time, { who, ...what }] of steps.entries()) {
        const writer = writers[who] as Writer;
        const process = processes[who] as (typeof processes)[number];
        if (what.does === 'queue') await writer.queue(what.count, time);
        else if (what.does === 'commit') await writer.end('COMMIT', time);
        else if (what.does === 'roll back') await writer.end('ROLLBACK', time);
        else if (what.does === 'poll') await poll();
        else if (what.does === 'append') await process.append();
        else await process.appendAndDie();
      }
      for (const writer of writers) await writer.end('COMMIT', steps.length);
      await processes[0]?.append();
      await poll();

      const committed = writers.flatMap(writer => writer.committed);
      expect(seen.map(({ position }) => position)).toEqual(seen.map((_, n) => start + 1 + n));
      expect(seen.map(({ packetId }) => packetId).sort()).toEqual(committed.flatMap(({ ids }) => ids).sort());
      const position = new Map(seen.map(({ packetId }, n) => [packetId, n]));
      const positions = committed.map(({ ids, ...times }) => ({
        ...times,
        at: ids.map(id => position.get(id) as number),
      }));
      for (const early of positions) {
        for (const late of positions.filter(({ began }) => began > early.ended)) {
          expect(Math.max(...early.at)).toBeLessThan(Math.min(...late.at));
        }
      }
    }),
    { numRuns: runs(60) },
  );
});

test('processes that append at the same time take turns: none fails, no position twice, none left out', async () => {
  const { start, seen, poll } = await poller();
  const processes = await Promise.all([appender(), appender(), appender()]);
  const writing = Promise.all(
    Array.from({ length: 200 }, () => queueEvents(database.pool, [packetEvent(ulidToUuid(newUlid()))])),
  );
  let done = false;
  const appending = processes.map(async ({ tryToAppend }) => {
    while (!done) expect(await tryToAppend()).toBe(true);
    expect(await tryToAppend()).toBe(true);
  });
  await writing;
  done = true;
  await Promise.all(appending);
  await poll();
  expect(seen.map(({ position }) => position)).toEqual(Array.from({ length: 200 }, (_, n) => start + 1 + n));
});

test('events beyond the limit of a round are moved by the next, which continues where the last one ended', async () => {
  const ids = Array.from({ length: 2500 }, () => ulidToUuid(newUlid()));
  const { start, seen, poll } = await poller();
  for (let n = 0; n < 150; n++) await queueEvents(database.pool, [packetEvent(ulidToUuid(newUlid()))]);
  await queueEvents(database.pool, ids.map(packetEvent));
  await (await appender()).append();
  for (let n = 0; n < 4; n++) await poll();
  expect(seen).toHaveLength(2650);
  expect(seen.at(-1)?.position).toBe(start + 2650);
  expect(seen.slice(150).map(({ packetId }) => packetId)).toEqual(ids);
  expect((await database.pool.query('SELECT 1 FROM packet_log_queue')).rows).toEqual([]);
});

test('no entry can be changed or removed, not even by the owner of the table', async () => {
  for (const statement of [
    'UPDATE packet_log SET position = 0',
    'DELETE FROM packet_log',
    'TRUNCATE packet_log',
  ]) {
    await expect(database.pool.query(statement)).rejects.toMatchObject({ code: '42501' });
  }
});

test('an entry is found by each GeoID of its packet', async () => {
  const after = await readHead();
  const [own, further, bare] = [newUlid(), newUlid(), newUlid()];
  const ids = [newUlid(), newUlid(), newUlid()].map(ulidToUuid) as [string, string, string];
  await queueEvents(database.pool, [
    { kind: 'packet', packetId: ids[0], geoids: [own, further, '{",\\'] },
    { kind: 'packet', packetId: ids[1], geoids: [further] },
    {
      kind: 'chat.message',
      packetId: ids[2],
      threadId: ids[0],
      geoids: ['', bare],
      details: { from_user: '{"\\' },
    },
  ]);
  await (await appender()).append();
  const stretch = { after, upTo: after + 3 };
  const found = async (geoid: string) =>
    (await scanPacketsOfGeoid(database.pool, geoidKey(geoid), stretch, 10)).map(({ packetId }) => packetId);
  expect(await found(own)).toEqual([ids[0]]);
  expect(await found(further)).toEqual([ids[0], ids[1]]);
  expect(await found('{",\\')).toEqual([ids[0]]);
  expect(await found(bare)).toEqual([ids[2]]);
  expect(await found('')).toEqual([]);
  const keys = [own, further, bare, 'none'].map(geoidKey);
  expect((await findKeys(database.pool, keys, stretch)).sort()).toEqual(keys.slice(0, 3).sort());
});

/** The messages that bind the prepared statement `commit`, and its answers. */
const [ASKED, ANSWERED] = ['\0commit\0', 'COMMIT\0'];
const count = (text: string, what: string) => text.split(what).length - 1;

/** A way to the database that lets COMMITs through and loses the answers to the first of them. */
async function losingAnswers(lost: number) {
  const { host, port } = database.connection;
  let left = lost;
  const sockets = new Set<Socket>();
  const proxy: Server = createServer(client => {
    const server = host.startsWith('/') ? dial(path.join(host, `.s.PGSQL.${port}`)) : dial(port, host);
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => sockets.delete(socket));
    }
    let query = '';
    let answered = '';
    let isCut = false;
    client.on('data', bytes => {
      server.write(bytes);
      query += bytes.toString('latin1');
      if (isCut || left === 0 || !bytes.includes(ASKED)) return;
      left--;
      isCut = true;
      server.unpipe(client).resume();
    });
    server.on('data', bytes => {
      // The server finishes its work, and nobody is notified.
      answered += bytes.toString('latin1');
      if (isCut && count(query, ASKED) === count(answered, ANSWERED)) client.destroy();
    });
    server.pipe(client);
    client.on('close', () => server.destroy());
    server.on('close', () => client.destroy());
  });
  await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve));
  return {
    connection: {
      ...database.connection,
      host: '127.0.0.1',
      port: (proxy.address() as { port: number }).port,
    },
    lost: () => lost - left,
    async end() {
      for (const socket of sockets) socket.destroy();
      await new Promise(resolve => proxy.close(resolve));
    },
  };
}

test('packets whose COMMIT succeeded without an answer are in the log once, although they were sent again', async () => {
  const way = await losingAnswers(5);
  const pool = openPool(way.connection, 'packet_service', 2, { pipeline: true });
  opened.push(pool, way);
  const writer = batchWriter(pool, 2, pino({ level: 'silent' }));
  const { seen, poll } = await poller();
  const timestamp = parseTimestamp('2026-03-01T08:15:00Z') as Timestamp;
  const ids = Array.from({ length: 400 }, newUlid);
  await Promise.all(
    ids.map(async (id, n) => {
      const packet = makePacket({
        id,
        geoid: 'g',
        additionalGeoids: [],
        timestamp,
        type: 'note',
        body: { n },
        lang: 'en',
      });
      // The later batches also hold keys, and look before they write.
      const claim = {
        caller: '',
        route: 'x',
        key: id,
        fingerprint: Buffer.alloc(32),
        status: 201,
        answer: '{}',
      };
      await writer.write(
        packetWrite({ packet }, { freshId: true, claim: n > 300 && n % 7 === 0 ? claim : undefined }),
      );
    }),
  );
  expect(way.lost()).toBe(5);
  await (await appender()).append();
  await poll();
  expect(seen.map(({ packetId }) => packetId).sort()).toEqual(ids.map(ulidToUuid).sort());
});
