import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../../../test/helpers/eventually.ts';
import { type MailServer, mailServer, textOf, tokenIn } from '../../../../test/helpers/mail-server.ts';
import { type LoggedIn, PASSWORD, type RunningTrace, runningTrace } from '../../../../test/helpers/trace.ts';
import { NO_MAILBOX } from '../users/email.ts';

let mail: MailServer;
let trace: RunningTrace;
beforeAll(async () => {
  mail = await mailServer();
  trace = await runningTrace({ SMTP_URL: mail.url, TRACE_PUBLIC_URL: 'https://trace.example' });
});
afterAll(async () => {
  await trace.stop();
  await mail.stop();
});

let count = 0;
const newAddress = () => `New-${++count}@example.org`;
const change = (who: LoggedIn, email: string, currentPassword = PASSWORD) =>
  who.send('POST', '/api/user/email_change', { email, currentPassword });
const confirm = (token: string, password?: string) =>
  trace.send('POST', '/api/user/email_change/confirm', { token, password });
const login = (username: string) => trace.send('POST', '/api/user/login', { username, password: PASSWORD });
/** The tokens that were mailed for a change, to the present and to the new address. */
async function mailed(who: LoggedIn, email: string): Promise<[string, string]> {
  return [tokenIn((await mail.mailsTo(who.email)).at(-1)), tokenIn((await mail.mailsTo(email)).at(-1))];
}

test('an address changes when both the present and the new one have confirmed it, in either order', async () => {
  for (const first of [0, 1] as const) {
    const [user, email] = [await trace.loggedIn(), newAddress()];
    expect((await change(user, email)).status).toBe(200);
    const tokens = await mailed(user, email);
    const [asked] = await mail.mailsTo(user.email);
    expect(textOf(asked)).toContain(email.replaceAll('.', '[.]').replace('@', '[at]'));
    expect(textOf(asked)).toContain(`https://trace.example/api/user/email_change/confirm/${tokens[0]}`);
    const { data } = (await user.send('GET', '/api/user/email_change')).body;
    expect(data).toMatchObject({ email, oldConfirmed: false, newConfirmed: false });

    const half = await confirm(tokens[first]);
    expect([half.status, half.body.data]).toEqual([200, { changed: false }]);
    expect((await confirm(tokens[first])).status).toBe(400);
    expect((await login(user.email)).status).toBe(200);
    expect((await login(email)).status).toBe(401);
    expect((await confirm(tokens[1 - first] as string)).body.data).toEqual({ changed: true });
    expect((await login(user.email)).status).toBe(401);
    expect((await login(email.toLowerCase())).body.data).toMatchObject({ id: user.id, email });
    expect((await user.send('GET', '/api/user/profile')).body.data.email).toBe(email);
    const { status, body } = await user.send('GET', '/api/user/email_change');
    expect([status, body]).toEqual([200, { status: 'OK' }]);
  }
});

test('the default address of the first administrator has no mailbox: only the new one confirms', async () => {
  const [user, email] = [await trace.loggedIn(), newAddress()];
  await trace.pool.query('UPDATE users SET email = $1, email_key = $1 WHERE id = $2', [NO_MAILBOX, user.id]);
  expect((await change(user, email)).status).toBe(200);
  const [asked] = await mail.mailsTo(email);
  expect(textOf(asked)).not.toContain('other address');
  const { data } = (await user.send('GET', '/api/user/email_change')).body;
  expect(data).toMatchObject({ email, oldConfirmed: true, newConfirmed: false });
  expect((await login(NO_MAILBOX)).status).toBe(200);
  expect((await confirm(tokenIn(asked))).body.data).toEqual({ changed: true });
  expect((await login(email)).status).toBe(200);
  expect(mail.mails.filter(({ to }) => to.includes(NO_MAILBOX))).toEqual([]);

  // From then on both confirm, as with everyone.
  await trace.pool.query('DELETE FROM mail_requests WHERE user_id = $1', [user.id]);
  const next = newAddress();
  await change(user, next);
  const [again] = await mail.mailsTo(next);
  expect(textOf(again)).toContain('You must also confirm with the other address.');
  expect((await confirm(tokenIn(again))).body.data).toEqual({ changed: false });
});

