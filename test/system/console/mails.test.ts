import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { consoleUrl, consoleUrlOfPackets } from '../../../src/console/address.ts';
import { readSettings } from '../../../src/platform/settings/settings.ts';
import type { Browser } from '../../helpers/browser.ts';
import { type RunningConsole, runningConsole } from '../../helpers/console.ts';
import {
  consoleBrowser,
  expectAccessible,
  logIn,
  logInByForm,
  openOwnMenu,
  realComplaints,
} from '../../helpers/console-page.ts';
import { eventually } from '../../helpers/eventually.ts';
import { type MailServer, mailServer, textOf, tokenIn } from '../../helpers/mail-server.ts';
import { ADMIN, PASSWORD } from '../../helpers/trace.ts';

const PASSPHRASE = 'maize in the rain';

let mail: MailServer;
let pages: RunningConsole;
let browser: Browser;
let admin: Awaited<ReturnType<RunningConsole['login']>>;
beforeAll(async () => {
  mail = await mailServer();
  pages = await runningConsole({ SMTP_URL: mail.url });
  browser = await consoleBrowser(pages);
  admin = await pages.login(ADMIN.username, ADMIN.password);
});
afterAll(async () => {
  await browser.close();
  await pages.stop();
  await mail.stop();
});
beforeEach(() => browser.page.context().clearCookies());

/** The last link of the newest of so many mails to an address; all links lead to the console. */
async function linkTo(address: string, count = 1): Promise<string> {
  const mails = await mail.mailsTo(address, count);
  const links = textOf(mails.at(-1)).match(/^https?:\/\/\S+$/gm) ?? [];
  for (const link of links) expect(link.startsWith(`${pages.url}/`), link).toBe(true);
  return links.at(-1) as string;
}

/** Shares a new observation of the administrator. */
async function shareWith(contact_value: string): Promise<string> {
  const body = {
    observed_at: '2026-03-01T08:15:00Z',
    capture_point: { lat: 1, lon: 2 },
    message: 'Rust on the leaves',
  };
  const { packet_uuid } = (await admin.send('POST', '/packet/intake/scouting', body)).body;
  const shared = await admin.send('POST', '/packet/shares', { packet_id: packet_uuid, contact_value });
  expect(shared.status, shared.text).toBe(201);
  return packet_uuid;
}

/** The account shows the effect of accepting an invitation, and can undo it. */
async function expectTakenBack(page: Browser['page'], email: string): Promise<void> {
  const found = () =>
    pages.query('packet_service', 'SELECT user_id FROM directory_contacts WHERE contact = $1', [email]);
  expect(await found()).toHaveLength(1);
  await openOwnMenu(page);
  await page.getByRole('link', { name: 'Your account' }).first().click();
  const box = page.getByLabel('Others can share packets');
  await expect.poll(() => box.isChecked()).toBe(true);
  await box.uncheck();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Profile saved').waitFor();
  expect(await found()).toEqual([]);
}

/** The link of a mail is not offered a second time. */
async function expectUsed(page: Browser['page'], invitation: string): Promise<void> {
  await page.goto(invitation);
  await page.getByText('This invitation has already been answered').waitFor();
  expect(new URL(page.url()).search).toBe('');
  expect(await page.getByLabel('Link from the email').isVisible()).toBe(false);
  await expectAccessible(page);
}

/** Confirms an address by the second mail to it; once more it says that it may have happened. */
async function confirmAddress(page: Browser['page'], email: string): Promise<void> {
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  await page.goto(await linkTo(email, 2));
  await expectAccessible(page);
  await page.getByLabel('Password of the account').fill('not the password');
  await press('Confirm');
  await page.getByText('The password is missing or wrong').first().waitFor();
  await page.getByLabel('Password of the account').fill(PASSPHRASE);
  await press('Confirm');
  await page.getByText('Your email address is confirmed').waitFor();
  await page.getByText('An administrator must now activate your account').waitFor();
  await page.getByRole('link', { name: 'Log in' }).waitFor();
  await expectAccessible(page);
  await page.reload();
  await page.getByLabel('Password of the account').fill(PASSPHRASE);
  await press('Confirm');
  await page.getByRole('alert').getByText('If you have already confirmed your address, log in').waitFor();
  await page.getByRole('link', { name: 'Resend the email' }).waitFor();
  await page.getByRole('link', { name: 'Log in' }).waitFor();
  await expectAccessible(page);
}

