import { afterAll, beforeAll, expect, test } from 'vitest';
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

let mail: MailServer;
let trace: RunningTrace;
let admin: LoggedIn;
beforeAll(async () => {
  mail = await mailServer();
  trace = await runningTrace({ SMTP_URL: mail.url, NOTIFICATION_RETRY_SECONDS: '1' });
  admin = await trace.login(ADMIN.username, ADMIN.password);
});
afterAll(async () => {
  await trace.stop();
  await mail.stop();
});

const post = (path: string, body: object) => trace.send('POST', `/api/user/${path}`, body);
const reset = (token: string) => post('reset_password', { token, password: 'a password from a mail' });
async function mailedReset({ email }: LoggedIn): Promise<string> {
  await post('request_reset_password', { email });
  return tokenIn((await mail.mailsTo(email))[0]);
}
const changePassword = (user: LoggedIn) =>
  user.send('PUT', '/api/user/profile', { password: 'a password I chose', currentPassword: PASSWORD });
const execute = (action: string, { id }: LoggedIn) =>
  admin.send('POST', `/api/user/admin/execute/${action}`, { id });

test('a request for a new password is in the audit once there is a user, without its token; one of an administrator is not twice', async () => {
  const [user, other] = [await trace.loggedIn(), await trace.loggedIn()];
  const list = async ({ id }: LoggedIn) =>
    (await admin.send('GET', `/api/audit/list?part=CONCERNED&userId=${id}&limit=3`)).body.data.items;
  const actions = async (of: LoggedIn) => (await list(of)).map(({ action }: { action: string }) => action);
  const token = await mailedReset(user);
  const [entry] = await list(user);
  expect(entry).toMatchObject({ action: 'REQUEST_PASSWORD', entity: 'user', entityId: String(user.id) });
  expect([entry.userId, entry.address, entry.details]).toEqual([undefined, '127.0.0.1', {}]);
  expect(JSON.stringify(entry)).not.toContain(token);
  await admin.send('POST', '/api/user/request_reset_password', { email: other.email });
  await mail.mailsTo(other.email);
  expect(await actions(other)).toContain('SEND_PASSWORD_LINK');
  expect(await actions(other)).not.toContain('REQUEST_PASSWORD');

  const stranger = 'nobody-has-this@example.org';
  expect((await post('request_reset_password', { email: stranger })).body).toEqual({ status: 'OK' });
  const { rows } = await trace.pool.query('SELECT FROM audit WHERE audit::text LIKE $1', [`%${stranger}%`]);
  expect(rows).toEqual([]);
});

test('a reset token dies when the password is changed', async () => {
  const user = await trace.loggedIn();
  const token = await mailedReset(user);
  expect((await changePassword(user)).status).toBe(200);
  expect((await reset(token)).body.status).toBe('VALIDATION_ERROR');
});

test('a reset token dies when the account is deactivated, also for the time after', async () => {
  const user = await trace.loggedIn();
  const token = await mailedReset(user);
  await execute('DEACTIVATE_USER', user);
  expect((await reset(token)).status).toBe(400);
  await execute('ACTIVATE_USER', user);
  expect((await reset(token)).status).toBe(400);
  expect((await post('login', { username: user.email, password: PASSWORD })).status).toBe(200);
});

test('a reset that is still to be mailed when the password changes is not mailed any more', async () => {
  const user = await trace.loggedIn();
  mail.behaviour = 'busy';
  const before = mail.attempts;
  await post('request_reset_password', { email: user.email });
  await eventually(() => mail.attempts > before);
  await changePassword(user);
  mail.behaviour = 'take';
  const [told] = await mail.mailsTo(user.email);
  expect(textOf(told)).toContain('password of your account was changed');
  await eventually(async () => {
    const { rows } = await trace.pool.query(
      "SELECT count(*)::int AS open FROM trace_backend_jobs.job WHERE state <> 'completed' AND name = 'mail'",
    );
    return rows[0].open === 0;
  });
  expect(mail.mails.filter(({ to }) => to.includes(user.email))).toHaveLength(1);
});

test('a reset token is good for an hour, and its mail says so', async () => {
  const user = await trace.loggedIn();
  const token = await mailedReset(user);
  expect(textOf((await mail.mailsTo(user.email))[0])).toContain('within one hour');
  await trace.pool.query("UPDATE mail_tokens SET expires_at = expires_at - interval '1 hour'");
  expect((await reset(token)).body.errorMessage).toContain('an hour');
});

test('a changed password is reported by mail, whether it was reset or changed', async () => {
  const [reader, changer] = [await trace.loggedIn(), await trace.loggedIn()];
  await reset(await mailedReset(reader));
  await changePassword(changer);
  const mails = [(await mail.mailsTo(reader.email, 2))[1], (await mail.mailsTo(changer.email))[0]];
  for (const told of mails) {
    expect(textOf(told)).toContain('The password of your account was changed');
    expect(textOf(told)).not.toContain('a password');
  }
});

test('a request for a mail is answered before anybody looks whether the address is known', async () => {
  const { email } = await trace.loggedIn();
  await transaction(trace.pool, async database => {
    await database.query({
      text: 'LOCK TABLE users, mail_requests, mail_tokens IN ACCESS EXCLUSIVE MODE',
    });
    for (const path of ['request_reset_password', 'resend_confirmation']) {
      const answers = [await post(path, { email }), await post(path, { email: 'nobody@example.org' })];
      expect(answers.map(({ status, text }) => [status, text])).toEqual([
        [200, '{"status":"OK"}'],
        [200, '{"status":"OK"}'],
      ]);
    }
  });
  expect(tokenIn((await mail.mailsTo(email))[0])).not.toBe('no token');
});
