import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LoggedIn, type RunningTrace, runningTrace } from '../../../../test/helpers/trace.ts';

let trace: RunningTrace;
let admin: LoggedIn;
let user: LoggedIn;
beforeAll(async () => {
  trace = await runningTrace();
  admin = await trace.loggedIn('SYSTEM_ADMIN');
  user = await trace.loggedIn();
});
afterAll(() => trace.stop());

const path = (name: string) => `/api/common/globalSettings/${name}`;
const publicPath = (name: string) => `/api/public/globalSettings/${name}`;

async function set(name: string, body: object): Promise<void> {
  const { status, body: answer } = await admin.send('POST', path(name), body);
  expect([status, answer]).toEqual([200, { status: 'OK' }]);
}

/** A setting as read by a user, and without a login. */
async function read(name: string) {
  const answers = [await user.send('GET', path(name)), await trace.send('GET', publicPath(name))];
  for (const { status, text } of answers) expect(status, text).toBe(200);
  return answers.map(({ body }) => body.data);
}

test('a setting as the public front end sends it is read by users, and without a login if it is public', async () => {
  const name = 'UNPUBLISHED_PRODUCT_LABEL_TEXT';
  expect(await read(name)).toEqual([{}, {}]);
  await set(name, { value: null, isPublic: true });
  expect(await read(name)).toEqual([{ isPublic: true }, { isPublic: true }]);
  const value = 'Not yet <b>published</b>\nSee you soon';
  await set(name, { value, isPublic: 'false' });
  expect(await read(name)).toEqual([{ value, isPublic: false }, {}]);
  await set(name, { isPublic: true });
  expect(await read(name)).toEqual([
    { value, isPublic: true },
    { value, isPublic: true },
  ]);
  await set(name, { value: '' });
  expect(await read(name)).toEqual([{ isPublic: true }, { isPublic: true }]);
});

test('only a SYSTEM_ADMIN writes settings, and the audit records each change', async () => {
  const name = 'PRODUCT_LABELS_HELPER_LINK';
  for (const who of [user, await trace.loggedIn('REGIONAL_ADMIN')]) {
    expect((await who.send('POST', path(name), { value: 'x' })).status).toBe(403);
  }
  expect((await trace.send('GET', path(name))).status).toBe(401);
  for (let n = 0; n < 2; n++) await set(name, { value: 'https://example.org', isPublic: false });
  const { body } = await admin.send('GET', `/api/audit/list?entity=setting&entityId=${name}`);
  expect(
    body.data.items.map(({ action, details }: { action: string; details: object }) => [action, details]),
  ).toEqual([['UPDATE_SETTING', { fields: ['value'] }]]);
});

test('names, values and their number have limits', async () => {
  for (const [name, body, field] of [
    ['a%20b', { value: 'x' }, 'name'],
    ['x'.repeat(101), { value: 'x' }, 'name'],
    ['X', { value: 'x'.repeat(10_001) }, 'value'],
    ['X', { value: 1 }, 'value'],
    ['X', { isPublic: 'perhaps' }, 'isPublic'],
  ] as const) {
    const { status, body: answer } = await admin.send('POST', path(name), body);
    const fields = Object.keys(answer.validationErrorDetails?.fieldErrors ?? {});
    expect([status, fields], JSON.stringify(answer)).toEqual([400, [field]]);
  }
  await trace.pool.query(
    "INSERT INTO global_settings SELECT 'MANY_' || n, 'x', false FROM generate_series(1, 1000) AS n",
  );
  const { status, body } = await admin.send('POST', path('ONE_MORE'), { value: 'x' });
  expect([status, body.errorMessage]).toEqual([400, 'there are at most 1,000 settings']);
  await set('MANY_1', { value: 'y' });
});

test('concurrent changes of a setting add up', async () => {
  await trace.pool.query('DELETE FROM global_settings');
  const changes = [{ value: 'one' }, { isPublic: true }];
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) => admin.send('POST', path('BUSY'), changes[index % 2])),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect((await read('BUSY'))[0]).toEqual({ value: 'one', isPublic: true });
});
