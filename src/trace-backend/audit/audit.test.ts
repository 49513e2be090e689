import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LoggedIn, type RunningTrace, runningTrace } from '../../../test/helpers/trace.ts';
import { CODE_LISTS, entityOf } from '../codes/lists.ts';

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

test('the audit is narrowed by a name or an address, and says who did what', async () => {
  const ana = await trace.loggedIn('USER');
  const { email } = (await ana.send('GET', '/api/user/profile')).body.data;
  const found = async (query: string) => (await list(query)).body.data.items;
  const [entry] = await found(`user=${encodeURIComponent(email.slice(2).toUpperCase())}&action=LOGIN`);
  expect(entry).toMatchObject({ userId: ana.id, action: 'LOGIN', user: { email } });
  expect(await found(`user=nobody-has-this-name`)).toEqual([]);
  expect(await found(`user=${encodeURIComponent(email)}&userId=${admin.id}`)).toEqual([]);
  await trace.pool.query(
    `INSERT INTO users (email, email_key, password, name, surname, language, status, role, created_at)
     SELECT 'twin-' || n, 'twin-' || n, '', 'Twin', 'Uwase', 'EN', 'ACTIVE', 'USER', now() FROM generate_series(1, 201) AS n`,
  );
  const { status, body } = await list('user=twin');
  expect([status, Object.keys(body.validationErrorDetails.fieldErrors)]).toEqual([400, ['user']]);
});

test('an administrator who has a mail sent to somebody else is in the audit; others, and oneself, are not', async () => {
  const ana = await trace.loggedIn('USER');
  const ben = await trace.loggedIn('USER');
  for (const path of ['resend_confirmation', 'request_reset_password']) {
    for (const who of [admin, ben, trace]) {
      const ask = { email: who === ben ? ben.email : ana.email };
      expect((await who.send('POST', `/api/user/${path}`, ask)).status).toBe(200);
    }
  }
  const found = async (id: number) =>
    (await list(`entity=user&entityId=${id}`)).body.data.items
      .filter(({ action }: { action: string }) => /^(RESEND|SEND)_/.test(action))
      .map(({ action, userId }: { action: string; userId: number }) => [action, userId]);
  expect(await found(ana.id)).toEqual([
    ['SEND_PASSWORD_LINK', admin.id],
    ['RESEND_CONFIRMATION', admin.id],
  ]);
  expect(await found(ben.id)).toEqual([]);
});

test('how far the first steps of the console are is no entry, another setting is', async () => {
  for (const name of ['FIRST_STEP', 'INSTANCE_NAME']) {
    const path = `/api/common/globalSettings/${name}`;
    expect((await admin.send('POST', path, { value: 'x' })).status).toBe(200);
  }
  const { items } = (await list('entity=setting')).body.data;
  expect(items.map(({ entityId }: { entityId: string }) => entityId)).toEqual(['INSTANCE_NAME']);
});

test('every action and kind of record that is recorded is among those that are listed', async () => {
  const { actions, entities } = (await admin.send('GET', '/api/audit/actions')).body.data;
  expect(actions).toEqual([...new Set(actions)].sort());
  expect(entities).toEqual([...new Set(entities)].sort());
  const { items } = (await list('limit=100')).body.data;
  for (const { action, entity } of items) {
    expect(actions).toContain(action);
    expect(entities).toContain(entity);
  }
  for (const code of Object.values(CODE_LISTS)) {
    expect(actions).toContain(`DELETE_${code.noun.toUpperCase().replaceAll(/\W/g, '_')}`);
    expect(entities).toContain(entityOf(code));
  }
});
