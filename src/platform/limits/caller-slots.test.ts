import type pg from 'pg';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import {
  asService,
  type TestDatabase,
  testDatabase,
  waitingSessions,
} from '../../../test/helpers/database.ts';
import { eventually } from '../../../test/helpers/eventually.ts';
import { otherClient } from '../../../test/helpers/writes.ts';
import { openPool } from '../database/database.ts';
import { type CallerSlots, openCallerSlots } from './caller-slots.ts';

const TABLES = ['serving_processes', 'caller_places'];

let database: TestDatabase;
const pools: pg.Pool[] = [];
let first: CallerSlots;
let second: CallerSlots;
const lines: string[] = [];
const logger = pino({ level: 'info' }, { write: line => lines.push(JSON.parse(line).msg) });

beforeAll(async () => {
  database = await testDatabase();
  for (let n = 0; n < 2; n++) pools.push(openPool(asService(database.connection), 'packet_service', 4));
});
afterAll(async () => {
  await Promise.all(pools.map(pool => pool.end()));
  await database.drop();
});
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval'] });
  lines.length = 0;
  [first, second] = pools.map(pool => openCallerSlots(pool, logger)) as [CallerSlots, CallerSlots];
});
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all([first.stop(), second.stop()]);
  expect(await slots()).toEqual([]);
  await database.pool.query('TRUNCATE serving_processes');
});

/** Lets every process say that it is alive, once. */
const beat = () => vi.advanceTimersByTime(3000);

async function slots(): Promise<string[]> {
  const { rows } = await database.pool.query(
    `SELECT kind || ' ' || caller || ' ' || slot AS place FROM caller_places ORDER BY kind, caller, slot`,
  );
  return rows.map(({ place }) => place);
}

/** Takes a free slot. */
async function taken(of: CallerSlots, caller: string, most: number, kind = 'feeds'): Promise<() => void> {
  const free = await of.take(kind, caller, most);
  expect(free).toBeTypeOf('function');
  return free as () => void;
}

/** Refuses writes as a server does that is read-only. */
async function refuseWrites(): Promise<void> {
  await database.pool.query(`CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'refused for the test' USING ERRCODE = '25006'; END $$`);
  for (const table of TABLES)
    await database.pool.query(`CREATE TRIGGER refuse BEFORE INSERT OR UPDATE OR DELETE ON ${table}
      FOR EACH STATEMENT EXECUTE FUNCTION refuse()`);
}

async function takeWrites(): Promise<void> {
  for (const table of TABLES) await database.pool.query(`DROP TRIGGER refuse ON ${table}`);
}

test('who ends something and begins the next at once has a place, although the first is still being freed', async () => {
  const free = await taken(first, 'ana', 1);
  const holder = await database.pool.connect();
  await holder.query('BEGIN');
  await holder.query('SELECT FROM caller_places FOR UPDATE');
  free();
  const next = first.take('feeds', 'ana', 1);
  await eventually(async () => (await waitingSessions(database.pool)) > 0);
  await holder.query('COMMIT');
  holder.release();
  const freeNext = await next;
  expect(freeNext).toBeTypeOf('function');
  freeNext?.();
});

test('a caller has its places over all processes, each kind and caller by itself', async () => {
  const free = await taken(first, 'ana', 2);
  await taken(second, 'ana', 2);
  expect(await first.take('feeds', 'ana', 2)).toBeUndefined();
  expect(await second.take('feeds', 'ana', 2)).toBeUndefined();
  await taken(second, 'ben', 1);
  await taken(first, 'ana', 1, 'uploads');
  free();
  free();
  await eventually(async () => (await slots()).length === 3);
  await taken(second, 'ana', 2);
  expect(await first.take('feeds', 'ana', 2)).toBeUndefined();
  expect(await slots()).toEqual(['feeds ana 1', 'feeds ana 2', 'feeds ben 1', 'uploads ana 1']);
});

test('a process that has all places of a caller refuses more without asking', async () => {
  await taken(first, 'ana', 1);
  await database.pool.query('TRUNCATE caller_places');
  expect(await first.take('feeds', 'ana', 1)).toBeUndefined();
});

test('requests that come at once get exactly as many places as there are', async () => {
  const takes = [first, second].flatMap(of => Array.from({ length: 12 }, () => of.take('feeds', 'ana', 9)));
  const got = (await Promise.all(takes)).filter(free => free !== undefined);
  expect([got.length, (await slots()).length]).toEqual([9, 9]);
});

test('who loses a place to another request gets one that has become free', async () => {
  const free = await taken(second, 'ana', 2);
  const other = await otherClient(database);
  await other.query('BEGIN');
  await other.query(`INSERT INTO caller_places
    SELECT kind, caller, 3 - slot, process FROM caller_places WHERE caller = 'ana'`);
  const takes = taken(first, 'ana', 2);
  await other.blocks();
  free();
  await eventually(async () => (await slots()).length === 0);
  await other.query('COMMIT');
  await takes;
  await other.end();
});

