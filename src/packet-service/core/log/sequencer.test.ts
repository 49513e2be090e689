import { setImmediate as turn } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../../test/helpers/database.ts';
import { eventually } from '../../../../test/helpers/eventually.ts';
import { type OtherClient, otherClient } from '../../../../test/helpers/writes.ts';
import { wakeableWait } from '../../../platform/concurrency/wakeable-wait.ts';
import { openPool } from '../../../platform/database/database.ts';
import { findReadable } from '../../collaboration/chat/messages/visible-store.ts';
import { newUlid } from '../packet-format/ulid.ts';
import { readCursors } from './read-store.ts';
import { sequencer } from './sequencer.ts';
import {
  appendQueued,
  type LogEvent,
  NO_HORIZON,
  queueErasure,
  queueEvents,
  queueStatements,
} from './store.ts';

let database: TestDatabase;
let other: OtherClient;
const ends: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  database = await testDatabase();
  other = await otherClient(database);
});
afterEach(async () => {
  vi.useRealTimers();
  await other.query('ROLLBACK');
  for (const end of ends.splice(0)) await end();
});
afterAll(async () => {
  await other.end();
  await database.drop();
});

/** Longer than any test. */
const NEVER = 2 ** 31 - 1;

/** A sequencer that rests until it is woken, without a timer, and the events of its listeners. */
function newSequencer(connection = database.connection) {
  const pool = openPool(connection, 'packet_service', 1, { pipeline: true });
  const wait = wakeableWait();
  const observed = {
    position: undefined as number | undefined,
    advanced: [] as number[],
    settled: [] as [head: number, before: number | undefined][],
    clocks: [] as (number | null)[],
    erasures: 0,
    pauses: [] as number[],
    rests: 0,
    resting: false,
  };
  const news = {
    get position() {
      return observed.position;
    },
    advance: (head: number) => void observed.advanced.push(head),
    settle: (head: number, before: number | undefined) => void observed.settled.push([head, before]),
  };
  const listeners = {
    news,
    clock: { seen: (clock: number | null) => void observed.clocks.push(clock) },
    onErased: () => {
      observed.erasures++;
    },
    findVisible: findReadable,
  };
  const rest = {
    ...wait,
    async wait() {
      observed.rests++;
      observed.resting = true;
      await wait.wait(NEVER);
      observed.resting = false;
    },
  };
  const pause = async (ms: number) => {
    observed.pauses.push(ms);
    await turn();
  };
  const log = sequencer(pool, listeners, pino({ level: 'silent' }), { rest, pause });
  ends.push(async () => {
    await log.stop();
    await pool.end();
  });
  return { log, observed, pool };
}

/** Starts a sequencer and waits for its first round. */
async function started() {
  const made = newSequencer();
  made.log.start();
  await eventually(() => made.observed.resting);
  return made;
}

const readHead = async () => (await readCursors(database.pool, [])).head.position;
/** An entry without a packet, because the log of a cluster waits until a packet can be read. */
const event = (): LogEvent => ({ kind: 'share.created', userId: newUlid(), details: {} });

/** Commits events without a notice to anybody, each in a transaction of its own. */
async function commit(count = 1): Promise<void> {
  for (let n = 0; n < count; n++) {
    for (const statement of queueStatements([event()])) await database.pool.query(statement);
  }
}

/** Has the next round wait for `other` after it has seen what is queued now. */
async function holdQueue(): Promise<void> {
  await other.query('BEGIN');
  await other.query('SELECT FROM packet_log_queue FOR UPDATE');
}

test('committed events are appended when the sequencer wakes, and its readers get the end of the log', async () => {
  const { log, observed } = await started();
  const before = await readHead();
  await commit(3);
  expect([await readHead(), observed.resting]).toEqual([before, true]);
  log.wake();
  await eventually(() => observed.settled.at(-1)?.[0] === before + 3);
  expect(await readHead()).toBe(before + 3);
  await eventually(() => observed.resting);
  log.wake();
  await eventually(() => observed.clocks.at(-1) !== null);
});

