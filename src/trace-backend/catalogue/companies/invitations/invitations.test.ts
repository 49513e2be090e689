import { afterAll, beforeAll, expect, test } from 'vitest';
import { added } from '../../../../../test/helpers/chain.ts';
import { type MailServer, mailServer, textOf } from '../../../../../test/helpers/mail-server.ts';
import { type LoggedIn, type RunningTrace, runningTrace } from '../../../../../test/helpers/trace.ts';

let trace: RunningTrace;
let mail: MailServer;
let system: LoggedIn;
beforeAll(async () => {
  mail = await mailServer();
  trace = await runningTrace({ SMTP_URL: mail.url, TRACE_PUBLIC_URL: 'https://trace.example' });
  system = await trace.loggedIn('SYSTEM_ADMIN');
});
afterAll(async () => {
  await trace.stop();
  await mail.stop();
});

async function company(name = 'Kopanyi'): Promise<{ id: number; ana: LoggedIn; bo: LoggedIn }> {
  const [ana, bo] = [await trace.loggedIn(), await trace.loggedIn()];
  const { body } = await ana.send('POST', '/api/company/create', { name });
  return { id: body.data.id, ana, bo };
}
const execute = (
  by: LoggedIn,
  action: string,
  companyId: number,
  user?: LoggedIn,
  companyUserRole?: string,
) => by.send('POST', `/api/company/execute/${action}`, { companyId, userId: user?.id, companyUserRole });
const users = async (reader: LoggedIn, id: number) =>
  (await reader.send('GET', `/api/company/profile/${id}`)).body.data.users as Record<string, unknown>[];
const invitations = async (of: LoggedIn) => (await of.send('GET', '/api/company/invitation/list')).body.data;
const companyIds = async (of: LoggedIn) => (await of.send('GET', '/api/user/profile')).body.data.companyIds;

/** The code in the mail that invites a user. */
async function mailedCode(to: LoggedIn, count = 1): Promise<string> {
  const mails = await mail.mailsTo(to.email, count);
  return /^Code: (\S+)$/m.exec(textOf(mails.at(-1) as (typeof mails)[0]))?.[1] as string;
}
const answerBy = (token: string, answer: string) =>
  trace.send('POST', '/api/company/invitation', { token, answer });

test('an added user is invited: until they accept, neither side has rights, and the company sees no name or address', async () => {
  const { id, ana, bo } = await company();
  const invited = await execute(ana, 'ADD_USER_TO_COMPANY', id, bo, 'MANAGER');
  expect([invited.status, invited.body]).toEqual([200, { status: 'OK', data: { id } }]);

  const pending = { id: bo.id, companyRole: 'MANAGER', pending: true };
  expect(await users(ana, id)).toEqual([expect.objectContaining({ id: ana.id, email: ana.email }), pending]);
  const text = (await ana.send('GET', `/api/company/profile/${id}`)).text;
  expect(text).not.toContain(bo.email);

  expect(await companyIds(bo)).toEqual([]);
  expect((await bo.send('GET', `/api/company/profile/${id}`)).status).toBe(404);
  expect((await bo.send('GET', '/api/company/list')).body.data.count).toBe(0);
  expect((await bo.send('POST', '/api/product/create', { name: 'Tea', company: { id } })).status).toBe(400);
  const product = await added(bo, { name: 'Tea' });
  expect((await bo.send('GET', `/api/product/${product}`)).body.data.company).toBeUndefined();
  expect((await ana.send('GET', `/api/product/${product}`)).status).toBe(404);
  const theirs = await added(ana, { name: 'Coffee' });
  expect((await bo.send('GET', `/api/product/${theirs}`)).status).toBe(404);

  expect(await invitations(bo)).toEqual({
    items: [{ company: { id, name: 'Kopanyi' }, companyRole: 'MANAGER', invitedAt: expect.any(String) }],
    count: 1,
    offset: 0,
    limit: 100,
  });
  expect((await invitations(ana)).items).toEqual([]);
  const accepted = await execute(bo, 'ACCEPT_INVITATION', id);
  expect([accepted.status, accepted.body]).toEqual([200, { status: 'OK', data: { id } }]);
  expect((await invitations(bo)).items).toEqual([]);
  expect(await users(bo, id)).toEqual([
    expect.objectContaining({ id: ana.id }),
    expect.objectContaining({
      id: bo.id,
      name: 'Ana',
      surname: 'Uwase',
      email: bo.email,
      companyRole: 'MANAGER',
    }),
  ]);
  expect(await companyIds(bo)).toEqual([id]);
  expect((await bo.send('GET', `/api/product/${theirs}`)).status).toBe(200);
  // The only accepted company is the default owner.
  const owned = await added(bo, { name: 'Cocoa' });
  expect((await ana.send('GET', `/api/product/${owned}`)).body.data.company).toMatchObject({
    id,
    name: 'Kopanyi',
  });
  // Earlier records of the user stay their own.
  expect((await ana.send('GET', `/api/product/${product}`)).status).toBe(404);
});

