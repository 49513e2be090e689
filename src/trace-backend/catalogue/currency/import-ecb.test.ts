import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../../../../test/helpers/folder.ts';
import { type LoggedIn, type RunningTrace, runningTrace } from '../../../../test/helpers/trace.ts';
import { localTime } from './calendar.ts';
import { importEcbRates } from './import-ecb.ts';

let trace: RunningTrace;
let admin: LoggedIn;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let file: string;
beforeAll(async () => {
  trace = await runningTrace();
  admin = await trace.loggedIn('SYSTEM_ADMIN');
  folder = await temporaryFolder();
  file = path.join(folder.folder, 'eurofxref-hist.csv');
});
afterAll(async () => {
  await trace.stop();
  await folder.remove();
});

async function importLines(lines: string[], options = {}, end = '\n'): Promise<string> {
  await writeFile(file, lines.join('\n') + end);
  return importEcbRates(trace.pool, file, options);
}

/** The faults of a refused file, without the sentence that nothing was imported. */
async function complaints(lines: string[], end = '\n'): Promise<string[]> {
  const error: Error = await importLines(lines, {}, end).then(
    done => new Error(done),
    error => error,
  );
  const [first, ...rest] = error.message.split('\n');
  expect(first).toMatch(/eurofxref-hist\.csv was not imported(; use force to import these rates anyway)?$/);
  return rest;
}

async function stored(): Promise<string[]> {
  const { rows } = await trace.pool.query(
    'SELECT concat_ws($1, date, code, value) AS rate FROM currency_rates ORDER BY date, code',
    [' '],
  );
  return rows.map(({ rate }) => rate);
}

/** Deletes all rates, as in a new database. */
const forgetRates = () => trace.pool.query('TRUNCATE currency_rates, currency_dates, currency_types');

const HEADER = 'Date,USD,JPY,';

const PATH = '/api/chain/currency/import/ecb';

async function upload(text: string, { query = '', name = 'eurofxref-hist.csv', who = admin } = {}) {
  const form = new FormData();
  form.set('file', new Blob([text]), name);
  const response = await fetch(`${trace.url}${PATH}${query}`, {
    method: 'POST',
    body: form,
    headers: { cookie: who.cookie },
  });
  const reasons = response.headers.get('fieldtrace-reason');
  return { status: response.status, reasons, body: JSON.parse(await response.text()) };
}
const last = async () => (await admin.send('GET', PATH)).body.data.last;
const rates = async () =>
  (await admin.send('GET', '/api/chain/currency/rates/USD?from=2020-01-01&to=2020-01-31')).body.data.items;

test('an administrator uploads the history of rates, and reads the result and the last import', async () => {
  expect(await last()).toBeUndefined();
  const { status, body } = await upload(
    'Date,USD,JPY,\n2020-01-03,1.1147,120.62,\n2020-01-02,1.1193,N/A,\n',
    {
      name: 'C:\\downloads\\eurofxref-hist.csv',
    },
  );
  const imported = { rates: 3, days: 2, currencies: 2, dates: { from: '2020-01-02', to: '2020-01-03' } };
  expect([status, body.data]).toEqual([200, imported]);
  expect(await rates()).toEqual([
    { date: '2020-01-02', value: '1.1193' },
    { date: '2020-01-03', value: '1.1147' },
  ]);
  expect(await last()).toEqual({ ...imported, file: 'eurofxref-hist.csv', at: expect.any(String) });
  const audit = (await admin.send('GET', '/api/audit/list?action=IMPORT_RATES')).body.data.items;
  expect(audit).toMatchObject([{ userId: admin.id, entity: 'currency', details: { rates: 3 } }]);
});

test('an invalid file is not imported at all, and the error names the file and lines; force accepts a jump', async () => {
  const before = [await rates(), await last()];
  const refused = await upload('Date,USD,\n2020-01-03,9,\nyesterday,1,\n');
  expect(refused).toMatchObject({ status: 400, body: { status: 'VALIDATION_ERROR' } });
  const { file } = refused.body.validationErrorDetails.fieldErrors;
  expect(file).toMatch(/^eurofxref-hist\.csv was not imported\nline 3: yesterday is not a date$/);
  expect(refused.reasons).toMatch(
    /^rates_file\.wrong_lines;.*;field="file", rates_file\.no_date;line=3;value="yesterday"$/,
  );
  expect((await upload('id;name\n1;2\n')).body.errorMessage).toMatch(/must start with Date,USD/);
  const jump = 'Date,USD,\n2020-01-06,9,\n';
  expect((await upload(jump)).body.errorMessage).toMatch(/2020-01-06: 9 USD, but 1\.1147 on 2020-01-03/);
  expect([await rates(), await last()]).toEqual(before);
  expect((await upload(jump, { query: '?force=true' })).status).toBe(200);
  expect((await rates()).at(-1)).toEqual({ date: '2020-01-06', value: '9' });
});

