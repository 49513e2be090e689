import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../../../../test/helpers/folder.ts';
import { type LoggedIn, type RunningTrace, runningTrace } from '../../../../test/helpers/trace.ts';
import { importEcbRates } from './import-ecb.ts';

const PATH = '/api/chain/currency/import/ecb';

let trace: RunningTrace;
let admin: LoggedIn;
beforeAll(async () => {
  trace = await runningTrace();
  admin = await trace.loggedIn('SYSTEM_ADMIN');
});
afterAll(() => trace.stop());

async function upload(text: string, { query = '', name = 'eurofxref-hist.csv', who = admin } = {}) {
  const form = new FormData();
  form.set('file', new Blob([text]), name);
  const response = await fetch(`${trace.url}${PATH}${query}`, {
    method: 'POST',
    body: form,
    headers: { cookie: who.cookie },
  });
  return { status: response.status, body: JSON.parse(await response.text()) };
}
const last = async () => (await admin.send('GET', PATH)).body.data.last;
const rates = async () =>
  (await admin.send('GET', '/api/chain/currency/rates/USD?from=2020-01-01&to=2020-01-31')).body.data.items;

test('an administrator uploads the history of rates, and the result and the last import are told', async () => {
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

test('nothing of a wrong file is imported, and the error names the file and the lines; force accepts a jump', async () => {
  const before = [await rates(), await last()];
  const refused = await upload('Date,USD,\n2020-01-03,9,\nyesterday,1,\n');
  expect(refused).toMatchObject({ status: 400, body: { status: 'VALIDATION_ERROR' } });
  const { file } = refused.body.validationErrorDetails.fieldErrors;
  expect(file).toMatch(/^nothing of eurofxref-hist\.csv was imported\nline 3: yesterday is not a date$/);
  expect((await upload('id;name\n1;2\n')).body.errorMessage).toMatch(/must begin with Date,USD/);
  const jump = 'Date,USD,\n2020-01-06,9,\n';
  expect((await upload(jump)).body.errorMessage).toMatch(/2020-01-06: 9 USD, but 1\.1147 on 2020-01-03/);
  expect([await rates(), await last()]).toEqual(before);
  expect((await upload(jump, { query: '?force=true' })).status).toBe(200);
  expect((await rates()).at(-1)).toEqual({ date: '2020-01-06', value: '9' });
});

test('only a SYSTEM_ADMIN imports rates; the import of an operator is the last one, too', async () => {
  const user = await trace.loggedIn();
  expect((await upload('Date,USD,\n2020-01-07,9,\n', { who: user })).status).toBe(403);
  const { folder, remove } = await temporaryFolder();
  const file = path.join(folder, 'rates.csv');
  await writeFile(file, 'Date,USD,\n2020-01-08,9.1,\n');
  await importEcbRates(trace.pool, file);
  await remove();
  expect(await last()).toMatchObject({ rates: 1, file, dates: { from: '2020-01-08', to: '2020-01-08' } });
  const audit = (await admin.send('GET', '/api/audit/list?action=IMPORT_RATES&limit=1')).body.data.items;
  expect(audit[0].userId).toBeUndefined();
});