test('a pending invitation does not change the default owner', async () => {
  const { id, ana, bo } = await company();
  const other = (await bo.send('POST', '/api/company/create', { name: 'Own' })).body.data.id;
  await execute(ana, 'ADD_USER_TO_COMPANY', id, bo);
  const product = await added(bo, { name: 'Tea' });
  expect((await bo.send('GET', `/api/product/${product}`)).body.data.company.id).toBe(other);
});

test('users who decline are not members, their name is never shown, and they can be invited again', async () => {
  const { id, ana, bo } = await company();
  await execute(ana, 'ADD_USER_TO_COMPANY', id, bo);
  expect((await execute(bo, 'DECLINE_INVITATION', id)).status).toBe(200);
  expect(await users(ana, id)).toEqual([expect.objectContaining({ id: ana.id })]);
  for (const action of ['ACCEPT_INVITATION', 'DECLINE_INVITATION']) {
    expect((await execute(bo, action, id)).body.status).toBe('NOT_FOUND');
  }
  await execute(ana, 'ADD_USER_TO_COMPANY', id, bo);
  expect((await execute(bo, 'ACCEPT_INVITATION', id)).status).toBe(200);
});

test('the company changes and withdraws an invitation, and only the invited user answers it', async () => {
  const { id, ana, bo } = await company();
  const stranger = await trace.loggedIn();
  await execute(ana, 'ADD_USER_TO_COMPANY', id, bo);
  expect((await execute(ana, 'ADD_USER_TO_COMPANY', id, bo)).status).toBe(200);
  expect((await execute(ana, 'ADD_USER_TO_COMPANY', id, bo, 'MANAGER')).status).toBe(400);
  expect((await execute(ana, 'SET_USER_COMPANY_ROLE', id, bo, 'ACCOUNTANT')).status).toBe(200);
  expect((await invitations(bo)).items[0].companyRole).toBe('ACCOUNTANT');
  const unknown = await execute(stranger, 'ACCEPT_INVITATION', 999_999);
  for (const action of ['ACCEPT_INVITATION', 'DECLINE_INVITATION']) {
    for (const by of [stranger, ana, system]) {
      const answer = await execute(by, action, id);
      expect([answer.status, answer.text]).toEqual([404, unknown.text]);
    }
  }
  expect((await execute(ana, 'REMOVE_USER_FROM_COMPANY', id, bo)).status).toBe(200);
  expect((await invitations(bo)).items).toEqual([]);
  expect((await execute(bo, 'ACCEPT_INVITATION', id)).status).toBe(404);
  expect(await companyIds(bo)).toEqual([]);
});