/** Invitations to another address and to the user's own are accepted by code. */
async function expectCodesAccepted(page: Browser['page'], email: string): Promise<void> {
  const other = 'of-the-cooperative@example.org';
  await shareWith(other);
  const theirs = await linkTo(other);
  await page.goto(theirs);
  await page.getByText('Others can then find you by this address').waitFor();
  await page.getByRole('group').getByRole('button', { name: 'Accept' }).click();
  await page.getByText('Accepted: 1 packet is in your inbox').waitFor();
  expect(new URL(page.url()).search).toBe('');
  await expectUsed(page, theirs);
  // Who accepts one to their own address by its code is found by it.
  await shareWith(email);
  const code = tokenIn((await mail.mailsTo(email, 4)).at(-1));
  await page.goto(`${pages.url}/inbox`);
  await page.getByText('I have an invitation code').click();
  await page.getByLabel('Link from the email').fill(code);
  await page.getByRole('group').getByRole('button', { name: 'Accept' }).click();
  await page.getByText('Accepted: 1 packet is in your inbox').waitFor();
  await expectTakenBack(page, email);
}

test('an invited stranger goes from the email through registration and confirmation to the shared packet', async () => {
  const { page } = browser;
  const email = 'invited@example.org';
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  await shareWith(email);
  const invitation = await linkTo(email);
  expect(textOf(mail.mails.at(-1))).toMatch(/^First Administrator wants to share an observation/m);
  await page.goto(invitation);
  await page.getByText('Log in to accept the invitation').waitFor();
  await expectAccessible(page);
  await page.getByRole('link', { name: 'Create an account' }).click();
  await page.getByText('Log in to accept the invitation').waitFor();
  await page.getByLabel('Given name').fill('Zawadi');
  await page.getByLabel('Family name').fill('Mwangi');
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill(PASSPHRASE);
  await press('Create account');
  await page.getByText(`An email is on its way to ${email}`).waitFor();
  expect((await pages.send('GET', '/instance.json')).body).toEqual({
    mail_server: true,
    auth_mode: 'optional',
  });
  expect(await page.getByText('This installation doesn’t send emails').count()).toBe(0);

  await confirmAddress(page, email);
  // The administrator's mail leads to the user who waits.
  const notice = await linkTo(ADMIN.username);
  await logInByForm(page, notice, ADMIN.username, ADMIN.password);
  await press(`Manage ${email}`);
  await page.getByRole('dialog').getByRole('button', { name: 'Activate' }).click();
  await page.getByText(`${email} activated`).waitFor();
  await page.context().clearCookies();
  expect(await linkTo(email, 3)).toBe(`${pages.url}/`);

  await logInByForm(page, invitation, email, PASSPHRASE);
  await page.getByText('First Administrator wants to share a packet with you').waitFor();
  await page.getByText(`When you accept, the packets shared with ${email} appear in your inbox`).waitFor();
  expect(await page.getByText('Nobody has shared anything').count()).toBe(0);
  expect(new URL(page.url()).search).toBe('');
  await expectAccessible(page);
  // It is to the address of the account: one button accepts it.
  await page.getByRole('button', { name: 'Accept' }).click();
  await page.getByText('wants to share a packet with you').waitFor({ state: 'detached' });
  await expect.poll(() => page.getByText('wants to share a packet').count()).toBe(0);
  // The packet need not be accepted once more.
  const row = page.getByRole('row').filter({ hasText: 'Rust on the leaves' });
  await row.getByRole('cell', { name: 'Accepted' }).waitFor();
  expect(await row.getByRole('button').count()).toBe(0);
  await expectUsed(page, invitation);
  await row.getByRole('cell', { name: 'Accepted' }).waitFor();
  const expected = (complaint: string) => complaint.includes('404');
  expect(realComplaints(browser).filter(one => !expected(one))).toEqual([]);
  // Whether others find the account stays as it is.
  expect(
    await pages.query('packet_service', 'SELECT FROM directory_contacts WHERE contact = $1', [email]),
  ).toEqual([]);

  await expectCodesAccepted(page, email);
});