test("only a SYSTEM_ADMIN imports rates; an operator's import is listed as the last one, too", async () => {
  const user = await trace.loggedIn();
  expect((await upload('Date,USD,\n2020-01-07,9,\n', { who: user })).status).toBe(403);
  await writeFile(file, 'Date,USD,\n2020-01-08,9.1,\n');
  await importEcbRates(trace.pool, file);
  expect(await last()).toMatchObject({ rates: 1, file, dates: { from: '2020-01-08', to: '2020-01-08' } });
  const audit = (await admin.send('GET', '/api/audit/list?action=IMPORT_RATES&limit=1')).body.data.items;
  expect(audit[0].userId).toBeUndefined();
});

test('a file can be imported twice', async () => {
  await forgetRates();
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

test('a file with an invalid line is not imported at all, and all errors are listed by line', async () => {
  await forgetRates();
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
    `line 505: 2999-01-01 is not between 1999-01-04 and ${today}`,
    'line 506: 2020-01-01 is also in an earlier line',
    'line 507: 3 cells, but the first line has 4',
    'line 508: 5 cells, but the first line has 4',
    'line 509: 3 cells, but the first line has 4',
  ]);
  expect(await stored()).toEqual([]);
  expect((await trace.pool.query('SELECT FROM currency_types')).rowCount).toBe(0);
  expect((await trace.pool.query('SELECT FROM currency_dates')).rowCount).toBe(0);
  const all = await complaints([HEADER, ...Array.from({ length: 1000 }, () => 'x,1,1,')]);
  expect(all).toHaveLength(21);
  expect(all.at(-1)).toBe('and more');
});

test('a line that was cut off is refused', async () => {
  await forgetRates();
  expect(await complaints([HEADER, '2020-01-03,1.1147,120.62,', '2020-01-02,1.1193,12'], '')).toEqual([
    'line 3: 3 cells, but the first line has 4',
  ]);
  const bare = ['Date,USD,JPY', '2020-01-03,1.1147,120.62', '2020-01-02,1.1193,12'];
  expect(await complaints(bare, '')).toEqual(['the last line may be cut off: it has no line break']);
  expect(await stored()).toEqual([]);
  expect(await importLines(bare.slice(0, 2))).toBe('imported 2 rates of 1 day');
});

test('a rate more than five times that of a neighbouring day is accepted only with force', async () => {
  await forgetRates();
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

test('the first and last day of a file are compared with stored neighbours', async () => {
  await forgetRates();
  await importLines([HEADER, '2020-01-10,1.11,120,', '2020-01-02,1.12,121,']);
  expect(await complaints([HEADER, '2020-01-09,1.1,1.21,'])).toEqual([
    '2020-01-10: 120 JPY, but 1.21 on 2020-01-09',
    '2020-01-09: 1.21 JPY, but 121 on 2020-01-02',
  ]);
  expect(await complaints([HEADER, '2020-01-11,1111,N/A,'])).toEqual([
    '2020-01-11: 1111 USD, but 1.11 on 2020-01-10',
  ]);
  // Exactly five times is allowed; and earlier jumps are not faults of this file.
  expect(await importLines([HEADER, '2020-01-11,5.55,N/A,'])).toBe('imported 1 rate of 1 day');
  await importLines([HEADER, '2019-01-01,N/A,1,'], { force: true });
  expect(await importLines([HEADER, '2020-01-12,5.5,120,'])).toBe('imported 2 rates of 1 day');
});

test("other files than the ECB's are refused by name", async () => {
  await forgetRates();
  await expect(importLines(['Name,Age'])).rejects.toThrow(/is not the ECB/);
  await expect(importLines(['Date,USD,USD,', '2020-01-02,1,1,'])).rejects.toThrow(/has USD twice/);
  await expect(importLines([], {}, '')).rejects.toThrow(/is empty/);
  await expect(importEcbRates(trace.pool, `${file}.gone`)).rejects.toThrow(/cannot be read/);
  await expect(importEcbRates(trace.pool, path.dirname(file))).rejects.toThrow(/is a folder/);
});
