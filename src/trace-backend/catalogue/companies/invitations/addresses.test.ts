import { afterAll, beforeAll, expect, test } from 'vitest';
import { companyOf } from '../../../../../test/helpers/chain.ts';
import { type MailServer, mailServer, textOf } from '../../../../../test/helpers/mail-server.ts';
import {
  type LoggedIn,
  PASSWORD,
  type RunningTrace,
  runningTrace,
} from '../../../../../test/helpers/trace.ts';
import { expireInvitations } from './expire.ts';

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
  return { id: await companyOf(trace, name, [ana]), ana, bo };
}
const execute = (by: LoggedIn, action: string, companyId: number, more: object = {}) =>
  by.send('POST', `/api/company/execute/${action}`, { companyId, ...more });
const invite = (by: LoggedIn, companyId: number, email: string, companyUserRole?: string) =>
  execute(by, 'ADD_USER_TO_COMPANY', companyId, { email, companyUserRole });
const profile = async (reader: LoggedIn, id: number) =>
  (await reader.send('GET', `/api/company/profile/${id}`)).body.data;
const users = async (reader: LoggedIn, id: number) =>
  (await profile(reader, id)).users as Record<string, unknown>[];
const pending = async (reader: LoggedIn, id: number) =>
  (await users(reader, id)).filter(user => user.pending);
const invitations = async (of: LoggedIn) => (await of.send('GET', '/api/company/invitation/list')).body.data;
const audited = async (id: number) => {
  const { body } = await system.send('GET', `/api/audit/list?entity=company&entityId=${id}`);
  return (body.data.items as { action: string; details: Record<string, unknown> }[])
    .toReversed()
    .map(({ action, details }) => [action, details]);
};
const fieldsOf = ({ body }: { body: { validationErrorDetails?: { fieldErrors: object } } }) =>
  Object.keys(body.validationErrorDetails?.fieldErrors ?? {});
const lastMail = async (address: string, count = 1) =>
  textOf((await mail.mailsTo(address, count)).at(-1) as Parameters<typeof textOf>[0]);
const codeIn = (text: string) => /^(?:Code|C\S+digo): (\S+)$/m.exec(text)?.[1] as string;
/** Accepts by the code in the last of a number of mails to an address. */
const acceptBy = async (
  address: string,
  { count = 1, password }: { count?: number; password?: string } = {},
) => {
  const token = codeIn(await lastMail(address, count));
  return trace.send('POST', '/api/company/invitation', { token, answer: 'ACCEPT', password });
};

test('an invitation does not disclose whether the address has an account', async () => {
  const { id, ana, bo } = await company();
  const gone = await trace.loggedIn();
  await trace.pool.query("UPDATE users SET status = 'DEACTIVATED' WHERE id = $1", [gone.id]);
  const seen: unknown[] = [];
  for (const email of [bo.email, gone.email, 'nobody-yet@example.org']) {
    const answers = [
      await invite(ana, id, email, 'MANAGER'),
      await invite(ana, id, email, 'MANAGER'),
      await invite(ana, id, email, 'ACCOUNTANT'),
      await execute(ana, 'SET_USER_COMPANY_ROLE', id, { email, companyUserRole: 'MANAGER' }),
      await execute(ana, 'SET_USER_COMPANY_ROLE', id, { email }),
    ].map(({ status, text, headers }) => [status, text, headers.get('content-length')]);
    const shown = await pending(ana, id);
    answers.push(
      await execute(ana, 'REMOVE_USER_FROM_COMPANY', id, { email }).then(({ status }) => [status]),
    );
    answers.push(
      await execute(ana, 'REMOVE_USER_FROM_COMPANY', id, { email }).then(({ status, text }) => [
        status,
        text,
      ]),
    );
    seen.push(JSON.parse(JSON.stringify([answers, shown]).replaceAll(email, 'ADDRESS')));
  }
  expect(seen[0]).toMatchObject([
    [200, 200, 200, 200, 400, 200, 400].map(status => expect.arrayContaining([status])),
    [{ email: 'ADDRESS', companyRole: 'MANAGER', pending: true }],
  ]);
  expect(seen[1]).toEqual(seen[0]);
  expect(seen[2]).toEqual(seen[0]);
  expect((await invitations(bo)).count).toBe(0);
});

