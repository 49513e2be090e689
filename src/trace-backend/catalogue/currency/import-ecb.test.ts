import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../../test/helpers/database.ts';
import { temporaryFolder } from '../../../../test/helpers/folder.ts';
import { openPool } from '../../../platform/database/database.ts';
import { localTime } from './calendar.ts';
import { importEcbRates } from './import-ecb.ts';

let database: TestDatabase;
let pool: pg.Pool;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let file: string;
beforeAll(async () => {
  database = await testDatabase();
  pool = openPool(database.connection, 'trace_backend', 2);
  folder = await temporaryFolder();
  file = path.join(folder.folder, 'eurofxref-hist.csv');
});
beforeEach(async () => {
  await pool.query('TRUNCATE currency_rates, currency_dates, currency_types');
});
afterAll(async () => {
  await pool.end();
  await database.drop();
  await folder.remove();
});

async function importLines(lines: string[], options = {}, end = '\n'): Promise<string> {
  await writeFile(file, lines.join('\n') + end);
  return importEcbRates(pool, file, options);
}

/** What is refused of a file, without the sentence that says that nothing was imported. */
async function complaints(lines: string[], end = '\n'): Promise<string[]> {
  const error: Error = await importLines(lines, {}, end).then(
    done => new Error(done),
    error => error,
  );
  const [first, ...rest] = error.message.split('\n');
  expect(first).toMatch(/^nothing of .*eurofxref-hist\.csv was imported/);
  return rest;
}

async function stored(): Promise<string[]> {
  const { rows } = await pool.query(
    'SELECT concat_ws($1, date, code, value) AS rate FROM currency_rates ORDER BY date, code',
    [' '],
  );
  return rows.map(({ rate }) => rate);
}

const HEADER = 'Date,USD,JPY,';

test('a file is imported, and again without harm', async () => {
  const lines = [HEADER, '2020-01-03,1.1147,120.62,', '2020-01-02,1.1193,N/A,'];
  for (let n = 0; n < 2; n++) {
    expect(await importLines(lines)).toBe('imported 3 rates of 2 days');
    expect(await stored()).toEqual([
      '2020-01-02 USD 1.1193',
      '2020-01-03 JPY 120.62',
      '2020-01-03 USD 1.1147',
    ]);
  }
  expect(await importLines(lines, {}, '')).toBe('imported 3 rates of 2 days');
});

test('nothing of a file with a wrong line is imported, and all errors are listed by line', async () => {
  const { day: today } = localTime(new Date());
  const good = Array.from({ length: 500 }, (_, n) => {
    const date = new Date(Date.UTC(2020, 0, 1) + n * 86_400_000).toISOString().slice(0, 10);
    return `${date},1.1,120,`;
  });
  const wrong = [
    '2021-13-01,1,1,',
    '2021-10-01,x,1,',
    '"2021-10-02,1,1,',
    '2999-01-01,7,1,',
    '2020-01-01,1.1,120,',
    '2021-10-04,1.1,',
    '2021-10-05,1.1,120,5,',
    '2021-10-06,1.1,12',
  ];
  expect(await complaints([HEADER, ...good, ...wrong], '')).toEqual([
    'line 502: 2021-13-01 is not a date',
    'line 503: x is not a rate of USD',
    'line 504: "2021-10-02 is not a date',
    `line 505: 2999-01-01 is not from 1999-01-04 to ${today}`,
    'line 506: 2020-01-01 is also in an earlier line',
    'line 507: 3 cells, but the first line has 4',
    'line 508: 5 cells, but the first line has 4',
    'line 509: 3 cells, but the first line has 4',
  ]);
  expect(await stored()).toEqual([]);
  expect((await pool.query('SELECT FROM currency_types')).rowCount).toBe(0);
  expect((await pool.query('SELECT FROM currency_dates')).rowCount).toBe(0);
  const all = await complaints([HEADER, ...Array.from({ length: 1000 }, () => 'x,1,1,')]);
  expect(all).toHaveLength(21);
  expect(all.at(-1)).toBe('and more');
});

test('a line that was cut off is never taken for a whole one', async () => {
  expect(await complaints([HEADER, '2020-01-03,1.1147,120.62,', '2020-01-02,1.1193,12'], '')).toEqual([
    'line 3: 3 cells, but the first line has 4',
  ]);
  const bare = ['Date,USD,JPY', '2020-01-03,1.1147,120.62', '2020-01-02,1.1193,12'];
  expect(await complaints(bare, '')).toEqual(['the last line may be cut off: no line break follows it']);
  expect(await stored()).toEqual([]);
  expect(await importLines(bare.slice(0, 2))).toBe('imported 2 rates of 1 days');
});

test('a rate more than five times that of a neighbouring day is taken by force alone', async () => {
  const lines = [HEADER, '2020-01-03,1.1147,120.62,', '2020-01-02,1.1193,16,', '2019-12-31,1.12,121.94,'];
  const jumps = [
    '2020-01-03: 120.62 JPY, but 16 on 2020-01-02',
    '2020-01-02: 16 JPY, but 121.94 on 2019-12-31',
  ];
  expect(await complaints(lines)).toEqual(jumps);
  expect(await stored()).toEqual([]);
  expect(await importLines(lines, { force: true })).toBe('imported 6 rates of 3 days');
  expect(await stored()).toContain('2020-01-02 JPY 16');
});

test("the neighbours of a file's first and last day are those that are stored already", async () => {
  await importLines([HEADER, '2020-01-10,1.11,120,', '2020-01-02,1.12,121,']);
  expect(await complaints([HEADER, '2020-01-09,1.1,1.21,'])).toEqual([
    '2020-01-10: 120 JPY, but 1.21 on 2020-01-09',
    '2020-01-09: 1.21 JPY, but 121 on 2020-01-02',
  ]);
  expect(await complaints([HEADER, '2020-01-11,1111,N/A,'])).toEqual([
    '2020-01-11: 1111 USD, but 1.11 on 2020-01-10',
  ]);
  // Five times is not more than five times; and what was wrong before is no fault of another file.
  expect(await importLines([HEADER, '2020-01-11,5.55,N/A,'])).toBe('imported 1 rates of 1 days');
  await importLines([HEADER, '2019-01-01,N/A,1,'], { force: true });
  expect(await importLines([HEADER, '2020-01-12,5.5,120,'])).toBe('imported 2 rates of 1 days');
});

test("what is not the ECB's file is refused by name", async () => {
  await expect(importLines(['Name,Age'])).rejects.toThrow(/is not the ECB/);
  await expect(importLines(['Date,USD,USD,', '2020-01-02,1,1,'])).rejects.toThrow(/names USD twice/);
  await expect(importLines([], {}, '')).rejects.toThrow(/is empty/);
  await expect(importEcbRates(pool, `${file}.gone`)).rejects.toThrow(/cannot be read/);
  await expect(importEcbRates(pool, path.dirname(file))).rejects.toThrow(/is a folder/);
});