test('a user without a confirmed address sees that, and confirms it with an email and the password', async () => {
  const { page } = browser;
  const { id, email } = await pages.newUser();
  await pages.query('trace_backend', 'UPDATE users SET email_confirmed_at = NULL WHERE id = $1', [id]);
  await shareWith(email);
  await logIn(page, pages.url, email);
  await expectAccessible(page);
  expect(await page.getByText('1 invitation to a shared packet').count()).toBe(0);
  await page.getByRole('link', { name: 'Inbox' }).first().click();
  await page.getByText(`To receive what others share with ${email}, confirm that`).waitFor();
  await expectAccessible(page);
  await page.getByRole('link', { name: 'Home' }).first().click();
  await page.getByRole('link', { name: 'You haven’t confirmed your email address' }).click();
  await page.getByText('You haven’t confirmed this address').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Send confirmation link' }).click();
  await page.getByText(`An email with a link is on its way to ${email}`).waitFor();
  await page.goto(await linkTo(email, 2));
  await page.getByRole('link', { name: 'Don’t know the password?' }).waitFor();
  await page.getByLabel('Password of the account').fill(PASSWORD);
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.getByText('Your account is active').waitFor();
  await page.goto(`${pages.url}/inbox`);
  await page.getByText('First Administrator wants to share a packet with you').waitFor();
  expect(realComplaints(browser)).toEqual([]);
});

test('the email for a forgotten password leads to a form for a new one, which logs in', async () => {
  const { page } = browser;
  const { email } = await pages.newUser();
  await page.goto(`${pages.url}/forgotten-password`);
  await page.getByLabel('Email address').fill(email);
  await page.getByRole('button', { name: 'Send me a link' }).click();
  await page.getByText('If there is an account with this address').waitFor();
  const link = await linkTo(email);
  // The link works in any browser.
  await logIn(page, pages.url, (await pages.newUser()).email);
  await page.goto(link);
  await page.getByLabel('Password').fill('short');
  await page.getByRole('button', { name: 'Set password' }).click();
  await page.locator('[aria-invalid=true]').waitFor();
  await expectAccessible(page);
  await page.getByLabel('Password').fill(PASSPHRASE);
  await page.getByRole('button', { name: 'Set password' }).click();
  await page.getByText('Password set').waitFor();
  await page.getByRole('link', { name: 'Go to the start' }).click();
  await page.getByRole('heading', { name: 'Welcome, Ana' }).waitFor();
});

test('both emails of a change of address are confirmed in the console', async () => {
  const { page } = browser;
  const { email } = await pages.newUser();
  const changed = `new-${email}`;
  const { send } = await pages.login(email);
  const change = { email: changed, currentPassword: PASSWORD };
  expect((await send('POST', '/trace/api/user/email_change', change)).status).toBe(200);
  for (const [address, says] of [
    [email, 'The address changes once the other address is also confirmed'],
    [changed, 'Your email address has been changed'],
  ] as const) {
    await page.goto(await linkTo(address));
    await page.getByLabel('Password of the account').fill(PASSWORD);
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByText(says).waitFor();
  }
});

/** A new company, whose administrator does something with it. */
async function companyWith(boss: { id: number; email: string }, name: string) {
  const { send } = admin;
  const companyId = (await send('POST', '/trace/api/company/create', { name })).body.data.id;
  const act = async (by: typeof send, action: string, body: object) => {
    const answer = await by('POST', `/trace/api/company/execute/${action}`, { companyId, ...body });
    expect(answer.status, answer.text).toBe(200);
  };
  await act(send, 'ACTIVATE_COMPANY', {});
  await act(send, 'ADD_USER_TO_COMPANY', { userId: boss.id });
  await act(send, 'SET_USER_COMPANY_ROLE', { userId: boss.id, companyUserRole: 'COMPANY_ADMIN' });
  const own = await pages.login(boss.email);
  return (action: string, body: object, by = own.send) => act(by, action, body);
}

