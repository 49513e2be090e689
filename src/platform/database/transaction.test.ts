import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../test/helpers/database.ts';
import { execute, openPool, transaction } from './database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
  await database.pool.query('CREATE TABLE public.kept (n integer PRIMARY KEY)');
});
afterEach(async () => {
  await database.pool.query('TRUNCATE public.kept');
});
afterAll(() => database.drop());

const insert = (n: number) => ({ text: 'INSERT INTO public.kept VALUES ($1)', values: [n] });
const numbers = async () =>
  (await database.pool.query('SELECT n FROM public.kept ORDER BY n')).rows.map(({ n }) => n);

describe.each([{ pipeline: true }, { pipeline: false }])('with $pipeline as pipeline', ({ pipeline }) => {
  let pool: pg.Pool;
  beforeAll(() => {
    pool = openPool(database.connection, 'public', 1, { pipeline });
  });
  afterAll(() => pool.end());

  test('statements that nobody waits for are committed, in their order', async () => {
    const count = await transaction(pool, async inside => {
      execute(inside, insert(1));
      execute(inside, insert(2));
      const { rows } = await inside.query<{ count: number }>({
        text: 'SELECT count(*)::int AS count FROM public.kept',
      });
      execute(inside, insert(3));
      return rows[0]?.count;
    });
    expect(count).toBe(2);
    expect(await numbers()).toEqual([1, 2, 3]);
  });

  test('a statement that nobody waits for fails the transaction with its own error', async () => {
    const last = transaction(pool, async inside => {
      execute(inside, insert(1));
      execute(inside, insert(1));
    });
    await expect(last).rejects.toMatchObject({ code: '23505' });
    const earlier = transaction(pool, async inside => {
      execute(inside, insert(1));
      execute(inside, insert(1));
      await inside.query(insert(2));
    });
    await expect(earlier).rejects.toMatchObject({ code: '23505' });
    expect(await numbers()).toEqual([]);
  });

  test('an error that is caught inside still fails the transaction', async () => {
    const caught = transaction(pool, async inside => {
      await inside.query(insert(1));
      await inside.query(insert(1)).catch(() => {});
    });
    await expect(caught).rejects.toMatchObject({ code: '23505' });
    expect(await numbers()).toEqual([]);
  });

  test('an error of the work rolls back, also what is still in flight, and the connection is used again', async () => {
    const refused = transaction(pool, async inside => {
      execute(inside, insert(1));
      throw new Error('refused');
    });
    await expect(refused).rejects.toThrow('refused');
    await transaction(pool, async inside => execute(inside, insert(2)));
    expect(await numbers()).toEqual([2]);
    expect(pool.totalCount).toBe(1);
  });

  test('after a savepoint, only later errors count', async () => {
    await transaction(pool, async inside => {
      await inside.query({ text: 'SAVEPOINT before' });
      await inside.query(insert(1));
      await inside.query(insert(1)).catch(() => {});
      await inside.query({ text: 'ROLLBACK TO before' });
      execute(inside, insert(2));
    });
    expect(await numbers()).toEqual([2]);
  });
});

test('outside a transaction, a statement without a result is waited for', async () => {
  await execute(database.pool, insert(1));
  await expect(execute(database.pool, insert(1))).rejects.toMatchObject({ code: '23505' });
  expect(await numbers()).toEqual([1]);
});