test('the mail is in the language of its reader, who can answer once without logging in', async () => {
  const { id, ana, bo } = await company('Kopanyi\r\nhttps://evil.example <b>');
  await execute(ana, 'ADD_USER_TO_COMPANY', id, bo, 'MANAGER');
  const code = await mailedCode(bo);
  const [received] = await mail.mailsTo(bo.email);
  const text = textOf(received as NonNullable<typeof received>);
  expect(text).toContain(`https://trace.example/api/company/invitation/${code}`);
  expect(text).toMatch(/^The company ".*" on trace\.example invites you to act for it as a manager\./m);
  expect(text).not.toContain('MANAGER');
  expect(text).not.toMatch(/https:\/\/evil/);
  expect(text).not.toContain(ana.email);

  const read = () => trace.send('GET', `/api/company/invitation/${code}/company`);
  const { data } = (await read()).body;
  expect([data.company.id, data.companyRole, data.email]).toEqual([id, 'MANAGER', bo.email]);

  const page = await trace.send('GET', `/api/company/invitation/${code}`);
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect(await companyIds(bo)).toEqual([]);
  expect((await answerBy(code, 'PERHAPS')).status).toBe(400);
  expect((await answerBy('x'.repeat(43), 'ACCEPT')).body.validationErrorDetails.fieldErrors).toHaveProperty(
    'token',
  );
  expect((await answerBy(code, 'ACCEPT')).body).toEqual({ status: 'OK' });
  expect(await companyIds(bo)).toEqual([id]);
  expect((await answerBy(code, 'DECLINE')).status).toBe(400);
  expect((await read()).body.validationErrorDetails.fieldErrors).toHaveProperty('token');
  expect(await companyIds(bo)).toEqual([id]);
});

test('a mailed code answers only its own invitation, while that is pending', async () => {
  const { id, ana, bo } = await company();
  await execute(ana, 'ADD_USER_TO_COMPANY', id, bo);
  const first = await mailedCode(bo);
  await execute(ana, 'REMOVE_USER_FROM_COMPANY', id, bo);
  expect((await answerBy(first, 'ACCEPT')).status).toBe(400);
  await execute(ana, 'ADD_USER_TO_COMPANY', id, bo);
  const second = await mailedCode(bo, 2);
  expect((await answerBy(first, 'ACCEPT')).status).toBe(400);
  await trace.pool.query("UPDATE company_invitation_tokens SET expires_at = now() - interval '1 s'");
  expect((await answerBy(second, 'ACCEPT')).status).toBe(400);
  await trace.pool.query("UPDATE company_invitation_tokens SET expires_at = now() + interval '1 h'");
  await trace.pool.query("UPDATE users SET status = 'DEACTIVATED' WHERE id = $1", [bo.id]);
  expect((await answerBy(second, 'ACCEPT')).status).toBe(400);
  await trace.pool.query("UPDATE users SET status = 'ACTIVE' WHERE id = $1", [bo.id]);
  expect((await answerBy(second, 'DECLINE')).status).toBe(200);
  expect(await companyIds(bo)).toEqual([]);
});

