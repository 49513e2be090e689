import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LoggedIn, type RunningTrace, runningTrace } from '../../../../../test/helpers/trace.ts';
import type { Action } from '../record/schemas.ts';

let trace: RunningTrace;
let system: LoggedIn;
beforeAll(async () => {
  trace = await runningTrace();
  system = await trace.loggedIn('SYSTEM_ADMIN');
});
afterAll(() => trace.stop());

const execute = (
  by: LoggedIn,
  action: Action,
  companyId: number,
  user?: LoggedIn,
  companyUserRole?: string,
) => by.send('POST', `/api/company/execute/${action}`, { companyId, userId: user?.id, companyUserRole });
const statusOf = async (...call: Parameters<typeof execute>) => (await execute(...call)).status;

async function company(): Promise<{ id: number; ana: LoggedIn; bo: LoggedIn }> {
  const [ana, bo] = [await trace.loggedIn(), await trace.loggedIn()];
  const { body } = await ana.send('POST', '/api/company/create', { name: 'Kopanyi' });
  return { id: body.data.id, ana, bo };
}

/** Adds a user by a COMPANY_ADMIN; the user accepts. */
async function join(by: LoggedIn, companyId: number, user: LoggedIn, role?: string): Promise<void> {
  expect(await statusOf(by, 'ADD_USER_TO_COMPANY', companyId, user, role)).toBe(200);
  expect(await statusOf(user, 'ACCEPT_INVITATION', companyId)).toBe(200);
}

/** The roles in a company by user, as its members read them. */
async function roles(reader: LoggedIn, id: number): Promise<Record<number, string>> {
  const { body } = await reader.send('GET', `/api/company/profile/${id}`);
  return Object.fromEntries(
    body.data.users.map((user: { id: number; companyRole: string }) => [user.id, user.companyRole]),
  );
}

test('a COMPANY_ADMIN adds users who accept, sets their roles and removes them', async () => {
  const { id, ana, bo } = await company();
  await join(ana, id, bo);
  expect(await roles(bo, id)).toEqual({ [ana.id]: 'COMPANY_ADMIN', [bo.id]: 'COMPANY_USER' });
  expect((await bo.send('GET', '/api/user/profile')).body.data.companyIds).toEqual([id]);
  for (const role of ['MANAGER', 'ACCOUNTANT', 'COMPANY_ADMIN', 'COMPANY_USER']) {
    expect(await statusOf(ana, 'SET_USER_COMPANY_ROLE', id, bo, role)).toBe(200);
    expect((await roles(ana, id))[bo.id]).toBe(role);
  }
  expect(await statusOf(ana, 'REMOVE_USER_FROM_COMPANY', id, bo)).toBe(200);
  expect(await roles(ana, id)).toEqual({ [ana.id]: 'COMPANY_ADMIN' });
  expect((await bo.send('GET', `/api/company/profile/${id}`)).status).toBe(404);
  expect((await bo.send('GET', '/api/user/profile')).body.data.companyIds).toEqual([]);
});

test('a SYSTEM_ADMIN manages users of every company; other members and regional administrators may not', async () => {
  const { id, ana, bo } = await company();
  const regional = await trace.loggedIn('REGIONAL_ADMIN');
  expect(await statusOf(system, 'ADD_USER_TO_COMPANY', id, bo, 'MANAGER')).toBe(200);
  for (const by of [bo, regional]) {
    for (const action of [
      'ADD_USER_TO_COMPANY',
      'SET_USER_COMPANY_ROLE',
      'REMOVE_USER_FROM_COMPANY',
    ] as const) {
      const answer = await execute(by, action, id, ana, 'COMPANY_ADMIN');
      expect([answer.status, answer.body.status], action).toEqual([403, 'UNAUTHORIZED']);
    }
    expect((await by.send('PUT', '/api/company/profile', { id, about: 'x' })).status).toBe(403);
  }
  expect(await roles(regional, id)).toEqual({ [ana.id]: 'COMPANY_ADMIN', [bo.id]: 'MANAGER' });
});

test('an action without effect succeeds and changes nothing', async () => {
  const { id, ana, bo } = await company();
  await join(ana, id, bo, 'MANAGER');
  const tag = (await ana.send('GET', `/api/company/profile/${id}`)).headers.get('etag');
  expect(await statusOf(ana, 'ADD_USER_TO_COMPANY', id, bo)).toBe(200);
  expect(await statusOf(ana, 'ADD_USER_TO_COMPANY', id, bo, 'MANAGER')).toBe(200);
  expect(await statusOf(ana, 'SET_USER_COMPANY_ROLE', id, bo, 'MANAGER')).toBe(200);
  expect(await statusOf(system, 'ACTIVATE_COMPANY', id)).toBe(200);
  expect((await ana.send('GET', `/api/company/profile/${id}`)).headers.get('etag')).toBe(tag);
  const { body } = await system.send('GET', `/api/audit/list?entity=company&entityId=${id}`);
  expect(body.data.items.map(({ action, details }: Record<string, unknown>) => [action, details])).toEqual([
    ['ACCEPT_INVITATION', { userId: bo.id, companyRole: [null, 'MANAGER'] }],
    ['ADD_USER_TO_COMPANY', { userId: bo.id, invitedAs: 'MANAGER' }],
    ['CREATE_COMPANY', { name: 'Kopanyi' }],
  ]);
});

