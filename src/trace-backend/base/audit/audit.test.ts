import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LoggedIn, type RunningTrace, runningTrace } from '../../../../test/helpers/trace.ts';
import { CODE_LISTS, entityOf } from '../../catalogue/codes/lists.ts';
import { concernedStatement } from './store.ts';

let trace: RunningTrace;
let admin: LoggedIn;
beforeAll(async () => {
  trace = await runningTrace();
  admin = await trace.loggedIn('SYSTEM_ADMIN');
});
afterAll(() => trace.stop());

const list = (query: string) => admin.send('GET', `/api/audit/list?${query}`);

test('the audit is filtered by times with any offset, and by dates as whole days', async () => {
  const { at } = (await list('limit=1')).body.data.items[0];
  const day = at.slice(0, 10);
  const found = async (query: string) => (await list(query)).body.data.items.length > 0;
  expect(await found(`from=${day}&to=${day}`)).toBe(true);
  expect(await found(`from=${at}`)).toBe(true);
  expect(await found('to=2020-01-01T00:00:00 02')).toBe(false);
  expect(await found('from=9999-12-31')).toBe(false);
});

test('an invalid ISO 8601 date is refused with the name of its field', async () => {
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

test('the audit is filtered by a name or address, and names the user of each entry', async () => {
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

test('the audit lists entries that concern a person, with or without their own actions, page by page', async () => {
  const [ana, ben] = [await trace.loggedIn('USER'), await trace.loggedIn('USER')];
  const { id: companyId } = (await admin.send('POST', '/api/company/create', { name: 'Of Ana' })).body.data;
  const execute = (action: string, more: object) =>
    admin.send('POST', `/api/company/execute/${action}`, { companyId, ...more });
  await execute('ACTIVATE_COMPANY', {});
  for (const userId of [ana.id, ben.id]) await execute('ADD_USER_TO_COMPANY', { userId });
  await admin.send('PUT', '/api/user/admin/profile', { id: ana.id, name: 'Anna' });
  await ana.send('PUT', '/api/user/profile', { surname: 'Mwangi' });
  const found = async (query: string) => {
    const { items, count } = (await list(query)).body.data;
    expect(count).toBeUndefined();
    return items.map(({ id, action, userId }: { id: number; action: string; userId: number }) => ({
      id,
      action,
      userId,
    }));
  };
  const all = await found(`userId=${ana.id}&part=BOTH`);
  expect(all).toMatchObject([
    { action: 'UPDATE_USER_PROFILE', userId: ana.id },
    { action: 'UPDATE_USER_PROFILE', userId: admin.id },
    { action: 'ADD_USER_TO_COMPANY', userId: admin.id },
    { action: 'LOGIN', userId: ana.id },
  ]);
  // A login is about the account, too.
  expect(await found(`userId=${ana.id}&part=CONCERNED`)).toEqual(all);
  expect(await found(`user=${ana.email}&part=BOTH&sort=ASC`)).toEqual(all.toReversed());
  expect(await found(`userId=${ana.id}&part=BOTH&limit=1&after=${all[0].id}`)).toEqual([all[1]]);
  expect(await found(`userId=${ana.id}&part=BOTH&action=ADD_USER_TO_COMPANY`)).toEqual([all[2]]);
  const ofAdmin = await found(`userId=${admin.id}&part=BOTH&entity=company`);
  expect(ofAdmin.map(({ action }: { action: string }) => action)).toContain('CREATE_COMPANY');
  expect(await found(`userId=${admin.id}&part=CONCERNED&entity=company`)).toEqual([]);
  for (const [query, field] of [
    ['part=BOTH', 'part'],
    [`userId=${ana.id}&part=CONCERNED&requestType=COUNT`, 'requestType'],
    [`userId=${ana.id}&part=CONCERNED&offset=1`, 'offset'],
    [`userId=${ana.id}&part=OTHERS`, 'part'],
  ]) {
    const { status, body } = await list(query as string);
    expect([status, Object.keys(body.validationErrorDetails.fieldErrors)], query).toEqual([400, [field]]);
  }
});

test('entries that concern a person are found by indexes, in either order', async () => {
  await trace.pool.query(
    `INSERT INTO audit (at, user_id, action, entity, entity_id, address, details)
     SELECT now(), n % 500, 'LOGIN', 'user', (n % 500)::text, '',
       CASE WHEN n % 10 = 0 THEN jsonb_build_object('userId', n % 300) ELSE '{}' END
     FROM generate_series(1, 50000) AS n`,
  );
  await trace.pool.query('ANALYZE audit');
  for (const sort of ['ASC', 'DESC'] as const) {
    const { text, values } = concernedStatement({ userIds: [7, 8] }, 'BOTH', {
      after: 30_000,
      sort,
      limit: 50,
    });
    const { rows } = await trace.pool.query(`EXPLAIN ${text}`, values);
    const plan = rows.map(row => row['QUERY PLAN']).join('\n');
    expect(plan).not.toMatch(/Seq Scan on audit|audit_pkey.*\n.*Filter/);
    for (const index of ['user', 'entity', 'concerned']) expect(plan).toContain(`audit_by_${index}`);
  }
});

test('the audit records mails that an administrator requests for another user, and no other requests', async () => {
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

test("the audit records changes of settings, except the console's bookmark of its first steps", async () => {
  for (const name of ['FIRST_STEP', 'INSTANCE_NAME']) {
    const path = `/api/common/globalSettings/${name}`;
    expect((await admin.send('POST', path, { value: 'x' })).status).toBe(200);
  }
  const { items } = (await list('entity=setting')).body.data;
  expect(items.map(({ entityId }: { entityId: string }) => entityId)).toEqual(['INSTANCE_NAME']);
});

test('every recorded action and kind of record is listed', async () => {
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