test('an address is invited once: repeating it in another form or case changes only the role, without a mail', async () => {
  const { id, ana } = await company();
  expect((await invite(ana, id, 'Zoe@Example.org')).status).toBe(200);
  const before = await profile(ana, id);
  expect(await pending(ana, id)).toEqual([
    { email: 'Zoe@Example.org', companyRole: 'COMPANY_USER', pending: true },
  ]);
  expect((await invite(ana, id, ' zoe@example.org ')).status).toBe(200);
  expect(await profile(ana, id)).toEqual(before);
  expect((await invite(ana, id, 'zoe@example.org', 'ACCOUNTANT')).status).toBe(200);
  expect(await pending(ana, id)).toEqual([
    { email: 'Zoe@Example.org', companyRole: 'ACCOUNTANT', pending: true },
  ]);
  expect((await execute(ana, 'REMOVE_USER_FROM_COMPANY', id, { email: 'zoe@example.org' })).status).toBe(200);
  expect(await pending(ana, id)).toEqual([]);
  await invite(ana, id, 'zoe@example.org');
  await mail.mailsTo('zoe@example.org');
  expect(mail.mails.filter(({ to }) => to[0]?.toLowerCase() === 'zoe@example.org')).toHaveLength(2);
});

test('the user of an invited address finds the invitation, accepts it by its code, and becomes an ordinary member', async () => {
  const { id, ana, bo } = await company();
  const other = await trace.loggedIn();
  await invite(ana, id, bo.email.toUpperCase(), 'MANAGER');
  expect((await invitations(bo)).items).toMatchObject([
    { company: { id, name: 'Kopanyi' }, companyRole: 'MANAGER' },
  ]);
  expect((await invitations(other)).items).toEqual([]);
  expect((await execute(other, 'ACCEPT_INVITATION', id)).status).toBe(404);
  expect((await bo.send('GET', `/api/company/profile/${id}`)).status).toBe(404);
  expect((await acceptBy(bo.email)).status).toBe(200);
  expect(await users(bo, id)).toMatchObject([{ id: ana.id }, { id: bo.id, companyRole: 'MANAGER' }]);
  expect((await invitations(bo)).count).toBe(0);
  const [invited, accepted] = await audited(id);
  const [, { invitation }] = invited as [string, { invitation: number }];
  expect(invited).toEqual(['ADD_USER_TO_COMPANY', { invitation: expect.any(Number), invitedAs: 'MANAGER' }]);
  expect(accepted).toEqual([
    'ACCEPT_INVITATION',
    { userId: bo.id, invitation, companyRole: [null, 'MANAGER'] },
  ]);
});

test('users who decline are not members, and can be invited again', async () => {
  const { id, ana, bo } = await company();
  await invite(ana, id, bo.email);
  expect((await execute(bo, 'DECLINE_INVITATION', id)).status).toBe(200);
  expect(await users(ana, id)).toHaveLength(1);
  expect((await execute(bo, 'ACCEPT_INVITATION', id)).status).toBe(404);
  expect((await invite(ana, id, bo.email)).status).toBe(200);
  expect((await invitations(bo)).count).toBe(1);
});

test('the code in the mail to an active account answers only this invitation, once', async () => {
  const { id, ana, bo } = await company('Growers of Kibogora');
  await trace.pool.query("UPDATE users SET language = 'DE' WHERE id = $1", [bo.id]);
  await execute(ana, 'ADD_USER_TO_COMPANY', id, { userId: bo.id });
  await mail.mailsTo(bo.email);
  await invite(ana, id, bo.email, 'ACCOUNTANT');
  const text = await lastMail(bo.email, 2);
  expect(text).toMatch(/Das Unternehmen .*Growers of Kibogora.* als Buchhaltung/);
  expect(text).toContain('https://trace.example/api/company/invitation/');
  // The company invited the user and the address: the user sees one invitation, and answers both.
  expect((await invitations(bo)).items).toMatchObject([{ companyRole: 'COMPANY_USER' }]);
  expect((await invitations(bo)).count).toBe(1);
  const answer = (token: string) =>
    trace.send('POST', '/api/company/invitation', { token, answer: 'ACCEPT' });
  expect((await answer(codeIn(text))).status).toBe(200);
  expect(await users(ana, id)).toMatchObject([{ id: ana.id }, { id: bo.id, companyRole: 'ACCOUNTANT' }]);
  expect((await invitations(bo)).count).toBe(0);
  expect((await answer(codeIn(text))).status).toBe(400);
});