test('events committed during a round are appended by the next if they woke the sequencer', async () => {
  const { log } = await started();
  const before = await readHead();
  await commit();
  await holdQueue();
  log.wake();
  await other.blocks();
  await commit();
  log.wake();
  await other.query('ROLLBACK');
  await eventually(async () => (await readHead()) === before + 2);
});

test('more events than a round moves are appended without a pause', async () => {
  const { log, observed } = await started();
  const before = await readHead();
  await commit(150);
  log.wake();
  await eventually(async () => (await readHead()) === before + 150);
  await eventually(() => observed.resting);
  expect(observed.pauses).toEqual([expect.any(Number)]);
});

test('after a round that appended something it pauses for 25 ms, or as long as the round took', async () => {
  const { log, observed } = await started();
  log.wake();
  await eventually(() => observed.rests === 2);
  expect(observed.pauses).toEqual([]);
  vi.useFakeTimers({ toFake: ['performance'] });
  await commit();
  log.wake();
  await eventually(() => observed.rests === 3);
  expect(observed.pauses).toEqual([25]);
  await commit();
  await holdQueue();
  log.wake();
  await other.blocks();
  vi.advanceTimersByTime(400);
  await other.query('ROLLBACK');
  await eventually(() => observed.rests === 4);
  expect(observed.pauses).toEqual([25, 400]);
});

test('readers compare the end of the log with the position before the round', async () => {
  const { log, observed } = await started();
  const before = await readHead();
  observed.position = before;
  await commit();
  await holdQueue();
  log.wake();
  await other.blocks();
  observed.position = before + 100;
  await other.query('ROLLBACK');
  await eventually(() => observed.settled.some(([head]) => head === before + 1));
  expect(observed.settled.at(-1)).toEqual([before + 1, before]);
});

test('other processes notify the sequencer of what they queue, append and erase', async () => {
  const { observed } = await started();
  const before = await readHead();
  await queueEvents(database.pool, [event()]);
  await eventually(() => observed.settled.at(-1)?.[0] === before + 1);

  await eventually(() => observed.resting);
  const { rests } = observed;
  await commit();
  const pool = openPool(database.connection, 'packet_service', 1, { pipeline: true });
  ends.push(() => pool.end());
  const client = await pool.connect();
  await appendQueued(client, NO_HORIZON);
  client.release();
  await eventually(() => observed.advanced.includes(before + 2));
  expect([observed.rests, observed.settled.at(-1)?.[0]]).toEqual([rests, before + 1]);

  expect(observed.erasures).toBe(1);
  await queueErasure(database.pool);
  await eventually(() => observed.erasures === 2);
});

test('after losing its connection, the sequencer opens another and starts with the queued events', async () => {
  const { log, observed, pool } = await started();
  const before = await readHead();
  // Of a transaction that ended before those that this connection has seen: as on a server that took another's place.
  await commit();
  await database.pool.query("UPDATE packet_log_queue SET xid = '3'");
  await database.pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND query = 'COMMIT'`,
  );
  log.wake();
  await eventually(async () => (await readHead()) === before + 1);
  expect(observed.pauses).toContain(500);
  // It was not notified of packets erased meanwhile.
  expect(observed.erasures).toBe(2);
  expect(pool.totalCount).toBe(1);
  await commit();
  await eventually(() => observed.resting);
  log.wake();
  await eventually(async () => (await readHead()) === before + 2);
});

test('a stop appends what is queued and closes the connection', async () => {
  const { log, observed, pool } = await started();
  const before = await readHead();
  await commit(150);
  await log.stop();
  expect([await readHead(), observed.pauses]).toEqual([before + 150, []]);
  await eventually(() => pool.totalCount === 0);
});

test('a stop during a round appends later events without a pause', async () => {
  const { log, observed } = await started();
  const before = await readHead();
  await commit();
  await holdQueue();
  log.wake();
  await other.blocks();
  await commit();
  const stopped = log.stop();
  await other.query('ROLLBACK');
  await stopped;
  expect([await readHead(), observed.pauses]).toEqual([before + 2, []]);
});

test('a stop ends even if the database is gone', async () => {
  const { log, observed } = newSequencer({ ...database.connection, host: '/nonexistent' });
  log.start();
  await eventually(() => observed.pauses.length > 1);
  expect(observed.pauses).toContain(500);
  await log.stop();
});
