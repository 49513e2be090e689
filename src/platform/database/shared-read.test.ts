import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../test/helpers/database.ts';
import { openPool, transaction } from './database.ts';
import { groupedByKey, rowsByKey, sharedRead } from './shared-read.ts';

interface Word {
  n: number;
  word: string;
}

let database: TestDatabase;
let pool: pg.Pool;
beforeAll(async () => {
  database = await testDatabase();
  pool = openPool(database.connection, 'public', 2);
  await pool.query('CREATE TABLE words (n integer PRIMARY KEY, word text)');
});
beforeEach(async () => {
  await pool.query(
    "TRUNCATE words; INSERT INTO words SELECT n, 'word ' || n FROM generate_series(1, 5) AS n",
  );
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

/** A look-up of words, and the keys of its statements. */
function words() {
  const statements: (readonly number[])[] = [];
  const read = sharedRead(async (of, keys: readonly number[]) => {
    statements.push(keys);
    const { rows } = await of.query<Word>({
      text: 'SELECT n, word FROM words WHERE n = ANY ($1)',
      values: [keys],
    });
    return rowsByKey(keys, rows, ({ n }) => n);
  });
  return { read, statements };
}

test('look-ups at the same time through a pool are one statement, with each key once', async () => {
  const { read, statements } = words();
  const [one, two, again, many] = await Promise.all([
    read.one(pool, 1),
    read.one(pool, 2),
    read.one(pool, 1),
    read.many(pool, [5, 9, 2]),
  ]);
  expect([one?.word, two?.word, again?.word]).toEqual(['word 1', 'word 2', 'word 1']);
  expect(many.map(row => row?.word)).toEqual(['word 5', undefined, 'word 2']);
  expect(statements).toEqual([[1, 2, 5, 9]]);
  expect(await read.many(pool, [])).toEqual([]);
});

test('a look-up sees what was committed before it, also while another one is in flight', async () => {
  const { read } = words();
  const early = read.one(pool, 1);
  await new Promise(setImmediate);
  await database.pool.query("UPDATE public.words SET word = 'changed' WHERE n = 1");
  expect((await read.one(pool, 1))?.word).toBe('changed');
  expect((await early)?.n).toBe(1);
});

test('a look-up in a transaction sees the changes of the transaction and no other', async () => {
  const { read, statements } = words();
  await transaction(pool, async inside => {
    await inside.query({ text: "UPDATE words SET word = 'mine' WHERE n = 2" });
    const [own, others] = await Promise.all([read.many(inside, [2, 3, 2]), read.many(pool, [2, 3])]);
    expect(own.map(row => row?.word)).toEqual(['mine', 'word 3', 'mine']);
    expect(others.map(row => row?.word)).toEqual(['word 2', 'word 3']);
    expect(await read.many(inside, [])).toEqual([]);
  });
  expect(statements).toHaveLength(2);
});

test('an error reaches everyone whose key was in the statement, and the next look-up is tried again', async () => {
  const { read } = words();
  await pool.query('ALTER TABLE words RENAME TO moved');
  const failed = await Promise.allSettled([read.one(pool, 1), read.one(pool, 2)]);
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await pool.query('ALTER TABLE moved RENAME TO words');
  expect((await read.one(pool, 1))?.word).toBe('word 1');
});

test('rows of a key keep their order', () => {
  const rows = [
    { of: 1, word: 'b' },
    { of: 2, word: 'c' },
    { of: 1, word: 'a' },
  ];
  const grouped = groupedByKey([2, 3, 1], rows, row => row.of);
  expect(grouped.map(group => group.map(({ word }) => word))).toEqual([['c'], [], ['b', 'a']]);
});
