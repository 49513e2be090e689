import { EventEmitter } from 'node:events';
import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../test/helpers/database.ts';
import { eventually } from '../../../test/helpers/eventually.ts';
import { openRelay, type Relay } from '../../../test/helpers/relay.ts';
import { openPool, type PoolOptions, transaction } from './database.ts';
import { watchDeadline } from './deadlines.ts';

const DEADLINE = { ms: 1000, of: 'statement' } as const;
const missed = { code: 'ETIMEDOUT', message: 'the database did not answer within 1 s' };

let database: TestDatabase;
let relay: Relay;
const pools: pg.Pool[] = [];
beforeAll(async () => {
  database = await testDatabase();
  relay = await openRelay(database.connection);
});
beforeEach(() => relay.heal());
afterAll(async () => {
  await Promise.all(pools.map(pool => pool.end()));
  await relay.close();
  await database.drop();
});

function open(options: PoolOptions = {}, max = 1): pg.Pool {
  const pool = openPool(relay.connection, 'packet_service', max, { deadline: DEADLINE, ...options });
  pools.push(pool);
  return pool;
}

const pidOf = async (pool: pg.Pool) => (await pool.query('SELECT pg_backend_pid() AS pid')).rows[0].pid;

test('a statement on a dead connection fails at its deadline, and the next one gets a new connection', async () => {
  for (const pipeline of [false, true]) {
    const pool = open({ pipeline });
    const before = await pidOf(pool);
    relay.failOver();
    await expect(pool.query('SELECT 1')).rejects.toMatchObject(missed);
    expect(await pidOf(pool)).not.toBe(before);
  }
});

test('in a pool of dead connections, only one costs a deadline, and the idle ones are replaced with it', async () => {
  const pool = open({}, 5);
  const clients = await Promise.all([1, 2, 3, 4, 5].map(() => pool.connect()));
  for (const client of clients) client.release();
  expect(pool.idleCount).toBe(5);
  relay.failOver();
  await expect(pool.query('SELECT 1')).rejects.toMatchObject(missed);
  await eventually(() => pool.totalCount === 0);
  const answers = await Promise.all([1, 2, 3, 4, 5].map(() => pool.query('SELECT 1')));
  expect(answers).toHaveLength(5);
});

test('a connection that was lost inside a transaction is not handed on', async () => {
  const pool = open();
  const work = transaction(pool, async client => {
    await client.query({ text: 'SELECT 1' });
    relay.failOver();
    await client.query({ text: 'SELECT 1' });
  });
  await expect(work).rejects.toMatchObject(missed);
  expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
});

test('all pipelined statements behind a hung one fail with it', async () => {
  const pool = open({ pipeline: true });
  const client = await pool.connect();
  relay.failOver();
  const lost = await Promise.allSettled([1, 2, 3].map(() => client.query('SELECT 1')));
  expect(lost.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  client.release(true);
});

test('a new connection is also closed if its first statement gets no answer', async () => {
  relay.blackHole();
  const pool = open();
  await expect(pool.query('SELECT 1')).rejects.toThrow(/timeout/);
  relay.heal();
  expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
});

test('a statement that waits for a lock fails at its deadline, and the server stops waiting as well', async () => {
  const pool = open();
  await database.pool.query('CREATE TABLE locked ()');
  const holder = await database.pool.connect();
  await holder.query('BEGIN');
  await holder.query('LOCK TABLE packet_service.locked');
  await expect(pool.query('SELECT FROM packet_service.locked')).rejects.toMatchObject(missed);
  const waiting = async () =>
    (
      await database.pool.query(
        'SELECT count(*)::int AS count FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE NOT granted AND datname = current_database()',
      )
    ).rows[0].count;
  await eventually(waiting, count => count === 0);
  await holder.query('ROLLBACK');
  holder.release();
});

test('a stream from a silent server is aborted', async () => {
  const pool = open({ deadline: { ms: 1000, of: 'silence' } });
  const client = await pool.connect();
  const holder = await database.pool.connect();
  await holder.query('SELECT pg_advisory_lock(1)');
  const rows = client.query(copyTo('COPY (SELECT pg_advisory_lock(1)) TO STDOUT'));
  await expect(Readable.from(rows).toArray()).rejects.toMatchObject(missed);
  await holder.query('SELECT pg_advisory_unlock(1)');
  holder.release();
  client.release(true);
});

test('a client without the fields that deadlines read is refused: pg has changed', () => {
  const stream = new Socket();
  for (const strange of [
    new EventEmitter(),
    { _activeQuery: null },
    { connection: { stream } },
    { _activeQuery: null, connection: { stream: {} } },
  ]) {
    const watch = () => watchDeadline(strange as unknown as pg.ClientBase, DEADLINE, () => {});
    expect(watch).toThrow('this version of pg is not known to platform/database/deadlines.ts');
  }
});

test('pg names the statement in flight, none when there is none, and the idle connections of a pool', async () => {
  const pool = openPool(database.connection, 'packet_service', 1);
  pools.push(pool);
  const client = await pool.connect();
  const inside = client as unknown as { _activeQuery: object | null; readyForQuery: boolean };
  const isFree = () => [inside._activeQuery, inside.readyForQuery];
  expect(isFree()).toEqual([null, true]);
  const result = client.query('SELECT 1');
  expect(isFree()).toEqual([expect.any(Object), false]);
  await result;
  await eventually(() => inside.readyForQuery);
  expect(isFree()).toEqual([null, true]);
  client.release();
  const { _idle } = pool as unknown as { _idle: { client: unknown }[] };
  expect(_idle.map(idle => idle.client)).toEqual([client]);
});

test('an idle connection stays open for a while, so that the next request waits for no new one', async () => {
  const pool = openPool(database.connection, 'packet_service', 1);
  pools.push(pool);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    await pool.query('SELECT 1');
    vi.advanceTimersByTime(4 * 60_000);
    expect(pool.totalCount).toBe(1);
    vi.advanceTimersByTime(2 * 60_000);
    expect(pool.totalCount).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
