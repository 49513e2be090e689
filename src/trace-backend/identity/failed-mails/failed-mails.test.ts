import sql from 'sql-template-tag';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { companyOf } from '../../../../test/helpers/chain.ts';
import { eventually } from '../../../../test/helpers/eventually.ts';
import { type MailServer, mailServer, textOf, tokenIn } from '../../../../test/helpers/mail-server.ts';
import {
  ADMIN,
  type LoggedIn,
  PASSWORD,
  type RunningTrace,
  runningTrace,
} from '../../../../test/helpers/trace.ts';
import { transaction } from '../../../platform/database/database.ts';
import { failedMails } from '../mails/failed-store.ts';

const PATH = '/api/administration/failed-mails';

let mail: MailServer;
let trace: RunningTrace;
let admin: LoggedIn;
beforeAll(async () => {
  mail = await mailServer();
  const tries = { NOTIFICATION_TRIES: '2', NOTIFICATION_RETRY_SECONDS: '1' };
  trace = await runningTrace({ SMTP_URL: mail.url, ...tries });
  admin = await trace.loggedIn('SYSTEM_ADMIN');
});
afterAll(async () => {
  await trace.stop();
  await mail.stop();
});
beforeEach(async () => {
  await trace.pool.query('DELETE FROM failed_mails');
  mail.behaviour = 'refuse';
});

interface Item {
  id: number;
  kind: string;
  recipient?: string;
  status: string;
  attempts: number;
  lastError: string;
}
const list = async (query = ''): Promise<Item[]> =>
  (await admin.send('GET', `${PATH}${query}`)).body.data.items;
const listed = (count = 1): Promise<Item[]> =>
  eventually(
    () => list(),
    found => found.length === count,
  );
const replay = (id?: number) => admin.send('POST', `${PATH}/replay`, id === undefined ? {} : { id });
const dismiss = (id: number) => admin.send('DELETE', `${PATH}/${id}`);
const count = async () => (await admin.send('GET', '/api/administration/jobs')).body.data.failedMails;
const ask = (path: string, email: string) => trace.send('POST', `/api/user/${path}`, { email });
const audited = async () =>
  (await admin.send('GET', '/api/audit/list?entity=mail')).body.data.items.map(
    ({ action, entityId, userId, details }: Record<string, unknown>) => ({
      action,
      entityId,
      userId,
      details,
    }),
  );

async function jobsIn(...states: string[]): Promise<number> {
  const { rows } = await trace.pool.query(
    'SELECT count(*)::int AS count FROM trace_backend_jobs.job WHERE state::text = ANY ($1)',
    [states],
  );
  return rows[0].count;
}

async function registered(email: string): Promise<void> {
  const person = { email, password: 'maize in the rain', name: 'Zawadi', surname: 'Mwangi' };
  expect((await trace.send('POST', '/api/user/register', person)).status).toBe(200);
}

test('a refused mail is listed without address in its error and without secret; sent again, it brings a new link that works', async () => {
  const email = 'refused@example.org';
  await registered(email);
  const [failed] = (await listed()) as [Item];
  expect(failed).toEqual({
    id: expect.any(Number),
    kind: 'confirm',
    recipient: email,
    userId: expect.any(Number),
    status: 'FAILED',
    attempts: 1,
    lastError: 'the mail server refused the mail (550): no such mailbox <…>',
    failedAt: expect.stringMatching(/^20.*Z$/),
  });
  expect(await count()).toBe(1);
  const { rows } = await trace.pool.query('SELECT failed_mails::text AS row FROM failed_mails');
  expect(rows[0].row).not.toContain(email);

  // What is refused again is given up again.
  expect((await replay(failed.id)).body.data).toEqual({ replayed: 1 });
  const [again] = await eventually(list, ([item]) => item?.attempts === 2 && item.status === 'FAILED');
  expect(again).toMatchObject({ id: failed.id, status: 'FAILED', replayedAt: expect.any(String) });

  mail.behaviour = 'take';
  expect((await replay(failed.id)).body.data).toEqual({ replayed: 1 });
  const [sent] = await mail.mailsTo(email);
  expect((await trace.send('POST', '/api/user/confirm_email', { token: tokenIn(sent) })).status).toBe(200);
  // Administrators get a mail about who has confirmed the address.
  for (const address of [ADMIN.username, admin.email]) await mail.mailsTo(address);
  await listed(0);
  expect(await count()).toBe(0);
  expect((await replay(failed.id)).status).toBe(404);
  const details = { kind: 'confirm', userId: (failed as Item & { userId: number }).userId };
  const entry = { action: 'REPLAY_MAILS', entityId: String(failed.id), userId: admin.id, details };
  expect(await audited()).toEqual([entry, entry]);
});

test('a mail that used up its attempts is listed with their number and the last error', async () => {
  const { email } = await trace.loggedIn();
  mail.behaviour = 'busy';
  await ask('request_reset_password', email);
  const [failed] = await listed();
  expect(failed).toMatchObject({
    kind: 'reset',
    attempts: 2,
    recipient: email,
    lastError: 'the mail server answered 451: try again later',
  });
});

test('a mail that there is no reason for any more is not sent again, and says so', async () => {
  const user = await trace.loggedIn();
  await ask('request_reset_password', user.email);
  const [failed] = (await listed()) as [Item];
  mail.behaviour = 'take';
  await user.send('PUT', '/api/user/profile', { password: 'a password I chose', currentPassword: PASSWORD });
  await mail.mailsTo(user.email);
  await replay(failed.id);
  await eventually(list, ([item]) => item?.status === 'OBSOLETE');
  expect(await count()).toBe(0);
  const { status, body } = await replay(failed.id);
  expect([status, body.errorMessage]).toEqual([400, 'this email is no longer needed']);
  expect((await replay()).body.data).toEqual({ replayed: 0 });
  expect((await dismiss(failed.id)).status).toBe(200);
  expect((await dismiss(failed.id)).status).toBe(404);
  expect(await list()).toEqual([]);
  expect((await audited())[0]).toMatchObject({
    action: 'DISMISS_MAIL',
    details: { kind: 'reset', userId: user.id },
  });
  expect(mail.mails.filter(({ to }) => to.includes(user.email))).toHaveLength(1);
});

