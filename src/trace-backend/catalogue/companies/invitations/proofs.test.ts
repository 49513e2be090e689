import { afterAll, beforeAll, expect, test } from 'vitest';
import { companyOf } from '../../../../../test/helpers/chain.ts';
import { type MailServer, mailServer, textOf, tokenIn } from '../../../../../test/helpers/mail-server.ts';
import {
  type LoggedIn,
  PASSWORD,
  type RunningTrace,
  runningTrace,
} from '../../../../../test/helpers/trace.ts';

let trace: RunningTrace;
/** A service without a mail server. */
let mute: RunningTrace;
let mail: MailServer;
let system: LoggedIn;
beforeAll(async () => {
  mail = await mailServer();
  trace = await runningTrace({ SMTP_URL: mail.url, TRACE_PUBLIC_URL: 'https://trace.example' });
  mute = await runningTrace();
  system = await trace.loggedIn('SYSTEM_ADMIN');
});
afterAll(async () => {
  await mute.stop();
  await trace.stop();
  await mail.stop();
});

const execute = (by: LoggedIn, action: string, companyId: number, more: object = {}) =>
  by.send('POST', `/api/company/execute/${action}`, { companyId, ...more });
const invite = (by: LoggedIn, companyId: number, email: string, companyUserRole?: string) =>
  execute(by, 'ADD_USER_TO_COMPANY', companyId, { email, companyUserRole });
const users = async (reader: LoggedIn, id: number) =>
  (await reader.send('GET', `/api/company/profile/${id}`)).body.data.users as Record<string, unknown>[];
const invitations = async (of: LoggedIn) => (await of.send('GET', '/api/company/invitation/list')).body.data;
const answerBy = (token: string, answer: string, password?: string) =>
  trace.send('POST', '/api/company/invitation', { token, answer, password });
const needs = async (token: string) =>
  (await trace.send('GET', `/api/company/invitation/${token}/company`)).body.data?.needs;
const fieldsOf = ({ body }: { body: { validationErrorDetails?: { fieldErrors: object } } }) =>
  Object.keys(body.validationErrorDetails?.fieldErrors ?? {});

async function company(of = trace): Promise<{ id: number; ana: LoggedIn }> {
  const ana = await of.loggedIn();
  return { id: await companyOf(of, 'Kopanyi', [ana]), ana };
}
/** An active account with an unconfirmed address. */
async function unconfirmed(of = trace): Promise<LoggedIn> {
  const user = await of.loggedIn();
  await of.pool.query('UPDATE users SET email_confirmed_at = NULL WHERE id = $1', [user.id]);
  return user;
}
/** The last code mailed to an address. */
async function mailedCode(email: string, mails = 1): Promise<string> {
  return tokenIn((await mail.mailsTo(email, mails))[mails - 1]);
}

test('an account with an unconfirmed address neither finds nor answers invitations to the address', async () => {
  const { id, ana } = await company();
  const thief = await unconfirmed();
  await invite(ana, id, thief.email);
  expect((await invitations(thief)).count).toBe(0);
  const unknown = await execute(thief, 'ACCEPT_INVITATION', 999_999);
  for (const action of ['ACCEPT_INVITATION', 'DECLINE_INVITATION']) {
    const answer = await execute(thief, action, id);
    expect([answer.status, answer.text], action).toEqual([404, unknown.text]);
  }
  // An account can answer its own invitation, which does not confirm its address.
  await execute(ana, 'ADD_USER_TO_COMPANY', id, { userId: thief.id });
  expect((await execute(thief, 'DECLINE_INVITATION', id)).status).toBe(200);
  const erased = await thief.send('POST', '/api/user/erase', { currentPassword: PASSWORD });
  expect(erased.status).toBe(200);
  expect(await users(ana, id)).toMatchObject([{ id: ana.id }, { email: thief.email, pending: true }]);
});

test('an unconfirmed account joins with the mailed code and its password, which confirms the address', async () => {
  const { id, ana } = await company();
  const bert = await unconfirmed();
  await invite(ana, id, bert.email, 'MANAGER');
  const code = await mailedCode(bert.email);
  expect(await needs(code)).toBe('PASSWORD');
  for (const password of [undefined, 'not the password']) {
    const refused = await answerBy(code, 'ACCEPT', password);
    expect([refused.status, fieldsOf(refused)]).toEqual([400, ['password']]);
  }
  expect(await users(ana, id)).toHaveLength(2);
  expect((await answerBy(code, 'ACCEPT', PASSWORD)).status).toBe(200);
  expect(await users(ana, id)).toMatchObject([{}, { id: bert.id, companyRole: 'MANAGER' }]);
  const { data } = (await bert.send('GET', '/api/user/profile')).body;
  expect(data).toMatchObject({ emailConfirmed: true, companyIds: [id] });
});

