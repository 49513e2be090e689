import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../../test/helpers/database.ts';
import type { Database } from '../../../platform/database/database.ts';
import { listPackets } from './read-store.ts';

const HOUR = 3_600_000;
const START = Date.UTC(2026, 0, 1);

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
  // One a second for ten hours, observed up to a minute before, but only each 900th in the sixth hour.
  await database.pool.query(
    `INSERT INTO packets (id, geoid, ts, type, header, body, footer)
     SELECT (lpad(to_hex($1::bigint + n * 1000), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid, n % 500,
       to_timestamp($1::bigint / 1000 + n - n % 60), CASE n % 4 WHEN 0 THEN 'scouting' ELSE 'note' END,
       '{"n":' || n || '}', '{"text":"' || repeat('rust ', 50) || '"}', '{}'
     FROM generate_series(0, 35999) AS n WHERE n / 3600 <> 5 OR n % 900 = 0`,
    [START],
  );
  await database.pool.query('VACUUM ANALYZE packets');
});
afterAll(() => database.drop());

/** A page of an hour, and the plans of its statements. */
async function pageOf(hour: number, more: object = {}, order: 'asc' | 'desc' = 'desc') {
  const plans: string[] = [];
  const watched: Database = {
    async query<Row extends pg.QueryResultRow>({ text, values }: pg.QueryConfig) {
      const { rows } = await database.pool.query({ text: `EXPLAIN ${text}`, values: values ?? [] });
      plans.push(rows.map(row => row['QUERY PLAN']).join('\n'));
      return database.pool.query<Row>({ text, values: values ?? [] });
    },
  };
  const [made_from, made_to] = [START + hour * HOUR, START + (hour + 1) * HOUR - 1].map(at => new Date(at));
  const filter = { made_from, made_to, ...more };
  const rows = await listPackets(watched, filter, { order, limit: 10, largest: 100_000 });
  return { plans, numbers: rows.map(({ header }) => JSON.parse(header as string).n) };
}

test('the packets of an hour are found by their ids, be they few or many, and never by walking the order of time', async () => {
  for (const hour of [0, 4, 5, 9, 20]) {
    for (const more of [{}, { type: 'note' }, { threads: [] }, { threads: 'open' }]) {
      const { plans } = await pageOf(hour, more);
      expect(plans.join('\n'), JSON.stringify([hour, more])).not.toMatch(/packets_by_(time|type)/);
    }
  }
});

test('they are in the order of their time, and those of the same time in that of their ids', async () => {
  expect((await pageOf(5)).numbers).toEqual([20700, 19800, 18900, 18000]);
  expect((await pageOf(5, {}, 'asc')).numbers).toEqual([18000, 18900, 19800, 20700]);
  expect((await pageOf(1)).numbers).toEqual([7199, 7198, 7197, 7196, 7195, 7194, 7193, 7192, 7191, 7190]);
  expect((await pageOf(20)).numbers).toEqual([]);
});

test('the first page of a larger range is found by time', async () => {
  const all = { made_from: new Date(START), made_to: new Date(START + 10 * HOUR) };
  const { plans, numbers } = await pageOf(0, all);
  expect(numbers[0]).toBe(35999);
  expect(plans.at(-1)).toMatch(/packets_by_time/);
});
