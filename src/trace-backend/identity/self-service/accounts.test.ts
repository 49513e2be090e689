import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../../../test/helpers/eventually.ts';
import { type MailServer, mailServer, textOf } from '../../../../test/helpers/mail-server.ts';
import { runs } from '../../../../test/helpers/property.ts';
import {
  ADMIN,
  type LoggedIn,
  PASSWORD,
  type RunningTrace,
  runningTrace,
} from '../../../../test/helpers/trace.ts';
import { MESSAGE_LANGUAGES } from '../../../platform/messages/messages.ts';
import { MAIL_LANGUAGES } from '../../base/contract/language.ts';
import { mailTexts } from '../mails/texts.ts';

let mail: MailServer;
let trace: RunningTrace;
let admin: LoggedIn;
beforeAll(async () => {
  mail = await mailServer();
  const retry = { NOTIFICATION_RETRY_SECONDS: '1' };
  trace = await runningTrace({ SMTP_URL: mail.url, TRACE_PUBLIC_URL: 'https://trace.example', ...retry });
  admin = await trace.login(ADMIN.username, ADMIN.password);
});
afterAll(async () => {
  await trace.stop();
  await mail.stop();
});

let count = 0;
const person = (more: object = {}) => ({
  email: `Person-${++count}@example.org`,
  password: 'a password of mine',
  name: 'Ana',
  surname: 'Uwase',
  ...more,
});
const code = (text: string) => /^(?:Code|Kode|Código): (\S+)$/m.exec(text)?.[1] as string;
const post = (path: string, body: object) => trace.send('POST', `/api/user/${path}`, body);
const execute = (action: string, id: number | string, by = admin) =>
  by.send('POST', `/api/user/admin/execute/${action}`, { id });

test('from registration to login: mail, confirmation, notice to the administrator, activation, mail', async () => {
  const who = person();
  const registered = await post('register', who);
  expect(registered.body.data).toEqual({
    id: expect.any(Number),
    email: who.email,
    name: 'Ana',
    surname: 'Uwase',
    status: 'UNCONFIRMED',
    role: 'USER',
    actions: [],
    companyIds: [],
    companyIdsAdmin: [],
    language: 'EN',
    mailLanguage: 'EN',
    emailConfirmed: false,
    hasFirstPassword: false,
    discoverable: false,
  });
  const { id } = registered.body.data;
  const login = () => post('login', { username: who.email.toLowerCase(), password: who.password });
  expect([(await login()).status, (await login()).body.errorMessage]).toEqual([
    401,
    expect.stringContaining('confirmed'),
  ]);

  const [mailed] = await mail.mailsTo(who.email);
  const token = code(textOf(mailed));
  expect(textOf(mailed)).toContain(`https://trace.example/api/user/confirm_email/${token}`);
  const confirmed = await post('confirm_email', { token });
  expect(confirmed.body.data).toMatchObject({ id, status: 'CONFIRMED_EMAIL' });
  expect((await post('confirm_email', { token })).body.status).toBe('VALIDATION_ERROR');
  const [notice] = await mail.mailsTo(ADMIN.username);
  expect(textOf(notice)).toContain(who.email);
  expect((await login()).body.errorMessage).toContain('administrator');

  expect((await execute('ACTIVATE_USER', String(id))).body.data.status).toBe('ACTIVE');
  expect(textOf((await mail.mailsTo(who.email, 2))[1])).toContain('You can log in now');
  expect((await login()).body.data.actions).toEqual([
    'VIEW_USER_PROFILE',
    'UPDATE_USER_PROFILE',
    'CREATE_COMPANY',
  ]);
  const { body } = await admin.send('GET', `/api/audit/list?entity=user&entityId=${id}&sort=ASC`);
  expect(body.data.items.map(({ action }: { action: string }) => action)).toEqual([
    'REGISTER_USER',
    ...['LOGIN_FAILED', 'LOGIN_FAILED', 'CONFIRM_USER_EMAIL', 'LOGIN_FAILED'],
    'ACTIVATE_USER',
    'LOGIN',
  ]);
  expect(body.data.items[5]).toMatchObject({ userId: admin.id, address: '127.0.0.1' });
});