test('the code of a withdrawn invitation is useless, even if the address is invited again', async () => {
  const { id, ana, bo } = await company();
  await invite(ana, id, bo.email);
  const code = codeIn(await lastMail(bo.email));
  await execute(ana, 'REMOVE_USER_FROM_COMPANY', id, { email: bo.email });
  await invite(ana, id, bo.email);
  const { status } = await trace.send('POST', '/api/company/invitation', { token: code, answer: 'ACCEPT' });
  expect(status).toBe(400);
  expect(await users(ana, id)).toHaveLength(2);
});

test('the mail to an address without an account explains how to register, and its code is valid after that', async () => {
  const { id, ana } = await company();
  const email = 'late-comer@example.org';
  await trace.pool.query("UPDATE users SET language = 'ES' WHERE id = $1", [ana.id]);
  await invite(ana, id, email, 'COMPANY_ADMIN');
  const text = await lastMail(email);
  expect(text).toMatch(/La empresa .*Kopanyi.* como administrador/);
  expect(text).toContain('https://trace.example/\n');
  expect(text).toMatch(/^Ana Uwase le invita\.$/m);
  expect(text).toContain(`https://trace.example/api/company/invitation/${codeIn(text)}\n`);
  expect(text).not.toContain(ana.email);

  const person = { email, password: PASSWORD, name: 'Late', surname: 'Comer' };
  const registered = await trace.send('POST', '/api/user/register', person);
  const token = codeIn(await lastMail(email, 2));
  expect((await trace.send('POST', '/api/user/confirm_email', { token })).status).toBe(200);
  const userId = registered.body.data.id;
  await system.send('POST', '/api/user/admin/execute/ACTIVATE_USER', { id: userId });
  const late = await trace.login(email, PASSWORD);
  const own = { token: codeIn(text), answer: 'ACCEPT', password: PASSWORD };
  expect((await trace.send('POST', '/api/company/invitation', own)).status).toBe(200);
  expect(await users(late, id)).toMatchObject([{}, { email, companyRole: 'COMPANY_ADMIN' }]);
});

test('inviting the address of a member is refused with its field; other actions apply to the member', async () => {
  const { id, ana, bo } = await company();
  await invite(ana, id, bo.email);
  await acceptBy(bo.email);
  for (const by of [ana, system]) {
    const refused = await invite(by, id, bo.email);
    expect([refused.status, fieldsOf(refused)]).toEqual([400, ['email']]);
    expect(refused.body.errorMessage).toBe('email is the address of a member of the company');
  }
  const role = { email: bo.email, companyUserRole: 'MANAGER' };
  expect((await execute(ana, 'SET_USER_COMPANY_ROLE', id, role)).status).toBe(200);
  expect(await users(ana, id)).toMatchObject([{}, { id: bo.id, companyRole: 'MANAGER' }]);
  expect((await execute(ana, 'REMOVE_USER_FROM_COMPANY', id, { email: bo.email })).status).toBe(200);
  expect(await users(ana, id)).toHaveLength(1);
});

test('exactly one of userId and email is accepted, and only a valid address', async () => {
  const { id, ana, bo } = await company();
  for (const [more, field] of [
    [{}, 'userId'],
    [{ userId: bo.id, email: bo.email }, 'email'],
    [{ email: 'bo' }, 'email'],
    [{ email: 'bo@localhost' }, 'email'],
    [{ email: `${'b'.repeat(250)}@example.org` }, 'email'],
  ] as const) {
    for (const action of ['ADD_USER_TO_COMPANY', 'SET_USER_COMPANY_ROLE', 'REMOVE_USER_FROM_COMPANY']) {
      const refused = await execute(ana, action, id, more);
      expect([refused.status, fieldsOf(refused)], `${action} ${JSON.stringify(more)}`).toEqual([
        400,
        [field],
      ]);
    }
  }
});