test('what is being sent again is not sent twice', async () => {
  const user = await trace.loggedIn();
  await ask('request_reset_password', user.email);
  const [failed] = (await listed()) as [Item];
  mail.behaviour = 'stall';
  await replay(failed.id);
  const { status, body } = await replay(failed.id);
  expect([status, body.errorMessage]).toEqual([400, 'the email is already being sent again']);
  expect((await replay()).body.data).toEqual({ replayed: 0 });
  mail.behaviour = 'take';
  await listed(0);
});

test('a mail to the new address of a change, and one that invites an address, name their recipients; all are sent again', async () => {
  const [user, owner] = [await trace.loggedIn(), await trace.loggedIn()];
  const change = { email: `new-${user.email}`, currentPassword: PASSWORD };
  expect((await user.send('POST', '/api/user/email_change', change)).status).toBe(200);
  await listed(2);
  const companyId = await companyOf(trace, 'Inviting', [owner]);
  const invited = { companyId, email: 'Stranger@example.org' };
  const path = '/api/company/execute/ADD_USER_TO_COMPANY';
  expect((await owner.send('POST', path, invited)).status).toBe(200);
  const found = await listed(3);
  expect(found.map(({ kind, recipient }) => [kind, recipient]).sort()).toEqual(
    [
      ['change-email', user.email],
      ['change-email', change.email],
      ['invited-address', invited.email],
    ].sort(),
  );
  const [newest, ...others] = found as [Item, ...Item[]];
  expect(newest.kind).toBe('invited-address');
  expect(await list('?limit=1')).toEqual([newest]);
  expect(await list(`?after=${newest.id}`)).toEqual(others);
  mail.behaviour = 'take';
  expect((await replay()).body.data).toEqual({ replayed: 3 });
  for (const address of [user.email, change.email, invited.email]) {
    expect(textOf((await mail.mailsTo(address))[0])).toContain('http');
  }
  await listed(0);
  const entries = (await audited()).slice(0, 3);
  expect(entries.map(({ details }: { details: object }) => details)).toEqual(
    expect.arrayContaining([
      { kind: 'change-email', userId: user.id },
      { kind: 'invited-address', invitation: expect.any(Number) },
    ]),
  );
  const concerned = await admin.send('GET', `/api/audit/list?part=CONCERNED&userId=${user.id}&entity=mail`);
  expect(concerned.body.data.items).toHaveLength(2);
});

test('a mail that was given up goes with its account or its invitation, and when it is old', async () => {
  const [user, owner] = [await trace.loggedIn(), await trace.loggedIn()];
  await ask('request_reset_password', user.email);
  const companyId = await companyOf(trace, 'Withdrawing', [owner]);
  const path = '/api/company/execute';
  const invited = { companyId, email: 'withdrawn@example.org' };
  await owner.send('POST', `${path}/ADD_USER_TO_COMPANY`, invited);
  await listed(2);
  await trace.pool.query("DELETE FROM company_address_invitations WHERE email_key = 'withdrawn@example.org'");
  expect((await list()).map(({ kind }) => kind)).toEqual(['reset']);
  const { rows } = await trace.pool.query('SELECT job FROM failed_mails');
  await user.send('POST', '/api/user/erase', { currentPassword: PASSWORD });
  expect(await list()).toEqual([]);
  expect(rows[0].job).toEqual({ kind: 'reset', to: user.id });

  await registered('old@example.org');
  await listed();
  const day = 24 * 3600_000;
  await failedMails.removeOld(trace.pool, new Date(Date.now() - day), 10);
  expect(await list()).toHaveLength(1);
  await failedMails.removeOld(trace.pool, new Date(Date.now() + day), 10);
  expect(await list()).toEqual([]);
});

test('a mail that is refused while its account is erased, or its invitation withdrawn, is not recorded', async () => {
  const [user, owner] = [await trace.loggedIn(), await trace.loggedIn()];
  const companyId = await companyOf(trace, 'Late', [owner]);
  const invited = { companyId, email: 'late@example.org' };
  const tried = async (before: number) => eventually(() => mail.attempts > before);
  const failedBefore = await jobsIn('failed');
  let before = mail.attempts;
  await transaction(trace.pool, async database => {
    // Does not keep the attempt from storing its token, but from recording its failure.
    await database.query(sql`SELECT FROM users WHERE id = ${user.id} FOR NO KEY UPDATE`);
    await ask('request_reset_password', user.email);
    await tried(before);
    await database.query(sql`UPDATE users SET erasing_at = now() WHERE id = ${user.id}`);
  });
  before = mail.attempts;
  mail.behaviour = 'busy';
  await owner.send('POST', '/api/company/execute/ADD_USER_TO_COMPANY', invited);
  await tried(before);
  before = mail.attempts;
  mail.behaviour = 'refuse';
  await transaction(trace.pool, async database => {
    // Does not keep the attempt from storing its code, but from recording its failure.
    await database.query(sql`LOCK TABLE failed_mails IN SHARE MODE`);
    await tried(before);
    await database.query(sql`DELETE FROM company_address_invitations WHERE email_key = 'late@example.org'`);
  });
  await eventually(async () => (await jobsIn('created', 'retry', 'active')) === 0);
  expect([await jobsIn('failed'), await list()]).toEqual([failedBefore, []]);
});