test('places of a process that has ended are free when its lease is over', async () => {
  await taken(first, 'ana', 1);
  await taken(second, 'ben', 1);
  expect(await second.take('feeds', 'ana', 1)).toBeUndefined();
  const { rows } = await database.pool.query(
    `SELECT max(until) - now() BETWEEN '9 s' AND '10 s' AS ten, count(*)::int FROM serving_processes`,
  );
  expect(rows).toEqual([{ ten: true, count: 2 }]);
  await database.pool.query(`UPDATE serving_processes SET until = now() - interval '1 ms'
    WHERE id = (SELECT process FROM caller_places WHERE caller = 'ana')`);
  vi.clearAllTimers();
  // A third process removes what is over with its first slot.
  const third = openCallerSlots(database.pool, logger);
  await taken(third, 'ana', 1);
  expect((await database.pool.query('SELECT FROM serving_processes')).rowCount).toBe(2);
  await third.stop();
});

test('a process that says that it is alive keeps its places', async () => {
  await taken(first, 'ana', 1);
  await database.pool.query(`UPDATE serving_processes SET until = now() + interval '1 ms'`);
  beat();
  await eventually(async () => {
    const { rows } = await database.pool.query(
      `SELECT until > now() + interval '5 s' AS renewed FROM serving_processes`,
    );
    return rows[0].renewed;
  });
  await taken(second, 'ben', 1);
  expect(await second.take('feeds', 'ana', 1)).toBeUndefined();
});

test('after a crash of the server, which empties the tables, each process has its places again', async () => {
  await taken(first, 'ana', 3);
  const free = await taken(first, 'ana', 3);
  await taken(second, 'ana', 3);
  await database.pool.query('TRUNCATE caller_places, serving_processes');
  beat();
  await eventually(async () => (await slots()).length === 3);
  expect(await second.take('feeds', 'ana', 3)).toBeUndefined();
  free();
  await eventually(async () => (await slots()).length === 2);
  expect(lines).toEqual([]);
});

test('a process whose lease was over enters its places again as far as there is room, and the rest later', async () => {
  await taken(first, 'ana', 2);
  await taken(first, 'ana', 2);
  await database.pool.query('TRUNCATE caller_places, serving_processes');
  const free = await taken(second, 'ana', 2);
  beat();
  await eventually(async () => (await slots()).length === 2);
  expect(await second.take('feeds', 'ana', 2)).toBeUndefined();
  free();
  await eventually(async () => (await slots()).length === 1);
  beat();
  await eventually(async () => (await slots()).length === 2);
});

test('while the database takes no writes each process counts by itself, and over all again afterwards', async () => {
  const early = await taken(first, 'ana', 2);
  await refuseWrites();
  await taken(first, 'ana', 2);
  expect(await first.take('feeds', 'ana', 2)).toBeUndefined();
  early();
  const free = await taken(first, 'ana', 2);
  expect(lines).toEqual(['limits per caller hold in this process alone for now']);
  await takeWrites();
  beat();
  await eventually(() => lines.at(-1) === 'limits per caller hold over all processes again');
  await eventually(async () => (await slots()).length === 2);
  expect(await second.take('feeds', 'ana', 2)).toBeUndefined();
  free();
  await eventually(async () => (await slots()).length === 1);
  expect(lines).toHaveLength(2);
});

test('a place that could not be given back is free after the next beat', async () => {
  const free = await taken(first, 'ana', 1);
  await refuseWrites();
  free();
  await eventually(() => lines.length === 1);
  await takeWrites();
  expect(await second.take('feeds', 'ana', 1)).toBeUndefined();
  beat();
  await eventually(() => lines.length === 2);
  await eventually(async () => (await slots()).length === 0);
});

test('a request does not wait for a database that does not answer; its place counts once when it does', async () => {
  await taken(first, 'ben', 1);
  const other = await otherClient(database);
  await other.query('BEGIN');
  await other.query('LOCK TABLE caller_places');
  const free = await taken(first, 'ana', 1);
  await other.query('ROLLBACK');
  await eventually(async () => (await slots()).length === 2);
  beat();
  await eventually(() => lines.length === 2);
  await eventually(async () => {
    const { rows } = await database.pool.query(
      'SELECT count(*)::int, count(DISTINCT process)::int AS processes FROM caller_places',
    );
    return rows[0].count === 2 && rows[0].processes === 1;
  });
  expect(await second.take('feeds', 'ana', 1)).toBeUndefined();
  free();
  await eventually(async () => (await slots()).length === 1);
  await other.end();
});

test('a place that is given back while it is entered again is free', async () => {
  const free = await taken(first, 'ana', 1);
  await database.pool.query('TRUNCATE caller_places, serving_processes');
  const other = await otherClient(database);
  await other.query('BEGIN');
  await other.query(`INSERT INTO caller_places VALUES ('feeds', 'ana', 1, gen_random_uuid())`);
  beat();
  await other.blocks();
  free();
  await other.query('ROLLBACK');
  await other.end();
  await taken(second, 'ana', 1);
});
