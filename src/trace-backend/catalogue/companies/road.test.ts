import { afterAll, beforeAll, expect, test } from 'vitest';
import { SENT } from '../../../../test/helpers/front-end.ts';
import { picture, uploadFile } from '../../../../test/helpers/images.ts';
import { type MailServer, mailServer, tokenIn } from '../../../../test/helpers/mail-server.ts';
import { ADMIN, type LoggedIn, type RunningTrace, runningTrace } from '../../../../test/helpers/trace.ts';

let mail: MailServer;
let trace: RunningTrace;
let admin: LoggedIn;
beforeAll(async () => {
  mail = await mailServer();
  trace = await runningTrace({ SMTP_URL: mail.url });
  admin = await trace.login(ADMIN.username, ADMIN.password);
});
afterAll(async () => {
  await trace.stop();
  await mail.stop();
});

const PASSWORD = 'correct horse battery staple';

/** The body that the front end was seen to send, with some of its fields changed. */
function recorded(method: string, path: string, change: object = {}): object {
  const sent = SENT.find(one => one.method === method && one.path === path);
  expect(sent?.body, `${method} ${path}`).toBeTypeOf('object');
  return { ...structuredClone(sent?.body as object), ...change };
}

/** Registers with the recorded forms, up to a login. */
async function registered(email: string): Promise<LoggedIn> {
  const post = (path: string, change: object) =>
    trace.send('POST', `/api/user/${path}`, recorded('POST', `/api/user/${path}`, change));
  const { body } = await post('register', { email, password: PASSWORD });
  const token = tokenIn((await mail.mailsTo(email))[0]);
  expect((await post('confirm_email', { token })).body.data.status).toBe('CONFIRMED_EMAIL');
  expect((await post('login', { username: email, password: PASSWORD })).status).toBe(401);
  const activation = recorded('POST', '/api/user/admin/execute/{action}', { id: body.data.id });
  const activated = await admin.send('POST', '/api/user/admin/execute/ACTIVATE_USER', activation);
  expect(activated.body.data.status).toBe('ACTIVE');
  return trace.login(email, PASSWORD);
}

async function data(user: LoggedIn, method: string, path: string, body?: object) {
  const answer = await user.send(method, path, body);
  expect(answer.status, `${method} ${path} ${answer.text}`).toBe(200);
  return answer.body.data;
}