test('a SYSTEM_ADMIN invites by address, and adds by id, which ends the invitation of the address', async () => {
  const { id, ana, bo } = await company();
  expect((await invite(system, id, bo.email, 'MANAGER')).status).toBe(200);
  expect(await pending(ana, id)).toEqual([{ email: bo.email, companyRole: 'MANAGER', pending: true }]);
  expect((await execute(system, 'ADD_USER_TO_COMPANY', id, { userId: bo.id })).status).toBe(200);
  expect(await users(ana, id)).toMatchObject([{}, { id: bo.id, companyRole: 'COMPANY_USER' }]);
  expect((await invitations(bo)).count).toBe(0);
});

test('a member keeps the role when an invited address becomes theirs', async () => {
  const { id, ana, bo } = await company();
  await invite(ana, id, 'new-of-bo@example.org', 'COMPANY_ADMIN');
  await execute(system, 'ADD_USER_TO_COMPANY', id, { userId: bo.id });
  const change = 'UPDATE users SET email = $2, email_key = $2 WHERE id = $1';
  await trace.pool.query(change, [bo.id, 'new-of-bo@example.org']);
  expect((await acceptBy('new-of-bo@example.org')).status).toBe(200);
  expect(await users(ana, id)).toMatchObject([{}, { id: bo.id, companyRole: 'COMPANY_USER' }]);
});

test('a user who left or was removed does not come back by an invitation of their new address', async () => {
  for (const by of ['ana', 'bo'] as const) {
    const { id, ...people } = await company();
    const { ana, bo } = people;
    await execute(system, 'ADD_USER_TO_COMPANY', id, { userId: bo.id });
    const email = `new-of-${bo.id}@example.org`;
    await invite(ana, id, email, 'COMPANY_ADMIN');
    await trace.pool.query('UPDATE users SET email = $2, email_key = $2 WHERE id = $1', [bo.id, email]);
    expect((await execute(people[by], 'REMOVE_USER_FROM_COMPANY', id, { userId: bo.id })).status).toBe(200);
    expect(await pending(ana, id), by).toEqual([]);
    expect((await execute(bo, 'ACCEPT_INVITATION', id)).status, by).toBe(404);
  }
});

test('invitations of users who become members by a merge end', async () => {
  const [from, into] = [await company(), await company('Larger')];
  await execute(system, 'ADD_USER_TO_COMPANY', from.id, { userId: from.bo.id });
  await invite(into.ana, into.id, from.ana.email, 'MANAGER');
  await execute(into.ana, 'ADD_USER_TO_COMPANY', into.id, { userId: from.bo.id });
  await invite(into.ana, into.id, 'somebody-else@example.org');
  const merge = { otherCompanyId: into.id };
  expect((await execute(system, 'MERGE_TO_COMPANY', from.id, merge)).status).toBe(200);
  expect(await pending(into.ana, into.id)).toMatchObject([{ email: 'somebody-else@example.org' }]);
  expect(await users(into.ana, into.id)).toHaveLength(4);
  const role = { email: from.ana.email, companyUserRole: 'ACCOUNTANT' };
  expect((await execute(into.ana, 'SET_USER_COMPANY_ROLE', into.id, role)).status).toBe(200);
  const changed = { id: from.ana.id, companyRole: 'ACCOUNTANT' };
  expect(await users(into.ana, into.id)).toContainEqual(expect.objectContaining(changed));
});

test('strangers and ordinary members cannot invite, and another tenant sees nothing', async () => {
  const { id, ana, bo } = await company();
  const stranger = await company('Others');
  await execute(system, 'ADD_USER_TO_COMPANY', id, { userId: bo.id });
  await invite(ana, id, 'waiting@example.org');
  for (const [by, status] of [
    [stranger.ana, 404],
    [bo, 403],
  ] as const) {
    for (const action of ['ADD_USER_TO_COMPANY', 'SET_USER_COMPANY_ROLE', 'REMOVE_USER_FROM_COMPANY']) {
      const more = { email: 'waiting@example.org', companyUserRole: 'MANAGER' };
      expect((await execute(by, action, id, more)).status).toBe(status);
    }
  }
  expect((await stranger.ana.send('GET', `/api/company/profile/${id}`)).status).toBe(404);
  expect(await pending(ana, id)).toHaveLength(1);
});