test('a registered address is refused in any case, also in concurrent requests, and creates no second user', async () => {
  const who = person();
  const answers = await Promise.all(
    [who.email, who.email.toLowerCase(), who.email.toUpperCase()].map(email =>
      post('register', { ...who, email }),
    ),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
  const refused = answers.find(({ status }) => status === 400);
  expect(refused?.body.status).toBe('INVALID_REQUEST');
  const found = await admin.send('GET', `/api/user/admin/list?query=${who.email}`);
  expect(found.body.data.count).toBe(1);
});

test('invalid registrations are refused with their fields', async () => {
  for (const [more, field] of [
    [{ email: 'no address' }, 'email'],
    [{ email: 'a@b' }, 'email'],
    [{ email: `${'x'.repeat(250)}@example.org` }, 'email'],
    [{ email: 'ana@example.org\nBcc: x@example.org' }, 'email'],
    [{ password: 'short' }, 'password'],
    [{ password: 'x'.repeat(129) }, 'password'],
    [{ name: '  ' }, 'name'],
    [{ language: 'FR' }, 'language'],
  ] as const) {
    const { status, body } = await post('register', person(more));
    expect([status, Object.keys(body.validationErrorDetails.fieldErrors)], field).toEqual([400, [field]]);
  }
});

test('a strict policy refuses the most common passwords', async () => {
  const strict = await runningTrace({ PASSWORD_POLICY: 'strict' }, trace);
  const ask = (password: string) => strict.send('POST', '/api/user/register', person({ password }));
  expect((await ask('Password1')).body.validationErrorDetails.fieldErrors.password).toContain('most common');
  expect((await ask('maize rows in the rain')).status).toBe(200);
  await strict.stop();
});

test('a confirmation is mailed again on request, but not to any address, nor every minute', async () => {
  const who = person();
  await post('register', who);
  await mail.mailsTo(who.email);
  const answers = [];
  for (const email of [who.email, who.email, 'nobody@example.org', 'no address']) {
    answers.push((await post('resend_confirmation', { email })).text);
  }
  expect(new Set(answers).size).toBe(1);
  const mails = await mail.mailsTo(who.email, 2);
  for (const sent of mails.toReversed()) {
    const { status } = await post('confirm_email', { token: code(textOf(sent)) });
    // The later token is valid, and using it ends the earlier one.
    expect(status).toBe(sent === mails[1] ? 200 : 400);
  }
});

test('a mailed token sets a new password, ends every session, and is valid once', async () => {
  const user = await trace.loggedIn();
  await post('request_reset_password', { email: user.email });
  const [mailed] = await mail.mailsTo(user.email);
  const token = code(textOf(mailed));
  expect((await post('reset_password', { token, password: 'short' })).status).toBe(400);
  expect((await post('reset_password', { token, password: 'another password' })).status).toBe(200);
  expect((await post('reset_password', { token, password: 'a third password' })).status).toBe(400);
  expect((await user.send('GET', '/api/user/profile')).status).toBe(401);
  expect((await post('login', { username: user.email, password: PASSWORD })).status).toBe(401);
  expect((await post('login', { username: user.email, password: 'another password' })).status).toBe(200);

  const late = await trace.loggedIn();
  await post('request_reset_password', { email: late.email });
  const stale = code(textOf((await mail.mailsTo(late.email))[0]));
  await trace.pool.query("UPDATE mail_tokens SET expires_at = expires_at - interval '72 hours'");
  expect((await post('reset_password', { token: stale, password: 'another password' })).status).toBe(400);
});

test('mails are in six languages; the language of the public front end stays one of its four', async () => {
  const who = person();
  const registered = await post('register', { ...who, mailLanguage: 'FR' });
  expect(registered.body.data).toMatchObject({ language: 'EN', mailLanguage: 'FR' });
  expect(textOf((await mail.mailsTo(who.email))[0])).toContain('Pour confirmer');

  const user = await trace.loggedIn();
  const put = async (body: object) => {
    const { body: answer } = await user.send('PUT', '/api/user/profile', body);
    return [answer.data?.language, answer.data?.mailLanguage];
  };
  expect(await put({ language: 'DE' })).toEqual(['DE', 'DE']);
  expect(await put({ mailLanguage: 'SW' })).toEqual(['EN', 'SW']);
  // The front end sends the profile back as it read it.
  expect(await put({ language: 'EN', name: 'Ana' })).toEqual(['EN', 'SW']);
  expect(await put({ language: 'EN', mailLanguage: 'FR' })).toEqual(['EN', 'FR']);
  expect(await put({ language: 'ES', mailLanguage: 'FR' })).toEqual(['ES', 'ES']);
  expect(await put({ mailLanguage: 'PT' })).toEqual([undefined, undefined]);
  expect(await put({ mailLanguage: 'SW' })).toEqual(['EN', 'SW']);
  await post('request_reset_password', { email: user.email });
  expect(textOf((await mail.mailsTo(user.email))[0])).toContain('nenosiri jipya');
  const admins = await admin.send('PUT', '/api/user/admin/profile', { id: user.id, mailLanguage: 'FR' });
  expect(admins.body.data).toMatchObject({ language: 'EN', mailLanguage: 'FR' });
  const { body } = await admin.send('GET', `/api/user/admin/list?ids=${user.id}`);
  expect(body.data.items[0]).toMatchObject({ language: 'EN' });
  expect(body.data.items[0]).not.toHaveProperty('mailLanguage');
});

test('every mail is in the language of the reader, with every placeholder filled', () => {
  expect(MAIL_LANGUAGES.map(code => code.toLowerCase()).sort()).toEqual([...MESSAGE_LANGUAGES].sort());
  const texts = mailTexts({ publicUrl: 'https://trace.example' });
  const company = { company: 'Kopanyi', inviter: { id: 7, name: 'Ana' }, secret: 'T' };
  for (const language of MAIL_LANGUAGES) {
    const reader = { name: 'Ben', language };
    const change = { address: 'b@c.d', isAlone: false };
    const mails = [
      ...(['UNCONFIRMED', 'ACTIVE'] as const).map(status => texts.confirm({ ...reader, status }, 'T')),
      ...[texts.reset(reader, 'T'), texts.activated(reader)],
      ...(['old', 'new'] as const).map(side => texts.changeEmail(reader, { side, ...change }, 'T')),
      ...(['password-changed', 'second-factor-on', 'second-factor-off'] as const).map(kind =>
        texts.told(reader, kind),
      ),
      ...(['COMPANY_USER', 'COMPANY_ADMIN', 'MANAGER', 'ACCOUNTANT'] as const).map(role =>
        texts.invited(reader, { ...company, role }, { isAddress: role === 'MANAGER' }),
      ),
      ...[true, false].map(hasAccount =>
        texts.invitedAddress(language, { ...company, role: 'COMPANY_USER', email: 'b@c.d', hasAccount }),
      ),
      texts.notice(reader, { id: 7, name: 'Ana', surname: 'Uwase', email: 'a@b.c' }),
    ];
    expect(new Set(mails.map(({ text }) => text)).size, language).toBe(mails.length);
    for (const { subject, text, html } of mails) {
      expect(html).toContain(`<html lang="${language.toLowerCase()}">`);
      expect(`${subject}\n${text}`, language).not.toMatch(/\{\w|mails\./);
    }
  }
});

test('a profile changes field by field; a new password needs the current one and begins a new session', async () => {
  const user = await trace.loggedIn();
  const put = (body: object) => user.send('PUT', '/api/user/profile', body);
  const changed = await put({ name: 'Anastasia', language: 'RW', discoverable: true });
  expect(changed.body.data).toMatchObject({
    name: 'Anastasia',
    surname: 'Uwase',
    language: 'RW',
    discoverable: true,
  });
  expect((await put({ role: 'SYSTEM_ADMIN', status: 'ACTIVE', id: 1 })).body.data.role).toBe('USER');
  for (const wrong of [
    { password: 'another password' },
    { password: 'another password', currentPassword: 'x' },
  ]) {
    const { status, body } = await put(wrong);
    expect([status, Object.keys(body.validationErrorDetails.fieldErrors)]).toEqual([
      400,
      ['currentPassword'],
    ]);
  }
  const renewed = await put({ password: 'another password', currentPassword: PASSWORD });
  expect(renewed.status).toBe(200);
  expect((await put({ name: 'Ana' })).status).toBe(401);
  const cookie = renewed.headers.getSetCookie()[0]?.split(';')[0] as string;
  expect((await trace.send('GET', '/api/user/profile', undefined, { cookie })).status).toBe(200);
});

test('administrators act on users within the limits of their roles', async () => {
  const [user, regional] = [await trace.loggedIn(), await trace.loggedIn('REGIONAL_ADMIN')];
  const outcome = async (...args: Parameters<typeof execute>) => {
    const { status, body } = await execute(...args);
    return status === 200 ? [body.data.status, body.data.role] : [status, body.status];
  };
  expect(await outcome('SET_USER_REGIONAL_ADMIN', user.id, regional)).toEqual([403, 'UNAUTHORIZED']);
  expect(await outcome('SET_USER_REGIONAL_ADMIN', user.id)).toEqual(['ACTIVE', 'REGIONAL_ADMIN']);
  expect(await outcome('UNSET_USER_REGIONAL_ADMIN', user.id, regional)).toEqual([403, 'UNAUTHORIZED']);
  expect(await outcome('UNSET_USER_REGIONAL_ADMIN', user.id)).toEqual(['ACTIVE', 'USER']);
  expect(await outcome('SET_USER_SYSTEM_ADMIN', user.id, regional)).toEqual([403, 'UNAUTHORIZED']);
  expect(await outcome('DEACTIVATE_USER', admin.id, regional)).toEqual([403, 'UNAUTHORIZED']);
  expect(await outcome('DEACTIVATE_USER', regional.id, regional)).toEqual([400, 'INVALID_REQUEST']);
  expect(await outcome('DEACTIVATE_USER', 999_999, regional)).toEqual([404, 'NOT_FOUND']);
  expect(await outcome('DEACTIVATE_USER', user.id, regional)).toEqual(['DEACTIVATED', 'USER']);
  expect(await outcome('DEACTIVATE_USER', user.id, regional)).toEqual(['DEACTIVATED', 'USER']);
  expect((await user.send('GET', '/api/user/profile')).status).toBe(401);
  expect(await outcome('ACTIVATE_USER', user.id, regional)).toEqual(['ACTIVE', 'USER']);
  expect(await outcome('SET_USER_SYSTEM_ADMIN', user.id)).toEqual(['ACTIVE', 'SYSTEM_ADMIN']);
  expect(await outcome('SET_USER_REGIONAL_ADMIN', user.id)).toEqual([400, 'INVALID_REQUEST']);
  expect(await outcome('UNSET_USER_SYSTEM_ADMIN', user.id)).toEqual(['ACTIVE', 'USER']);
  expect((await admin.send('POST', '/api/user/admin/execute/DELETE_USER', { id: user.id })).body.status).toBe(
    'VALIDATION_ERROR',
  );
});

test('concurrent demotions of two administrators leave one', async () => {
  const alone = await runningTrace();
  const first = await alone.login(ADMIN.username, ADMIN.password);
  const second = await alone.loggedIn('SYSTEM_ADMIN');
  const demote = (by: LoggedIn, id: number) =>
    by.send('POST', '/api/user/admin/execute/UNSET_USER_SYSTEM_ADMIN', { id });
  const answers = await Promise.all([demote(first, second.id), demote(second, first.id)]);
  expect(answers.map(({ status }) => status).sort()).not.toEqual([200, 200]);
  const { rows } = await alone.pool.query(
    "SELECT count(*)::int AS count FROM users WHERE role = 'SYSTEM_ADMIN'",
  );
  expect(rows[0].count).toBe(1);
  await alone.stop();
});

test('the list of users is filtered, sorted and paged', async () => {
  const marker = `Zawadi${++count}`;
  for (const surname of ['Alpha', 'beta', 'Gamma']) await post('register', person({ name: marker, surname }));
  const list = async (query: string) =>
    (await admin.send('GET', `/api/user/admin/list?query=${marker}&${query}`)).body.data;
  const surnames = ({ items }: { items: { surname: string }[] }) => items.map(({ surname }) => surname);
  expect(surnames(await list('sortBy=surname&sort=ASC'))).toEqual(['Alpha', 'beta', 'Gamma']);
  expect(surnames(await list('sortBy=surname'))).toEqual(['Gamma', 'beta', 'Alpha']);
  const page = await list('sortBy=surname&sort=ASC&limit=1&offset=1');
  expect([surnames(page), page.count, page.limit, page.offset]).toEqual([['beta'], 3, 1, 1]);
  expect((await list('status=ACTIVE')).count).toBe(0);
  expect((await list('role=USER&status=UNCONFIRMED')).count).toBe(3);
  expect(await list('sortBy=password')).toEqual(await list('sortBy=id'));
});

test('the audit cannot be rewritten, and is filtered by user, action and time', async () => {
  await expect(trace.pool.query("UPDATE audit SET action = 'x'")).rejects.toThrow(/permission denied/);
  await expect(trace.pool.query('DELETE FROM audit')).rejects.toThrow(/permission denied/);
  const list = async (query: string) => (await admin.send('GET', `/api/audit/list?${query}`)).body.data;
  expect((await list(`action=LOGIN&userId=${admin.id}`)).count).toBe(1);
  expect((await list('from=2000-01-01&to=2001-01-01')).count).toBe(0);
  expect((await list('limit=2')).items).toHaveLength(2);
  expect((await admin.send('GET', '/api/audit/list?from=soon')).body.status).toBe('VALIDATION_ERROR');
});

test('mails exist in every language, as text and HTML, and names of users become neither headers nor tags', () => {
  const names = fc.string({ unit: 'grapheme', maxLength: 300 });
  fc.assert(
    fc.property(fc.constantFrom(...MAIL_LANGUAGES), names, names, (language, name, surname) => {
      const texts = mailTexts({ publicUrl: 'https://trace.example' }, 'Kigali\r\nBcc: Fields');
      const reader = { name: `${name}\r\nBcc: x@y\n<script>`, language } as const;
      const invitation = {
        ...({ company: name, role: 'MANAGER', secret: 'TOKEN' } as const),
        inviter: { id: 7, name: surname },
      };
      const about = { id: 7, name, surname: `${surname}\n\nhttps://evil.example`, email: 'a@b.c' };
      for (const { subject, text, html } of [
        texts.confirm({ ...reader, status: 'ACTIVE' }, 'TOKEN'),
        texts.confirm({ ...reader, status: 'UNCONFIRMED' }, 'TOKEN'),
        texts.reset(reader, 'TOKEN'),
        texts.activated(reader),
        texts.notice(reader, about),
        texts.invited(reader, invitation, { isAddress: false }),
        texts.invited(reader, invitation, { isAddress: true }),
      ]) {
        expect(subject).toMatch(/^Kigali Bcc: Fields: [\p{L} .,-]+$/u);
        expect(text).toMatch(/\n\nKigali Bcc: Fields\n$/);
        expect(text.match(/https:\/\/\S+/g)).toEqual([expect.stringMatching(/^https:\/\/trace\.example\//)]);
        expect(text.split('\n').every(line => !/^Bcc:/.test(line))).toBe(true);
        expect(html).not.toContain('<script>');
        expect(html).toContain(`<html lang="${language.toLowerCase()}">`);
      }
    }),
    { numRuns: runs(100) },
  );
});

test('a busy or stalled mail server loses no mail; after a permanent refusal there is no retry', async () => {
  const [busy, refused] = [person(), person()];
  const before = mail.attempts;
  mail.behaviour = 'refuse';
  await post('register', refused);
  await eventually(
    () => mail.attempts,
    attempts => attempts > before,
  );
  mail.behaviour = 'busy';
  await post('register', busy);
  await eventually(
    () => mail.attempts,
    attempts => attempts > before + 1,
  );
  mail.behaviour = 'take';
  expect(await mail.mailsTo(busy.email)).toHaveLength(1);
  expect(mail.mails.filter(({ to }) => to.includes(refused.email))).toEqual([]);
});
