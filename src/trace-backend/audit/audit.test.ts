import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LoggedIn, type RunningTrace, runningTrace } from '../../../test/helpers/trace.ts';

let trace: RunningTrace;
let admin: LoggedIn;
beforeAll(async () => {
  trace = await runningTrace();
  admin = await trace.loggedIn('SYSTEM_ADMIN');
});
afterAll(() => trace.stop());

const list = (query: string) => admin.send('GET', `/api/audit/list?${query}`);

test('the audit is narrowed by times with any offset, and by dates as whole days', async () => {
  const { at } = (await list('limit=1')).body.data.items[0];
  const day = at.slice(0, 10);
  const found = async (query: string) => (await list(query)).body.data.items.length > 0;
  expect(await found(`from=${day}&to=${day}`)).toBe(true);
  expect(await found(`from=${at}`)).toBe(true);
  expect(await found('to=2020-01-01T00:00:00 02')).toBe(false);
  expect(await found('from=9999-12-31')).toBe(false);
});

test('what is no date of ISO 8601 is refused by name', async () => {
  for (const text of [
    '-271821-04-20',
    '%2B275760-09-13',
    'yesterday',
    '2026-02-30',
    'Mon, 01 Mar 2026',
    '0000-01-01',
    '5',
  ]) {
    for (const name of ['from', 'to']) {
      const { status, body } = await list(`${name}=${text}`);
      expect([status, Object.keys(body.validationErrorDetails.fieldErrors)], text).toEqual([400, [name]]);
    }
  }
});