test('it needs the password and another address, and can be asked for once in five minutes', async () => {
  const user = await trace.loggedIn();
  const fields = async (...args: Parameters<typeof change>) =>
    Object.keys((await change(...args)).body.validationErrorDetails.fieldErrors);
  expect(await fields(user, newAddress(), 'wrong')).toEqual(['currentPassword']);
  expect(await fields(user, 'no address')).toEqual(['email']);
  expect(await fields(user, user.email)).toEqual(['email']);
  expect((await change(user, newAddress())).status).toBe(200);
  const again = await change(user, newAddress());
  expect([again.status, again.headers.get('retry-after')]).toEqual([429, '300']);
});

test('an address of another user gets no mail, the caller learns nothing, and nothing is changed', async () => {
  const [user, other] = [await trace.loggedIn(), await trace.loggedIn()];
  const [taken, free] = [await change(user, other.email.toUpperCase()), await change(other, newAddress())];
  expect(taken.text).toBe(free.text);
  await mail.mailsTo(user.email);
  await eventually(async () => {
    const { rows } = await trace.pool.query(
      "SELECT count(*)::int AS open FROM trace_backend_jobs.job WHERE state <> 'completed' AND name = 'mail'",
    );
    return rows[0].open === 0;
  });
  // The only mail to the other is about the change of their own.
  expect(
    mail.mails.filter(({ to }) => to.some(address => address.toLowerCase() === other.email)),
  ).toHaveLength(1);
});

test('an address that somebody registers meanwhile is not taken from them', async () => {
  const [user, email] = [await trace.loggedIn(), newAddress()];
  await change(user, email);
  const tokens = await mailed(user, email);
  const registration = { email, password: PASSWORD, name: 'Ben', surname: 'Uwase' };
  expect((await trace.send('POST', '/api/user/register', registration)).status).toBe(200);
  await confirm(tokens[0]);
  const late = await confirm(tokens[1]);
  expect([late.status, late.body.errorMessage]).toEqual([400, 'this address is already registered']);
  expect((await login(user.email)).status).toBe(200);
});

test('a change ends when it is given up, replaced, too old, or the password changes', async () => {
  const ends: ((who: LoggedIn) => Promise<unknown>)[] = [
    who => who.send('DELETE', '/api/user/email_change'),
    async who => {
      await trace.pool.query('DELETE FROM mail_requests WHERE user_id = $1', [who.id]);
      expect((await change(who, newAddress())).status).toBe(200);
    },
    who =>
      trace.pool.query(
        "UPDATE email_changes SET expires_at = expires_at - interval '72 hours' WHERE user_id = $1",
        [who.id],
      ),
    who => who.send('PUT', '/api/user/profile', { password: 'another password', currentPassword: PASSWORD }),
  ];
  for (const end of ends) {
    const [user, email] = [await trace.loggedIn(), newAddress()];
    await change(user, email);
    const tokens = await mailed(user, email);
    await end(user);
    for (const token of tokens) expect((await confirm(token)).status).toBe(400);
    expect((await login(email)).status).toBe(401);
  }
});

test("one user's token confirms nothing of another's change", async () => {
  const [user, other] = [await trace.loggedIn(), await trace.loggedIn()];
  const [mine, theirs] = [newAddress(), newAddress()];
  await change(user, mine);
  await change(other, theirs);
  const [[mineOld], [, theirsNew]] = [await mailed(user, mine), await mailed(other, theirs)];
  expect((await confirm(mineOld)).body.data).toEqual({ changed: false });
  expect((await confirm(theirsNew)).body.data).toEqual({ changed: false });
  expect((await user.send('GET', '/api/user/email_change')).body.data).toMatchObject({
    oldConfirmed: true,
    newConfirmed: false,
  });
  expect((await other.send('DELETE', '/api/user/email_change')).status).toBe(200);
  expect((await user.send('GET', '/api/user/email_change')).status).toBe(200);
});

test('a new address counts as confirmed by its owner together with the password alone', async () => {
  for (const [password, isConfirmed] of [
    [PASSWORD, true],
    [undefined, false],
  ] as const) {
    const [user, email] = [await trace.loggedIn(), newAddress()];
    await change(user, email);
    const [old, fresh] = await mailed(user, email);
    expect((await confirm(old, PASSWORD)).body.data).toEqual({ changed: false });
    const wrong = await confirm(fresh, 'not the password');
    expect(Object.keys(wrong.body.validationErrorDetails.fieldErrors)).toEqual(['password']);
    expect((await confirm(fresh, password)).body.data).toEqual({ changed: true });
    const { data } = (await user.send('GET', '/api/user/profile')).body;
    expect([data.email, data.emailConfirmed]).toEqual([email, isConfirmed]);
  }
});