test('with a mail server, an invitation to an address is accepted only by its code, and declined without it', async () => {
  const { id, ana } = await company();
  const bo = await trace.loggedIn();
  await invite(ana, id, bo.email);
  expect((await invitations(bo)).items).toMatchObject([{ company: { id }, needsCode: true }]);
  const refused = await execute(bo, 'ACCEPT_INVITATION', id);
  expect([refused.status, refused.body.errorMessage]).toEqual([400, expect.stringContaining('mail')]);
  const code = await mailedCode(bo.email);
  expect(await needs(code)).toBe('NOTHING');
  const answers = await Promise.all([answerBy(code, 'ACCEPT'), answerBy(code, 'ACCEPT')]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
  expect(await users(ana, id)).toMatchObject([{}, { id: bo.id }]);

  const second = await company();
  await invite(second.ana, second.id, bo.email);
  const unused = await mailedCode(bo.email, 2);
  expect((await execute(bo, 'DECLINE_INVITATION', second.id)).status).toBe(200);
  expect(await users(second.ana, second.id)).toHaveLength(1);
  expect((await answerBy(unused, 'ACCEPT')).status).toBe(400);
});

test('without a mail server, users with a confirmed address accept invitations while logged in', async () => {
  const { id, ana } = await company(mute);
  const [bo, thief] = [await mute.loggedIn(), await unconfirmed(mute)];
  for (const { email } of [bo, thief]) await invite(ana, id, email);
  expect((await invitations(bo)).items).toEqual([expect.not.objectContaining({ needsCode: true })]);
  expect((await execute(bo, 'ACCEPT_INVITATION', id)).status).toBe(200);
  expect((await execute(thief, 'ACCEPT_INVITATION', id)).status).toBe(404);
});

test('people without an account get a code, which is valid for 30 days once their account is active', async () => {
  const { id, ana } = await company();
  const email = 'late-owner@example.org';
  await invite(ana, id, email, 'ACCOUNTANT');
  const code = await mailedCode(email);
  expect(textOf((await mail.mailsTo(email))[0])).toContain(
    `https://trace.example/api/company/invitation/${code}`,
  );
  expect(await needs(code)).toBe('ACCOUNT');
  const early = await answerBy(code, 'ACCEPT');
  expect([early.status, fieldsOf(early), early.body.errorMessage]).toEqual([
    ...[400, []],
    expect.stringContaining('no active account'),
  ]);
  const person = { email, password: PASSWORD, name: 'Late', surname: 'Comer' };
  const { data } = (await trace.send('POST', '/api/user/register', person)).body;
  expect(await needs(code)).toBe('ACTIVATION');
  expect((await answerBy(code, 'ACCEPT', PASSWORD)).status).toBe(400);
  await system.send('POST', '/api/user/admin/execute/ACTIVATE_USER', { id: data.id });
  await trace.pool.query(
    "UPDATE company_address_invitation_tokens SET expires_at = expires_at - interval '29 days'",
  );
  expect((await answerBy(code, 'ACCEPT', PASSWORD)).status).toBe(200);
  expect(await users(ana, id)).toMatchObject([{}, { id: data.id, companyRole: 'ACCOUNTANT' }]);
});

test('people without an account decline by the code, and the company only sees the invitation end', async () => {
  const { id, ana } = await company();
  const email = 'never-comes@example.org';
  await invite(ana, id, email);
  const code = await mailedCode(email);
  expect((await answerBy(code, 'DECLINE')).status).toBe(200);
  expect(await users(ana, id)).toHaveLength(1);
  expect((await answerBy(code, 'ACCEPT')).status).toBe(400);
  const { body } = await system.send('GET', `/api/audit/list?entity=company&entityId=${id}&limit=1`);
  const [entry] = body.data.items;
  expect(entry).toMatchObject({ action: 'DECLINE_INVITATION', details: { invitation: expect.any(Number) } });
  expect(entry.userId).toBeUndefined();
});
