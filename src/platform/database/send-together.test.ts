import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../test/helpers/database.ts';
import { runs } from '../../../test/helpers/property.ts';
import { openPool, transaction } from './database.ts';
import { type PreparedStatement, sendTogether } from './send-together.ts';

const BEGIN = { name: 'begin', text: 'BEGIN' };
const COMMIT = { name: 'commit', text: 'COMMIT' };

let database: TestDatabase;
let pool: pg.Pool;
beforeAll(async () => {
  database = await testDatabase();
  pool = openPool(database.connection, 'public', 2, { pipeline: true });
  await database.pool.query(`CREATE TABLE public.kept (
    n integer PRIMARY KEY, words text, bytes bytea, amount float8, yes boolean, at timestamptz, list text[], object jsonb)`);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

async function onConnection<Result>(work: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
  const client = await pool.connect();
  try {
    return await work(client);
  } finally {
    client.release(true);
  }
}

const insert = (...values: unknown[]): PreparedStatement => ({
  name: 'insert_kept',
  text: 'INSERT INTO public.kept VALUES ($1, $2, $3, $4, $5, $6, $7, $8)',
  values: Array.from({ length: 8 }, (_, n) => values[n]),
});
const numbers = async () =>
  (await database.pool.query('SELECT n FROM public.kept ORDER BY n')).rows.map(({ n }) => n);

test('values arrive as pg would send them', async () => {
  const value = fc.record({
    words: fc.option(fc.string({ unit: 'grapheme', maxLength: 50 }).map(text => text.replaceAll('\0', ''))),
    bytes: fc.option(fc.uint8Array({ maxLength: 40 }).map(bytes => Buffer.from(bytes))),
    // pg writes a negative zero as 0.
    amount: fc.option(fc.double({ noNaN: true }).map(amount => amount + 0)),
    yes: fc.option(fc.boolean()),
    at: fc.option(fc.date({ noInvalidDate: true, min: new Date('1000-01-01'), max: new Date('3000-01-01') })),
    list: fc.option(fc.array(fc.constantFrom('a', 'b "c"', '\\', 'é, {}', ''), { maxLength: 4 })),
    object: fc.option(fc.dictionary(fc.constantFrom('a', 'b'), fc.integer())),
  });
  await onConnection(client =>
    fc.assert(
      fc.asyncProperty(fc.array(value, { minLength: 1, maxLength: 5 }), async values => {
        await database.pool.query('DELETE FROM public.kept');
        const statements = values.map((row, n) =>
          insert(n, row.words, row.bytes, row.amount, row.yes, row.at, row.list, row.object),
        );
        await sendTogether(client, [BEGIN, ...statements, COMMIT]);
        const { rows } = await database.pool.query('SELECT * FROM public.kept ORDER BY n');
        expect(rows).toEqual(values.map((row, n) => ({ n, ...row })));
      }),
      { numRuns: runs(60) },
    ),
  );
});

test('texts of any length are sent whole, and later messages are not disturbed by large ones', async () => {
  await database.pool.query('DELETE FROM public.kept');
  const texts = [0, 16_383, 16_384, 300_000, 3].map((length, n) => 'añ😀 '[n % 4]?.repeat(length) as string);
  const large = '漢'.repeat(500_000);
  await onConnection(async client => {
    await Promise.all(
      texts.map((text, n) => sendTogether(client, [BEGIN, insert(n, text), insert(n + 100, large), COMMIT])),
    );
  });
  const { rows } = await database.pool.query('SELECT words FROM public.kept ORDER BY n LIMIT 5');
  expect(rows.map(({ words }) => words)).toEqual(texts.map(text => text.toWellFormed()));
  const { rows: others } = await database.pool.query(
    'SELECT count(*)::int AS count FROM public.kept WHERE words = $1',
    [large],
  );
  expect(others[0].count).toBe(5);
});

test('a message that waits for the socket is not changed by the next one', async () => {
  await database.pool.query('DELETE FROM public.kept');
  // More than a socket takes at once.
  const texts = Array.from({ length: 20 }, (_, n) => String.fromCharCode(97 + n).repeat(200_000));
  await onConnection(async client => {
    await Promise.all(texts.map((text, n) => sendTogether(client, [BEGIN, insert(n, text), COMMIT])));
  });
  const { rows } = await database.pool.query('SELECT words FROM public.kept ORDER BY n');
  expect(rows.map(({ words }) => words)).toEqual(texts);
});

test('the first error is the one that is thrown, and nothing behind it is executed', async () => {
  await database.pool.query('DELETE FROM public.kept');
  await onConnection(async client => {
    const broken = sendTogether(client, [BEGIN, insert(1), insert(1), insert(2), COMMIT]);
    // What is sent behind it fails in the open transaction.
    const behind = sendTogether(client, [BEGIN, insert(3), COMMIT]);
    await expect(broken).rejects.toMatchObject({ code: '23505' });
    await expect(behind).rejects.toMatchObject({ code: '25P02' });
  });
  expect(await numbers()).toEqual([]);
});

test("without BEGIN, they are part of the caller's transaction", async () => {
  await onConnection(async client => {
    await client.query('BEGIN');
    await sendTogether(client, [insert(1)]);
    expect(await numbers()).toEqual([]);
    await sendTogether(client, [insert(2), COMMIT]);
    expect(await numbers()).toEqual([1, 2]);
    // Answers of queries that follow are their own.
    const [, { rows }] = await Promise.all([
      sendTogether(client, [BEGIN, COMMIT]),
      client.query('SELECT 7 AS seven'),
    ]);
    expect(rows).toEqual([{ seven: 7 }]);
  });
});

test('a statement is prepared once, by its name', async () => {
  await onConnection(async client => {
    const show = { name: 'show', text: 'SELECT 1' };
    for (let n = 0; n < 3; n++) await sendTogether(client, [show]);
    const { rows } = await client.query(
      "SELECT name, statement FROM pg_prepared_statements WHERE name = 'show'",
    );
    expect(rows).toEqual([{ name: 'show', statement: 'SELECT 1' }]);
    await expect(sendTogether(client, [{ name: 'show', text: 'SELECT 2' }])).rejects.toThrow(
      /two statements/,
    );
  });
});

test('a connection that ends rejects what is in flight', async () => {
  await onConnection(async client => {
    client.on('error', () => {});
    const { processID } = client as unknown as { processID: number };
    await database.pool.query('SELECT pg_advisory_lock(1)');
    const waits = sendTogether(client, [{ name: 'wait', text: 'SELECT pg_advisory_lock(1)' }]);
    const failed = expect(waits).rejects.toMatchObject({ code: '57P01' });
    await database.pool.query('SELECT pg_terminate_backend($1)', [processID]);
    await failed;
    await expect(sendTogether(client, [BEGIN])).rejects.toThrow();
  });
});

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
  await database.pool.query('CREATE TABLE single (id int)');
  const work = transaction(database.pool, async client => {
    const sent = ['INSERT INTO single VALUES (1)', 'SELECT 1 / 0', 'INSERT INTO single VALUES (2)'].map(
      text => client.query({ text }),
    );
    const settled = await Promise.allSettled(sent);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    await sent[1];
  });
  await expect(work).rejects.toMatchObject({ code: '22012' });
  expect((await database.pool.query('SELECT FROM single')).rowCount).toBe(0);
  expect((await database.pool.query(number(7))).rows).toEqual([{ number: 7 }]);
});