test('a sender invites up to 20 people in an hour, over all companies and with concurrent requests', async () => {
  const { id, ana } = await company();
  const second = (await ana.send('POST', '/api/company/create', { name: 'Second' })).body.data.id;
  const people = await Promise.all(Array.from({ length: 13 }, () => trace.loggedIn()));
  const pairs = people.flatMap(user => [
    [id, user],
    [second, user],
  ]) as [number, LoggedIn][];
  const answers = await Promise.all(
    pairs.map(([company, user]) => execute(ana, 'ADD_USER_TO_COMPANY', company, user)),
  );
  const refused = answers.filter(({ status }) => status !== 200);
  expect(refused.map(({ body }) => body.status)).toEqual(Array(6).fill('TOO_MANY_REQUESTS'));
  for (const { headers } of refused) {
    const seconds = Number(headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(3000);
    expect(seconds).toBeLessThanOrEqual(3600);
  }
  const waiting = (await users(ana, id)).length + (await users(ana, second)).length - 2;
  expect(waiting).toBe(20);
  // Another sender has a separate limit, and the first can invite again an hour later.
  const third = await company();
  expect((await execute(third.ana, 'ADD_USER_TO_COMPANY', third.id, third.bo)).status).toBe(200);
  await trace.pool.query(
    `UPDATE company_inviters SET sent = ARRAY(SELECT at - interval '1 h' FROM unnest(sent) AS at)`,
  );
  const [left, user] = pairs[answers.findIndex(({ status }) => status !== 200)] as [number, LoggedIn];
  expect((await execute(ana, 'ADD_USER_TO_COMPANY', left, user)).status).toBe(200);
});

test('a SYSTEM_ADMIN adds a user without consent, also an invited one, and the audit says so', async () => {
  const { id, ana, bo } = await company();
  await execute(ana, 'ADD_USER_TO_COMPANY', id, bo);
  expect((await execute(system, 'ADD_USER_TO_COMPANY', id, bo, 'MANAGER')).status).toBe(200);
  expect(await companyIds(bo)).toEqual([id]);
  expect((await invitations(bo)).items).toEqual([]);
  const { body } = await system.send('GET', `/api/audit/list?entity=company&entityId=${id}&sort=ASC`);
  const entries = body.data.items.map(({ action, userId, details }: Record<string, unknown>) => [
    action,
    userId,
    details,
  ]);
  expect(entries.slice(1)).toEqual([
    ['ADD_USER_TO_COMPANY', ana.id, { userId: bo.id, invitedAs: 'COMPANY_USER' }],
    ['ADD_USER_TO_COMPANY', system.id, { userId: bo.id, companyRole: [null, 'MANAGER'], placed: true }],
  ]);
});

test('the audit records the answers of users, by mail and by the API', async () => {
  const { id, ana, bo } = await company();
  await execute(ana, 'ADD_USER_TO_COMPANY', id, bo);
  await mailedCode(bo);
  await execute(bo, 'DECLINE_INVITATION', id);
  await execute(ana, 'ADD_USER_TO_COMPANY', id, bo, 'MANAGER');
  await answerBy(await mailedCode(bo, 2), 'ACCEPT');
  await execute(bo, 'REMOVE_USER_FROM_COMPANY', id, bo);
  const { body } = await system.send('GET', `/api/audit/list?userId=${bo.id}&entity=company&sort=ASC`);
  const deeds = body.data.items.map(({ action, details }: Record<string, unknown>) => [action, details]);
  expect(deeds).toEqual([
    ['DECLINE_INVITATION', { userId: bo.id }],
    ['ACCEPT_INVITATION', { userId: bo.id, companyRole: [null, 'MANAGER'] }],
    ['REMOVE_USER_FROM_COMPANY', { userId: bo.id, companyRole: ['MANAGER', null] }],
  ]);
});

test('members of any role may leave, also a deactivated company, and cannot remove others', async () => {
  for (const role of ['COMPANY_USER', 'MANAGER', 'ACCOUNTANT', 'COMPANY_ADMIN']) {
    const { id, ana, bo } = await company();
    const cy = await trace.loggedIn();
    for (const user of [bo, cy]) await execute(system, 'ADD_USER_TO_COMPANY', id, user, role);
    if (role !== 'COMPANY_ADMIN') {
      expect((await execute(bo, 'REMOVE_USER_FROM_COMPANY', id, cy)).status).toBe(403);
    }
    if (role === 'MANAGER') await execute(system, 'DEACTIVATE_COMPANY', id);
    expect((await execute(bo, 'REMOVE_USER_FROM_COMPANY', id, bo)).status).toBe(200);
    expect((await users(ana, id)).map(user => user.id)).toEqual([ana.id, cy.id]);
    expect((await bo.send('GET', `/api/company/profile/${id}`)).status).toBe(404);
    expect((await execute(bo, 'REMOVE_USER_FROM_COMPANY', id, bo)).status).toBe(404);
  }
});

test('an invitation to a deactivated company can only be declined', async () => {
  const { id, ana, bo } = await company();
  await execute(ana, 'ADD_USER_TO_COMPANY', id, bo);
  await execute(system, 'DEACTIVATE_COMPANY', id);
  expect((await execute(bo, 'ACCEPT_INVITATION', id)).body.status).toBe('INVALID_REQUEST');
  expect((await execute(bo, 'DECLINE_INVITATION', id)).status).toBe(200);
});