test('invalid actions are refused with their field', async () => {
  const { id, ana, bo } = await company();
  const gone = await trace.loggedIn();
  await trace.pool.query("UPDATE users SET status = 'DEACTIVATED' WHERE id = $1", [gone.id]);
  const nobody = { id: 999_999 } as LoggedIn;
  await join(ana, id, bo);
  const refused: [Parameters<typeof execute>, string][] = [
    [[ana, 'ADD_USER_TO_COMPANY', id], 'userId'],
    [[ana, 'ADD_USER_TO_COMPANY', id, nobody], 'userId'],
    [[ana, 'ADD_USER_TO_COMPANY', id, gone], 'userId'],
    [[ana, 'ADD_USER_TO_COMPANY', id, bo, 'MANAGER'], 'userId'],
    [[ana, 'ADD_USER_TO_COMPANY', id, system, 'OWNER'], 'companyUserRole'],
    [[ana, 'SET_USER_COMPANY_ROLE', id, bo], 'companyUserRole'],
    [[ana, 'SET_USER_COMPANY_ROLE', id, system, 'MANAGER'], 'userId'],
    [[ana, 'REMOVE_USER_FROM_COMPANY', id, nobody], 'userId'],
    [[ana, 'REMOVE_USER_FROM_COMPANY', 'x' as never, bo], 'companyId'],
    [[ana, 'SELL_COMPANY' as Action, id], 'action'],
  ];
  for (const [call, field] of refused) {
    const { status, body, text } = await execute(...call);
    expect([status, Object.keys(body.validationErrorDetails?.fieldErrors ?? {})], text).toEqual([
      400,
      [field],
    ]);
  }
});

test('nobody can remove the last COMPANY_ADMIN or change their role', async () => {
  const { id, ana, bo } = await company();
  await join(ana, id, bo);
  for (const by of [ana, system]) {
    for (const call of [['REMOVE_USER_FROM_COMPANY'], ['SET_USER_COMPANY_ROLE', 'MANAGER']] as const) {
      const { status, body } = await execute(by, call[0], id, ana, call[1]);
      expect([status, body.errorMessage]).toEqual([400, expect.stringMatching(/last COMPANY_ADMIN/)]);
    }
  }
  await execute(ana, 'SET_USER_COMPANY_ROLE', id, bo, 'COMPANY_ADMIN');
  expect(await statusOf(bo, 'REMOVE_USER_FROM_COMPANY', id, ana)).toBe(200);
  expect(await roles(bo, id)).toEqual({ [bo.id]: 'COMPANY_ADMIN' });
});

test('concurrent removals and demotions of COMPANY_ADMINs leave one', async () => {
  for (let round = 0; round < 5; round++) {
    const { id, ana, bo } = await company();
    await join(ana, id, bo, 'COMPANY_ADMIN');
    const answers = await Promise.all([
      statusOf(ana, 'REMOVE_USER_FROM_COMPANY', id, bo),
      statusOf(bo, 'SET_USER_COMPANY_ROLE', id, ana, 'COMPANY_USER'),
      statusOf(ana, 'REMOVE_USER_FROM_COMPANY', id, ana),
      statusOf(bo, 'REMOVE_USER_FROM_COMPANY', id, bo),
      statusOf(system, 'SET_USER_COMPANY_ROLE', id, ana, 'MANAGER'),
    ]);
    expect(answers).toContain(200);
    const left = Object.values(await roles(system, id)).filter(role => role === 'COMPANY_ADMIN');
    expect(left).toHaveLength(1);
  }
});

test('a deactivated company is readable for its members, and only a SYSTEM_ADMIN changes it', async () => {
  const { id, ana, bo } = await company();
  for (const action of ['DEACTIVATE_COMPANY', 'ACTIVATE_COMPANY'] as const) {
    expect((await execute(ana, action, id)).body.status).toBe('UNAUTHORIZED');
    expect((await execute(ana, action, 999_999)).body.status).toBe('UNAUTHORIZED');
  }
  expect(await statusOf(system, 'DEACTIVATE_COMPANY', id)).toBe(200);
  const read = await ana.send('GET', `/api/company/profile/${id}`);
  expect([read.status, read.body.data.status]).toEqual([200, 'DEACTIVATED']);
  expect((await ana.send('GET', '/api/company/list')).body.data.items).toMatchObject([
    { id, status: 'DEACTIVATED' },
  ]);
  expect((await ana.send('GET', '/api/user/profile')).body.data.companyIds).toEqual([]);
  expect((await ana.send('PUT', '/api/company/profile', { id, about: 'x' })).status).toBe(403);
  expect(await statusOf(ana, 'ADD_USER_TO_COMPANY', id, bo)).toBe(403);
  expect((await system.send('PUT', '/api/company/profile', { id, about: 'x' })).status).toBe(200);
  expect(await statusOf(system, 'ADD_USER_TO_COMPANY', id, bo)).toBe(200);
  expect(await statusOf(system, 'ACTIVATE_COMPANY', id)).toBe(200);
  expect((await ana.send('PUT', '/api/company/profile', { id, about: 'y' })).status).toBe(200);
  expect(await statusOf(system, 'ACTIVATE_COMPANY', 999_999)).toBe(404);
});

test('a company has up to 500 users', async () => {
  const { id, ana, bo } = await company();
  await trace.pool.query(
    `WITH made AS (
       INSERT INTO users (email, email_key, password, name, surname, language, status, role, created_at)
       SELECT mail, mail, '', 'Bo', 'N', 'EN', 'ACTIVE', 'USER', now()
       FROM generate_series(1, 499) AS n, concat('many-', n, '@example.org') AS mail RETURNING id)
     INSERT INTO company_users (company_id, user_id, role) SELECT $1, id, 'COMPANY_USER' FROM made`,
    [id],
  );
  const { status, body } = await execute(ana, 'ADD_USER_TO_COMPANY', id, bo);
  expect([status, body.errorMessage]).toEqual([400, expect.stringMatching(/maximum of 500 users/)]);
  expect(Object.keys(await roles(ana, id))).toHaveLength(500);
});