test('an address is invited up to five times a day by all companies, in any spelling', async () => {
  const others = [await company('One'), await company('Two')] as const;
  const email = 'flooded@example.org';
  const withdraw = (by: LoggedIn, id: number) => execute(by, 'REMOVE_USER_FROM_COMPANY', id, { email });
  for (let n = 0; n < 5; n++) {
    const { id, ana } = others[n % 2] as (typeof others)[number];
    expect((await invite(ana, id, n === 2 ? email.toUpperCase() : email)).status, String(n)).toBe(200);
    expect((await withdraw(ana, id)).status).toBe(200);
  }
  const third = await company('Three');
  const refused = await invite(third.ana, third.id, 'Flooded@Example.org');
  expect([refused.status, fieldsOf(refused)]).toEqual([429, ['email']]);
  expect(refused.body.errorMessage).toBe('email was invited 5 times within a day; try again later');
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(23 * 3600);
  expect(await pending(third.ana, third.id)).toEqual([]);
  expect((await invite(third.ana, third.id, 'another@example.org')).status).toBe(200);
  const { rows } = await trace.pool.query('SELECT address_counts::text AS row FROM address_counts');
  expect(rows.map(({ row }) => row).join()).not.toMatch(/flooded/i);

  await trace.pool.query(
    "UPDATE address_counts SET until = until - interval '1 day' WHERE route = 'invitations of an address'",
  );
  expect((await invite(third.ana, third.id, email)).status).toBe(200);
});

test('invitations by address count towards the limits of the sender and the company', async () => {
  const { id, ana } = await company();
  for (let n = 0; n < 20; n++) expect((await invite(ana, id, `many-${n}@example.org`)).status).toBe(200);
  const refused = await invite(ana, id, 'one-more@example.org');
  expect([refused.status, Number(refused.headers.get('retry-after')) > 3000]).toEqual([429, true]);
  expect((await invite(ana, id, 'many-3@example.org', 'MANAGER')).status).toBe(200);

  const full = await company();
  await trace.pool.query(
    `INSERT INTO company_address_invitations (company_id, email, email_key, role, invited_by, invited_at)
     SELECT $1, mail, mail, 'COMPANY_USER', $2, now()
     FROM generate_series(1, 499) AS n, concat('full-', n, '@example.org') AS mail`,
    [full.id, full.ana.id],
  );
  for (const more of [{ email: 'no-room@example.org' }, { userId: full.bo.id }]) {
    const { status, body } = await execute(full.ana, 'ADD_USER_TO_COMPANY', full.id, more);
    expect([status, body.errorMessage]).toEqual([400, expect.stringMatching(/has 500 users/)]);
  }
});

test('an unanswered invitation ends after 30 days, and those of a merged company end, too', async () => {
  const { id, ana, bo } = await company();
  await invite(ana, id, bo.email);
  await invite(ana, id, 'silent@example.org');
  const old =
    "UPDATE company_address_invitations SET invited_at = now() - interval '29 days' WHERE email = $1";
  await trace.pool.query(old, ['silent@example.org']);
  const { version } = (await trace.pool.query('SELECT version FROM companies WHERE id = $1', [id])).rows[0];
  await expireInvitations(trace.pool, new Date(Date.now() + 2 * 24 * 3600_000));
  expect(await pending(ana, id)).toMatchObject([{ email: bo.email }]);
  expect(await audited(id)).toContainEqual(['EXPIRE_INVITATION', { invitation: expect.any(Number) }]);
  expect((await trace.pool.query('SELECT version FROM companies WHERE id = $1', [id])).rows).toEqual([
    { version: version + 1 },
  ]);

  const into = await company('Larger');
  const merge = { otherCompanyId: into.id };
  expect((await execute(system, 'MERGE_TO_COMPANY', id, merge)).status).toBe(200);
  expect((await invitations(bo)).count).toBe(0);
  expect((await execute(bo, 'ACCEPT_INVITATION', id)).status).toBe(404);
});

test('an invitation of an address to a deactivated company cannot be accepted', async () => {
  const { id, ana, bo } = await company();
  await invite(ana, id, bo.email);
  await execute(system, 'DEACTIVATE_COMPANY', id);
  expect((await acceptBy(bo.email)).body.errorMessage).toBe('the company is deactivated');
  expect((await execute(bo, 'DECLINE_INVITATION', id)).status).toBe(200);
});