test('from registration to a company with a logo and users, with the forms of the front end; another tenant sees nothing', async () => {
  const [ana, bo, other] = [
    await registered('ana@people.example'),
    await registered('bo@people.example'),
    await registered('other@people.example'),
  ];
  await data(ana, 'PUT', '/api/user/profile', recorded('PUT', '/api/user/profile', { name: 'Ana-Maria' }));
  const edited = recorded('PUT', '/api/user/admin/profile', { id: ana.id });
  await data(admin, 'PUT', '/api/user/admin/profile', edited);
  expect(await data(ana, 'GET', '/api/user/profile')).toMatchObject({ surname: 'Uwase-M', companyIds: [] });

  const png = await picture(40, 20).png().toBuffer();
  const logo = (await uploadFile(trace, ana, 'image', png, 'logo.png')).body.data;
  const form = recorded('POST', '/api/company/create', { logo });
  const { id } = await data(ana, 'POST', '/api/company/create', form);
  const profile = `/api/company/profile/${id}`;
  const change = recorded('PUT', '/api/company/profile', { id, logo });
  expect(await data(ana, 'PUT', '/api/company/profile', change)).toEqual({ id });
  expect(await data(ana, 'GET', `${profile}?language=EN`)).toMatchObject({
    ...{ id, abbreviation: 'KOPA', displayPrefferedWayOfPayment: true, logo, mediaLinks: {} },
    headquarters: { city: 'Kigali', country: { code: 'RW' } },
  });
  expect(await data(ana, 'GET', '/api/user/profile')).toMatchObject({
    companyIds: [id],
    companyIdsAdmin: [id],
  });

  const execute = (by: LoggedIn, action: string, more: object = {}) => {
    const body = recorded('POST', '/api/company/execute/{action}', { companyId: String(id), ...more });
    return data(by, 'POST', `/api/company/execute/${action}`, body);
  };
  const users = async () =>
    (await data(ana, 'GET', `${profile}/users`)).map(
      ({ id: userId, companyRole, pending }: { id: number; companyRole: string; pending?: true }) => [
        userId,
        companyRole,
        pending,
      ],
    );
  await execute(ana, 'ADD_USER_TO_COMPANY', { userId: bo.id });
  const own = [ana.id, 'COMPANY_ADMIN', undefined];
  expect(await users()).toEqual([own, [bo.id, 'COMPANY_USER', true]]);
  await execute(bo, 'ACCEPT_INVITATION');
  await execute(ana, 'SET_USER_COMPANY_ROLE', { userId: bo.id, companyUserRole: 'MANAGER' });
  expect(await users()).toEqual([own, [bo.id, 'MANAGER', undefined]]);
  await execute(ana, 'REMOVE_USER_FROM_COMPANY', { userId: bo.id });
  await execute(admin, 'ADD_USER_TO_COMPANY', { userId: bo.id, companyUserRole: 'ACCOUNTANT' });
  expect(await users()).toEqual([own, [bo.id, 'ACCOUNTANT', undefined]]);

  await checkRecordedLists(ana, id);
  await checkHidden(other, id);
  const { items } = await data(admin, 'GET', `/api/audit/list?entity=company&entityId=${id}&sort=ASC`);
  expect(items.map(({ action }: { action: string }) => action)).toEqual([
    ...['CREATE_COMPANY', 'UPDATE_COMPANY', 'ADD_USER_TO_COMPANY', 'ACCEPT_INVITATION'],
    ...['SET_USER_COMPANY_ROLE', 'REMOVE_USER_FROM_COMPANY', 'ADD_USER_TO_COMPANY'],
  ]);
});

/** The lists that the front end was seen to ask for. */
async function checkRecordedLists(user: LoggedIn, companyId: number) {
  for (const [path, by] of [
    ['/api/company/list', user],
    ['/api/company/admin/list', admin],
    ['/api/user/list', user],
    ['/api/user/admin/list', admin],
  ] as const) {
    const queries = SENT.find(one => one.method === 'GET' && one.path === path)?.queries ?? [];
    expect(queries.length).toBeGreaterThan(0);
    for (const query of queries) {
      const page = await data(by, 'GET', path + query);
      if (!query.includes('COUNT')) expect(Array.isArray(page.items), path + query).toBe(true);
      if (!query.includes('FETCH')) expect(page.count, path + query).toBeTypeOf('number');
    }
  }
  const named = await data(admin, 'GET', '/api/company/admin/list?name=kopan&status=ACTIVE');
  expect(named.items.map(({ id }: { id: number }) => id)).toEqual([companyId]);
  expect((await data(admin, 'GET', '/api/company/admin/list?status=REGISTERED')).items).toEqual([]);
}

/** Of a company of others nothing is to be seen. */
async function checkHidden(stranger: LoggedIn, companyId: number) {
  expect(await data(stranger, 'GET', '/api/company/list')).toMatchObject({ items: [], count: 0 });
  const listed = await data(stranger, 'GET', '/api/user/list');
  expect(listed.items.map(({ id }: { id: number }) => id)).toEqual([stranger.id]);
  for (const path of ['profile/X', 'profile/X/name', 'profile/X/users', 'profile/X/onboardingState']) {
    for (const id of [companyId, 1_234_567]) {
      const { status, body } = await stranger.send('GET', `/api/company/${path.replace('X', String(id))}`);
      expect([status, body], path).toEqual([
        404,
        { status: 'NOT_FOUND', errorMessage: 'there is no such company' },
      ]);
    }
  }
  for (const path of [`${companyId}/connected-companies`, `associations/${companyId}`]) {
    expect((await stranger.send('GET', `/api/company/${path}`)).status).toBe(404);
  }
  const change = await stranger.send('PUT', '/api/company/profile', { id: companyId, name: 'Mine' });
  expect(change.status).toBe(404);
}
