import type pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../../test/helpers/database.ts';
import { eventually } from '../../../../test/helpers/eventually.ts';
import { openPool } from '../../../platform/database/database.ts';
import { findParticipants } from '../../collaboration/chat/threads/participants-store.ts';
import { newUlid, ulidToUuid } from '../packet-format/ulid.ts';
import { broadcast } from './broadcast.ts';
import { type Entry, readCursors } from './read-store.ts';
import { appendQueued, geoidKey, type LogEvent, NO_HORIZON, queueEvents } from './store.ts';

const logger = pino({ level: 'silent' });
let database: TestDatabase;
let pipeline: pg.Pool;
beforeAll(async () => {
  database = await testDatabase();
  pipeline = openPool(database.connection, 'packet_service', 1, { pipeline: true });
});
afterAll(async () => {
  await pipeline.end();
  await database.drop();
});

/** The position of the last entry. */
const readHead = async () => (await readCursors(database.pool, [])).head.position;

/** Puts events at the end of the log; gives the position of the last. */
async function append(...events: LogEvent[]): Promise<number> {
  await queueEvents(database.pool, events);
  const client = await pipeline.connect();
  await appendQueued(client, NO_HORIZON);
  client.release();
  return readHead();
}

const share = (userId: string): LogEvent => ({
  kind: 'share.created',
  userId,
  details: { from_user: 'ben' },
});
const packet = (geoid: string): LogEvent => ({
  kind: 'packet',
  packetId: ulidToUuid(newUlid()),
  geoids: [geoid],
});

/** The test's database, whose answers to the broadcast wait for a door to be opened. */
function behindADoor() {
  let queries = 0;
  let fails = 0;
  let door = Promise.withResolvers<void>();
  const pool = {
    async query(statement: pg.QueryConfig) {
      queries++;
      if (fails > 0) {
        fails--;
        throw new Error('the connection is lost');
      }
      const result = await database.pool.query(statement);
      await door.promise;
      return result;
    },
  };
  return {
    pool: pool as unknown as pg.Pool,
    queries: () => queries,
    fail(times: number) {
      fails = times;
    },
    open: () => door.resolve(),
    close() {
      door = Promise.withResolvers();
    },
  };
}

test('a subscriber that joins during a read gets the entries after the position at which it joined', async () => {
  const door = behindADoor();
  const news = broadcast(door.pool, logger, findParticipants);
  news.advance(await readHead());
  const received: Entry[] = [];
  // Somebody waits for a GeoID, so that there is something to read before anybody subscribes.
  news.onNext({ geoidKey: geoidKey('elsewhere') }, news.position as number, () => {});
  const head = await append(share('amina'), share('ben'));
  news.advance(head);
  // One for the keys, one for the cursors.
  await eventually(() => door.queries() === 2);
  expect(news.position).toBe(head - 2);
  news.subscribe('amina', entries => received.push(...entries));
  door.open();
  await eventually(() => received.length > 0);
  expect(received.map(({ position }) => position)).toEqual([head - 1]);
  expect(news.position).toBe(head);
});

test('a listener that starts to wait for a GeoID during a read runs its own query', async () => {
  const door = behindADoor();
  const news = broadcast(door.pool, logger, findParticipants);
  news.advance(await readHead());
  const woken: string[] = [];
  const waitFor = (geoid: string) =>
    news.onNext({ geoidKey: geoidKey(geoid) }, news.position as number, () => woken.push(geoid));
  waitFor('elsewhere');
  news.advance(await append(packet('here')));
  // One for the keys, one for the cursors.
  await eventually(() => door.queries() === 2);
  waitFor('here');
  door.open();
  await eventually(() => woken.length > 0);
  expect(woken).toEqual(['here']);
});

test('a waiting request wakes at once for past entries, only for entries it waits for, and at the stop', async () => {
  const news = broadcast(database.pool, logger, findParticipants);
  const start = await readHead();
  news.advance(start);
  const woken: string[] = [];
  const wait = (name: string, interest: Parameters<typeof news.onNext>[0], after = start) =>
    news.onNext(interest, after, () => woken.push(name));
  wait('late', 'anything', start - 1)();
  expect(woken).toEqual(['late']);
  wait('user', { userId: 'amina' });
  wait('another user', { userId: 'ben' });
  wait('geoid', { geoidKey: geoidKey('here') });
  wait('anything', 'anything');
  wait('left', 'anything')();
  news.advance(await append(share('amina')));
  await eventually(() => woken.length === 3);
  expect(woken.splice(0)).toEqual(['late', 'user', 'anything']);
  news.stop();
  expect(woken).toEqual(expect.arrayContaining(['another user', 'geoid']));
  expect(woken).not.toContain('left');
});

test('a failed read is repeated, and nobody is notified twice', async () => {
  const door = behindADoor();
  door.open();
  const news = broadcast(door.pool, logger, findParticipants);
  news.advance(await readHead());
  const received: Entry[] = [];
  const leave = news.subscribe('amina', entries => received.push(...entries));
  door.fail(2);
  news.advance(await append(share('amina'), packet('here'), share('amina')));
  await eventually(() => received.length > 0);
  const head = await append(share('amina'));
  news.advance(head);
  await eventually(() => received.length === 3);
  expect(received.map(({ position }) => position)).toEqual([head - 3, head - 1, head]);
  leave();
  news.advance(await append(share('amina')));
  await eventually(() => news.position === head + 1);
  expect(received).toHaveLength(3);
});