test('a company invitation is answered from its email', async () => {
  const { page } = browser;
  const boss = await pages.newUser('USER', { name: 'Ana', surname: 'Boss' });
  const member = await pages.newUser();
  const act = await companyWith(boss, 'Coop. <Kopakama> "U" & Sons');
  await act('ADD_USER_TO_COMPANY', { userId: member.id });
  const invitation = await linkTo(member.email);
  const named = { value: 'Kigali Fields', isPublic: true };
  await admin.send('POST', '/trace/api/common/globalSettings/INSTANCE_NAME', named);
  await act('ADD_USER_TO_COMPANY', { email: 'nobody-yet@example.org' });
  const [toNobody] = await mail.mailsTo('nobody-yet@example.org');
  expect(toNobody?.raw).toMatch(/^Subject: Kigali Fields: A company invites you$/m);
  expect(textOf(toNobody)).toMatch(/^Ana Boss invites you\.$[\s\S]*^Kigali Fields$/m);
  expect(textOf(toNobody)).toContain(`on Kigali Fields (${new URL(pages.url).host}) invites you`);
  const operator = await pages.newUser('SYSTEM_ADMIN');
  // An administrator of the instance does not act for the company.
  await act(
    'ADD_USER_TO_COMPANY',
    { email: 'nobody-more@example.org' },
    (await pages.login(operator.email)).send,
  );
  expect(textOf((await mail.mailsTo('nobody-more@example.org'))[0])).not.toMatch(/invites you\.$/m);
  await shareWith('found-by-nobody@example.org');
  const [invited] = await mail.mailsTo('found-by-nobody@example.org');
  expect(invited?.raw).toMatch(
    /^Subject: Kigali Fields: You are invited to read observations from the field$/m,
  );
  await admin.send('POST', '/trace/api/common/globalSettings/INSTANCE_NAME', { value: '' });
  expect(textOf(mail.mails.find(({ to }) => to.includes(member.email)))).toContain(
    `The company "Coop. <Kopakama> "U" & Sons" on ${new URL(pages.url).host} invites you to act for it as a member.`,
  );
  await page.goto(invitation);
  await page.getByRole('heading', { name: 'Company invitation' }).waitFor();
  await page.getByText('Coop. <Kopakama> "U" & Sons invites you. Your role: member').waitFor();
  await expectAccessible(page);
  expect(await page.getByText('that account becomes a member').count()).toBe(0);
  await logIn(page, pages.url, operator.email);
  await page.goto(`${pages.url}/register`);
  await page.getByText(`You are logged in as ${operator.email}`).waitFor();
  await expectAccessible(page);
  await page.goto(invitation);
  await page.getByText(`The invitation is for ${member.email}: that account becomes a member`).waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Accept' }).click();
  await page.getByText(`${member.email} is now a member of the company`).waitFor();
  await page.goto(invitation);
  await page.getByText('This invitation has already been answered').waitFor();
  expect(await page.getByRole('button', { name: 'Accept' }).count()).toBe(0);
  await expectAccessible(page);
  await page.context().clearCookies();
  const { body } = await (await pages.login(member.email)).send('GET', '/trace/api/company/list');
  expect(body.data.items).toHaveLength(1);
});

