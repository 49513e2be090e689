import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../test/helpers/database.ts';
import { transaction } from './database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());

const number = (value: number) => ({ text: 'SELECT $1::int AS number', values: [value] });

test("statements that are sent at once inside a transaction are answered in turn, without pg's own queue", async () => {
  const warnings: string[] = [];
  const listen = (warning: Error) => void warnings.push(warning.message);
  process.on('warning', listen);
  const answers = await transaction(database.pool, client =>
    Promise.all([1, 2, 3, 4, 5].map(n => client.query<{ number: number }>(number(n)))),
  );
  expect(answers.map(({ rows }) => rows[0]?.number)).toEqual([1, 2, 3, 4, 5]);
  await new Promise(resolve => setImmediate(resolve));
  process.off('warning', listen);
  expect(warnings).toEqual([]);
});

test('a statement that fails fails those after it in its transaction, and nothing is left of it', async () => {
  await database.pool.query('CREATE TABLE kept (id int)');
  const work = transaction(database.pool, async client => {
    const sent = ['INSERT INTO kept VALUES (1)', 'SELECT 1 / 0', 'INSERT INTO kept VALUES (2)'].map(text =>
      client.query({ text }),
    );
    const settled = await Promise.allSettled(sent);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    await sent[1];
  });
  await expect(work).rejects.toMatchObject({ code: '22012' });
  expect((await database.pool.query('SELECT FROM kept')).rowCount).toBe(0);
  expect((await database.pool.query(number(7))).rows).toEqual([{ number: 7 }]);
});
