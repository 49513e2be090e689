import { once } from 'node:events';
import type { Socket } from 'node:net';
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../test/helpers/database.ts';
import { eventually } from '../../../test/helpers/eventually.ts';
import { openPool, type PoolOptions } from './database.ts';

/** What takes long and is in time. Connections are looked at by an interval, which ticks only when a test lets it. */
let database: TestDatabase;
let holder: pg.PoolClient;
const pools: pg.Pool[] = [];
beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  database = await testDatabase();
  holder = await database.pool.connect();
});
afterAll(async () => {
  holder.release();
  await Promise.all(pools.map(pool => pool.end()));
  await database.drop();
  vi.useRealTimers();
});

function connect(options: PoolOptions): Promise<pg.PoolClient> {
  const pool = openPool(database.connection, 'packet_service', 1, options);
  pools.push(pool);
  return pool.connect();
}

/** Almost a second: connections are looked at twice. */
const passAlmostASecond = () => vi.advanceTimersByTime(1000);

/** Locks 1 to `count` are held; each is given back when somebody waits for it and almost a second has passed. */
async function holdLocks(count: number) {
  await holder.query('SELECT pg_advisory_lock(n) FROM generate_series(1, $1) AS n', [count]);
  return async () => {
    for (let n = 1; n <= count; n++) {
      await eventually(async () => {
        const { rowCount } = await database.pool.query(
          "SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = $1 AND NOT granted",
          [n],
        );
        return rowCount === 1;
      });
      passAlmostASecond();
      await holder.query('SELECT pg_advisory_unlock($1)', [n]);
    }
  };
}

test('each pipelined statement has its own deadline', async () => {
  const client = await connect({ pipeline: true, deadline: { ms: 1000, of: 'statement' } });
  const giveBack = await holdLocks(4);
  const slow = [1, 2, 3, 4].map(n => client.query('SELECT pg_advisory_xact_lock($1)', [n]));
  await giveBack();
  expect(await Promise.all(slow)).toHaveLength(4);
  client.release();
});

test('a stream has all the time that it needs while it flows', async () => {
  const client = await connect({ deadline: { ms: 1000, of: 'silence' } });
  const giveBack = await holdLocks(8);
  // A row is more than the server keeps back.
  const flowing = client.query(
    copyTo(
      'COPY (SELECT pg_advisory_xact_lock(n), repeat($$x$$, 9000) FROM generate_series(1, 8) AS n) TO STDOUT',
    ),
  );
  let bytes = 0;
  flowing.on('data', piece => {
    bytes += piece.length;
  });
  const ended = once(flowing, 'end');
  await giveBack();
  await ended;
  expect(bytes).toBeGreaterThan(8 * 9000);
  client.release();
});

test('a stream has all the time that its reader takes', async () => {
  const client = await connect({ deadline: { ms: 1000, of: 'silence' } });
  const unread = client.query(
    copyTo('COPY (SELECT repeat($$x$$, 1000) FROM generate_series(1, 50000)) TO STDOUT'),
  );
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  await eventually(() => stream.readableLength > 0);
  for (let n = 0; n < 10; n++) passAlmostASecond();
  let bytes = 0;
  for await (const piece of unread) bytes += piece.length;
  expect(bytes).toBeGreaterThan(50_000 * 1000);
  client.release();
});