test('people without an account register from the email of an invitation, and join with its link once activated', async () => {
  const { page } = browser;
  const act = await companyWith(await pages.newUser(), 'Kopanyi');
  const email = 'late+comer&co@example.org';
  await act('ADD_USER_TO_COMPANY', { email });
  const invitation = await linkTo(email);
  await page.goto(invitation);
  await page.getByText(`To accept, create an account with ${email}`).waitFor();
  expect(await page.getByRole('button', { name: 'Accept' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Decline' }).waitFor();
  await expectAccessible(page);
  const [link] = textOf((await mail.mailsTo(email))[0]).match(/^https?:\S+\/register\S+$/m) ?? [];
  expect(link).toBe(`${pages.url}/register#email=late%2Bcomer%26co%40example.org`);
  const asked: string[] = [];
  const note = (request: { url(): string; headers(): Record<string, string> }) =>
    asked.push(`${request.url()} ${request.headers().referer}`);
  page.on('request', note);
  await page.goto(link as string);
  await expect.poll(() => page.getByLabel('Email address').inputValue()).toBe(email);
  await expectAccessible(page);
  await page.getByLabel('Given name').fill('Late');
  await page.getByLabel('Family name').fill('Comer');
  await page.getByLabel('Password').fill(PASSPHRASE);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByText('Account created').waitFor();
  page.off('request', note);
  // Playwright shows the fragment of the page itself, which no browser sends.
  expect(asked.filter(one => one !== `${link} undefined` && /comer/.test(one))).toEqual([]);
  expect(await linkTo(email, 2)).toMatch(/\/confirm-email\/[\w-]+$/);

  await page.goto(invitation);
  await page.getByText(`an administrator has not activated ${email} yet`).waitFor();
  await expectAccessible(page);
  const [late] = (await pages.query('trace_backend', 'SELECT id FROM users WHERE email = $1', [email])) as [
    { id: number },
  ];
  await admin.send('POST', '/trace/api/user/admin/execute/ACTIVATE_USER', late);
  await page.reload();
  await page.getByText(`Enter the password of the account ${email}`).waitFor();
  await expectAccessible(page);
  await page.getByLabel('Password of the account').fill(PASSPHRASE);
  await page.getByRole('button', { name: 'Accept' }).click();
  await page.getByText(`${email} is now a member of the company`).waitFor();
});

test('administrators see, resend and dismiss a refused email about an account', async () => {
  const { page } = browser;
  mail.behaviour = 'refuse';
  const people = ['first-refused@example.org', 'second-refused@example.org'];
  for (const email of people) {
    const person = { email, password: PASSPHRASE, name: 'Zawadi', surname: 'Mwangi' };
    const { status } = await pages.send('POST', '/trace/api/user/register', person, { origin: pages.url });
    expect(status).toBe(200);
  }
  const failed = async () =>
    (await admin.send('GET', '/trace/api/administration/jobs')).body.data.failedMails as number;
  await eventually(failed, count => count === 2);
  await logIn(page, pages.url, ADMIN.username, ADMIN.password);
  await page.getByRole('link', { name: '2 emails about accounts could not be delivered' }).click();
  const row = (email: string) => page.getByRole('row').filter({ hasText: email });
  for (const email of people) {
    await row(email).getByText('Address confirmation').waitFor();
    await row(email).getByText('refused the mail (550): no such mailbox <…>').waitFor();
  }
  await expectAccessible(page);
  const confirm = async (name: string) => {
    await page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  };
  await page.goto(`${pages.url}/administration/health`);
  await page.getByText('The last email could not be sent').waitFor();
  await page.getByText('2 failed').waitFor();
  await expectAccessible(page);
  await page.getByRole('link', { name: 'Failed emails' }).click();
  const [first = '', second = ''] = people;
  await row(second).getByRole('button', { name: 'Dismiss' }).click();
  await confirm('Dismiss');
  await row(second).waitFor({ state: 'detached' });

  mail.behaviour = 'take';
  await row(first).getByRole('button', { name: 'Send again' }).click();
  await confirm('Send again');
  await page.getByText('1 delivery will be retried').waitFor();
  await page.getByText('Nothing has failed').waitFor();
  await page.goto(await linkTo(first));
  await page.getByLabel('Password of the account').fill(PASSPHRASE);
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.getByText('Your email address is confirmed').waitFor();
  await page.goto(`${pages.url}/administration/audit?entity=mail`);
  await page.getByText('had an email sent again: Address confirmation').waitFor();
  await page.getByText('dismissed a failed email: Address confirmation').waitFor();
  await page.getByText('To: Zawadi Mwangi').first().waitFor();
  await expectAccessible(page);
});

test('the inbox has shared packets, and an address that an app has entered', async () => {
  const { page } = browser;
  const [user, address] = [await pages.newUser(), 'other-address@example.org'];
  const { send } = await pages.login(user.email);
  const entry = { contacts: [address], discoverable: true };
  expect((await send('PUT', `/packet/directory/users/${user.id}`, entry)).status).toBe(200);
  await logInByForm(page, await linkTo(address), user.email);
  await page.getByText('others can use it to share packets with you').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.getByText('Address confirmed').waitFor();
  await shareWith(address);
  expect(await linkTo(address, 2)).toBe(`${pages.url}/inbox`);
  expect(textOf(mail.mails.at(-1))).toMatch(/^First Administrator shared an observation/m);
});

test('a first administrator without a mailbox enters an address, which alone confirms the change', async () => {
  const { page } = browser;
  const { id } = await pages.newUser('SYSTEM_ADMIN');
  await pages.query(
    'trace_backend',
    "UPDATE users SET email = 'admin@fieldtrace.local', email_key = 'admin@fieldtrace.local' WHERE id = $1",
    [id],
  );
  await logIn(page, pages.url, 'admin@fieldtrace.local');
  const need = page.getByRole('link', { name: 'Your email address can’t receive emails' });
  await need.waitFor();
  await page.goto(`${pages.url}/first-run?step=address`);
  await page.getByText('admin@fieldtrace.local is a placeholder').waitFor();
  await page.getByText('Step 3 of 6').waitFor();
  await page.getByLabel('Email address').fill('grace@example.org');
  await page.getByLabel('Current password').fill(PASSWORD);
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByLabel('What do you see?').waitFor();
  await page.getByText('open the link sent to grace@example.org').waitFor();
  await page.getByRole('button', { name: 'Skip' }).click();
  await page.getByRole('heading', { name: 'Done' }).waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'Done' }).waitFor();
  await page.getByText('open the link sent to grace@example.org').waitFor();
  await expectAccessible(page);
  await page.goto(`${pages.url}/account`);
  await page.getByText('Your address changes to grace@example.org once you confirm it').waitFor();
  await page.goto(await linkTo('grace@example.org'));
  await page.getByText('confirm that its email address changes').waitFor();
  await page.getByLabel('Password of the account').fill(PASSWORD);
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.getByText('Your email address has been changed').waitFor();
  await page.goto(pages.url);
  await page.getByRole('heading', { name: 'Needs attention' }).waitFor();
  await page.getByRole('link', { name: 'No backups yet' }).waitFor();
  expect(await need.count()).toBe(0);
  // Those who have an address are not asked for one, and the last step knows.
  await page.goto(`${pages.url}/first-run?step=address`);
  await page.getByText('Step 3 of 5').waitFor();
  await page.getByRole('button', { name: 'Skip' }).click();
  await page.getByText('Your email address is grace@example.org').waitFor();
});

test('packets shared before their recipient could be found wait in the inbox, and for that setting', async () => {
  const { page } = browser;
  const { email } = await pages.newUser();
  await shareWith(email);
  await logIn(page, pages.url, email);
  await page.getByRole('link', { name: '1 invitation to a shared packet is waiting for you' }).click();
  await page.getByText('First Administrator wants to share a packet with you').waitFor();
  await page.getByText(`When you accept, the packets shared with ${email} appear in your inbox`).waitFor();
  await expectAccessible(page);
  expect(await page.getByRole('button', { name: 'Accept all' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Accept' }).click();
  await page.getByText('wants to share a packet with you').waitFor({ state: 'detached' });
  const row = page.getByRole('row').filter({ hasText: 'Rust on the leaves' });
  await row.getByText('Observation').waitFor();
  await row.getByRole('cell', { name: 'Accepted' }).waitFor();
  await row.getByRole('cell', { name: 'First Administrator' }).waitFor();
  expect(await page.getByText('wants to share a packet').count()).toBe(0);
  await expectAccessible(page);

  await shareWith(email);
  await page.goto(`${pages.url}/account`);
  await page.getByLabel('Others can share packets').check();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('1 packet that was waiting for you is in your inbox').waitFor();
  expect(realComplaints(browser)).toEqual([]);
});

test('emails about shares have the language of their reader, and fit the state of their account', async () => {
  const [known, waiting, found] = [await pages.newUser(), await pages.newUser(), await pages.newUser()];
  const set = (id: number, change: string) =>
    pages.query('trace_backend', `UPDATE users SET ${change} WHERE id = $1`, [id]);
  await set(known.id, "language = 'DE'");
  await set(waiting.id, "language = 'ES', status = 'CONFIRMED_EMAIL'");
  await set(found.id, "language = 'RW', discoverable = true");
  const stranger = 'has-none@example.org';
  const text = async (address: string) => {
    await shareWith(address);
    return textOf((await mail.mailsTo(address))[0]);
  };
  const decoded = (raw: string) => Buffer.from(raw.replaceAll(/=([0-9A-F]{2})/g, '%$1')).toString();
  const inbox = `${pages.url}/inbox`;
  const german = decoded(await text(known.email));
  expect(german).toContain('Sie wartet in Ihrem Eingang. Melden Sie sich an');
  expect(german.split('\n')).toContain(inbox);
  expect(german).not.toMatch(/register|Konto an/);
  const spanish = decoded(await text(waiting.email));
  expect(spanish).toMatch(/Su cuenta a.+n no est.+ activa/);
  expect(spanish).not.toContain('invitation=');
  expect(await text(found.email)).toContain('yagusangije ibyabonetse mu murima');
  const english = await text(stranger);
  expect(english).toContain('create an account with this email address');
  expect(english).toContain(`${pages.url}/register#email=has-none%40example.org`);
  expect(english).toContain('Anyone who accepts with this code can then be found by this address.');
});

test('waiting invitations show their content, and are accepted and declined one by one', async () => {
  const { page } = browser;
  const { email } = await pages.newUser();
  for (let n = 0; n < 4; n++) await shareWith(email);
  await mail.mailsTo(email, 4);
  await logIn(page, `${pages.url}/inbox`, email);
  const waiting = page.getByRole('listitem').filter({ hasText: 'wants to share a packet with you' });
  await expect.poll(() => waiting.count()).toBe(4);
  await waiting.first().getByText('Rust on the leaves').waitFor();
  await waiting.first().getByText('Observation').waitFor();
  await expectAccessible(page);
  await waiting.first().getByRole('button', { name: 'Accept' }).click();
  await expect.poll(() => waiting.count()).toBe(3);
  await waiting.first().getByRole('button', { name: 'Decline' }).click();
  await expect.poll(() => waiting.count()).toBe(2);
  await page.getByRole('cell', { name: 'Accepted' }).waitFor();
  await page.getByRole('cell', { name: 'Declined' }).waitFor();
  await page.getByRole('button', { name: 'Accept all' }).click();
  await page.getByText('Accepted: 2 packets are in your inbox').waitFor();
  await expect.poll(() => waiting.count()).toBe(0);
  await expect.poll(() => page.getByRole('cell', { name: 'Accepted' }).count()).toBe(3);
  // A later mail shows that none was on its way about what was answered in the inbox.
  await shareWith(email);
  const mails = await mail.mailsTo(email, 5);
  expect(mails.map(({ raw }) => /^Subject: (.*)$/m.exec(raw)?.[1])).toEqual(
    mails.map(() => 'You are invited to read observations from the field'),
  );
});

test('emails link to the console if its address is set, and otherwise to pages of the services', () => {
  const urls = (environment: Record<string, string>, listening?: string) => {
    const settings = readSettings(environment);
    return [consoleUrl(settings, listening), consoleUrlOfPackets(settings, listening)];
  };
  const both = (url: string | undefined) => [url, url];
  expect(urls({}, 'http://127.0.0.1:1234')).toEqual(both('http://127.0.0.1:1234'));
  // Before it listens, the settings say where it will.
  expect(urls({})).toEqual(both('http://127.0.0.1:8090'));
  expect(urls({ HOST: '::1', CONSOLE_PORT: '81' })).toEqual(both('http://[::1]:81'));
  expect(urls({ CONSOLE_PORT: '0' })).toEqual(both(undefined));
  const named = { CONSOLE_PUBLIC_URL: 'https://console.example/' };
  expect(urls({ ...named, PUBLIC_URL: 'https://field.example', SERVICES: 'trace' })).toEqual(
    both('https://console.example'),
  );
  for (const other of [
    { SERVICES: 'packet,trace' },
    { PUBLIC_URL: 'https://field.example' },
    { TRACE_PUBLIC_URL: 'https://trace.example' },
  ] as Record<string, string>[]) {
    expect(urls(other, 'http://127.0.0.1:1234')).toEqual(both(undefined));
  }
  // The console cannot log in to the registry that the packet service asks.
  const elsewhere = { USER_REGISTRY_URL: 'https://users.example/api', ...named };
  expect(urls(elsewhere)).toEqual(['https://console.example', undefined]);
});
