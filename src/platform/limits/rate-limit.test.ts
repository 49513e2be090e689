import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { asService, type TestDatabase, testDatabase } from '../../../test/helpers/database.ts';
import { type Database, openPool } from '../database/database.ts';
import { type AddressCounts, addressCounts, ProcessCounts } from './rate-limit.ts';
import { removeOldCounts } from './rate-limit-store.ts';

const MINUTE = { max: 3, windowMs: 60_000 };

let database: TestDatabase;
let pool: pg.Pool;
let owner: pg.Pool;
beforeAll(async () => {
  database = await testDatabase();
  pool = openPool(asService(database.connection), 'trace_backend', 4);
  owner = openPool(database.connection, 'trace_backend', 1);
});
afterAll(async () => {
  await Promise.all([pool.end(), owner.end()]);
  await database.drop();
});
beforeEach(() => owner.query('TRUNCATE address_counts'));

function countsIn(where: Database): AddressCounts {
  const counts = addressCounts();
  counts.countIn(where);
  return counts;
}

const endWindows = () => owner.query(`UPDATE address_counts SET until = now() - interval '1 ms'`);

test('requests of an address to a route count over all processes, in a window that begins with the first', async () => {
  const [first, second] = [countsIn(pool), countsIn(pool)];
  const { count, ttl } = await first.count('POST /login', '192.0.2.1', MINUTE);
  expect(count).toBe(1);
  expect(ttl).toBeGreaterThan(59_000);
  expect(ttl).toBeLessThanOrEqual(60_000);
  await owner.query(`UPDATE address_counts SET until = until - interval '30 s'`);
  const next = await second.count('POST /login', '192.0.2.1', MINUTE);
  expect(next.count).toBe(2);
  expect(next.ttl).toBeLessThanOrEqual(30_000);
  expect((await first.count('POST /login', '192.0.2.2', MINUTE)).count).toBe(1);
  expect((await first.count('POST /token', '192.0.2.1', MINUTE)).count).toBe(1);
  await endWindows();
  const again = await second.count('POST /login', '192.0.2.1', MINUTE);
  expect(again.count).toBe(1);
  expect(again.ttl).toBeGreaterThan(59_000);
});

test('requests that come at once are each counted', async () => {
  const counts = [countsIn(pool), countsIn(pool)].flatMap(of =>
    Array.from({ length: 10 }, () => of.count('POST /login', '192.0.2.1', { ...MINUTE, max: 100 })),
  );
  const numbers = (await Promise.all(counts)).map(({ count }) => count);
  expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
});

test('a process that knows that a limit is reached does not ask the database until the window ends', async () => {
  const counts = countsIn(pool);
  const short = { max: 1, windowMs: 60_000 };
  await counts.count('POST /login', '192.0.2.1', short);
  await owner.query(`UPDATE address_counts SET until = now() + interval '300 ms'`);
  expect((await counts.count('POST /login', '192.0.2.1', short)).count).toBe(2);
  await owner.query('TRUNCATE address_counts');
  const refused = await counts.count('POST /login', '192.0.2.1', short);
  expect(refused.count).toBe(2);
  expect((await owner.query('SELECT FROM address_counts')).rowCount).toBe(0);
  await expect.poll(async () => (await counts.count('POST /login', '192.0.2.1', short)).count).toBe(1);
});

test('a database that takes no writes leaves the counting to the process; one that does not answer is an error', async () => {
  const readOnly = openPool(
    { ...asService(database.connection), options: '-c default_transaction_read_only=on' },
    'trace_backend',
    1,
  );
  const counts = countsIn(readOnly);
  for (const expected of [1, 2, 3, 4]) {
    expect((await counts.count('POST /login', '192.0.2.1', MINUTE)).count).toBe(expected);
  }
  await readOnly.end();
  const away = openPool({ host: '127.0.0.1', port: 1 }, 'trace_backend', 1);
  await expect(countsIn(away).count('POST /login', '192.0.2.1', MINUTE)).rejects.toThrow('ECONNREFUSED');
  await away.end();
});

test('only counts whose window has ended are removed', async () => {
  const counts = countsIn(pool);
  await counts.count('POST /login', '192.0.2.1', MINUTE);
  await endWindows();
  await counts.count('POST /login', '192.0.2.2', MINUTE);
  await removeOldCounts(pool);
  const { rows } = await owner.query('SELECT address FROM address_counts');
  expect(rows).toEqual([{ address: '192.0.2.2' }]);
});

test('a process keeps the counts of its last 20,000 addresses', () => {
  const counts = new ProcessCounts();
  expect([counts.add('a', 60_000).count, counts.add('a', 60_000).count]).toEqual([1, 2]);
  expect(counts.find('a')?.ttl).toBeGreaterThan(59_000);
  for (let n = 0; n < 20_000; n++) counts.add(String(n), 60_000);
  expect([counts.find('a'), counts.find('0')?.count]).toEqual([undefined, 1]);
});
