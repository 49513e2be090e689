import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Browser } from '../../helpers/browser.ts';
import { type RunningConsole, runningConsole } from '../../helpers/console.ts';
import {
  consoleBrowser,
  DESKTOP,
  expectAccessible,
  logIn,
  logInByForm,
  logOut,
  openOwnMenu,
  PHONE,
  realComplaints,
} from '../../helpers/console-page.ts';
import { sender } from '../../helpers/service.ts';
import { ADMIN, PASSWORD } from '../../helpers/trace.ts';

let pages: RunningConsole;
let browser: Browser;
beforeAll(async () => {
  pages = await runningConsole();
  browser = await consoleBrowser(pages);
});
afterAll(async () => {
  await browser.close();
  await pages.stop();
});
beforeEach(() => browser.page.context().clearCookies());

const observation = { observed_at: '2020-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };

test('the only administrator begins with the first run, and then with users, backups and email', async () => {
  const { page } = browser;
  await logIn(page, pages.url, ADMIN.username, ADMIN.password);
  await page.getByRole('heading', { name: 'Set up this instance' }).waitFor();
  await page.getByRole('link', { name: 'No backups yet' }).waitFor();
  const begin = page.getByRole('heading', { name: 'Getting started' });
  expect(await begin.count()).toBe(0);
  const { send } = await pages.login(ADMIN.username, ADMIN.password);
  const done = { value: 'step=done', isPublic: false };
  await send('POST', '/trace/api/common/globalSettings/FIRST_STEP', done);
  await page.reload();
  await begin.waitFor();
  await page.getByRole('heading', { name: 'As an administrator' }).waitFor();
  await expectAccessible(page);
  for (const [name, href] of [
    ['Let others in', '/administration/users'],
    ['Set up backups', '/administration/backups'],
    ['Check that emails are sent', '/administration/settings?query=SMTP_URL'],
  ] as const) {
    expect(await page.getByRole('link', { name }).getAttribute('href')).toBe(href);
  }
  await pages.newUser();
  await page.reload();
  await begin.waitFor();
  expect(await page.getByRole('heading', { name: 'As an administrator' }).count()).toBe(0);
  await pages.query('trace_backend', "DELETE FROM global_settings WHERE name = 'FIRST_STEP'");
});

test('a day without packets says so, and packets are counted by hour and open as a list', async () => {
  const { page } = browser;
  const { email } = await pages.newUser('USER', { name: '<b>Ana</b>', surname: 'x' });
  const { send } = await pages.login(email);
  await logIn(page, pages.url, email);
  await page.getByRole('heading', { name: 'Welcome, <b>Ana</b>' }).waitFor();
  await page.getByText('No packets today').waitFor();
  await page.getByText('Nothing needs your attention.').waitFor();
  await expectAccessible(page);
  for (let n = 0; n < 3; n++) await send('POST', '/packet/intake/scouting', observation);
  // It appears automatically.
  await page.getByText('3 packets').waitFor();
  const counted = page.getByRole('link', { name: /o’clock: 3$/ });
  await counted.waitFor();
  await expectAccessible(page);
  await page.setViewportSize(PHONE);
  const hour = await page.locator('svg').getByText('00', { exact: true }).boundingBox();
  expect(hour?.height, 'its digits are beside each other').toBeLessThan(20);
  await page.setViewportSize(DESKTOP);
  // Observed in 2020, and came in during this hour.
  await counted.click();
  await page.getByText('Only packets received from').waitFor();
  const rows = page.getByRole('table').locator('tbody tr');
  await expect.poll(() => rows.count()).toBe(3);
  await expectAccessible(page);
  await page.goBack();
  await page
    .getByRole('link', { name: /o’clock: 0$/ })
    .first()
    .click();
  await page.getByText('No matching packets').waitFor();
  await page.getByRole('button', { name: 'Show all times' }).click();
  await expect.poll(() => rows.count()).toBe(3);
  expect(realComplaints(browser)).toEqual([]);
});

test('new users see where to begin until they have begun or hide it', async () => {
  const { page } = browser;
  const { email } = await pages.newUser();
  const { send } = await pages.login(email);
  await logIn(page, pages.url, email);
  const begin = page.getByRole('heading', { name: 'Getting started' });
  await begin.waitFor();
  const groups = () => page.getByRole('heading', { level: 3 }).allInnerTexts();
  expect(await groups()).toEqual(['In the field', 'In the office']);
  await expectAccessible(page);
  for (const [name, path, heading] of [
    ['Send a first observation', '/observations/new', 'New observation'],
    ['See what others share', '/inbox', 'Inbox'],
    ['Write to others', '/threads', 'Threads'],
    ['Add your company', '/companies/new', 'New company'],
    ['Describe a first product', '/products/new', 'New product'],
    ['Give a product its label', '/products', 'Products'],
  ] as const) {
    await page.getByRole('link', { name }).click();
    await page.getByRole('heading', { name: heading, exact: true }).waitFor();
    expect(new URL(page.url()).pathname).toBe(path);
    await page.goBack();
    await begin.waitFor();
  }
  // Somebody else's observation is no beginning of one's own.
  const other = await pages.login((await pages.newUser()).email);
  await other.send('POST', '/packet/intake/scouting', observation);
  await page.reload();
  await begin.waitFor();
  expect(await groups()).toEqual(['In the field', 'In the office']);
  await send('POST', '/packet/intake/scouting', observation);
  await page.reload();
  await begin.waitFor();
  expect(await groups()).toEqual(['In the office']);

  await page.getByRole('button', { name: 'Hide this' }).click();
  await begin.waitFor({ state: 'detached' });
  await page.reload();
  await page.getByRole('heading', { name: 'Needs attention' }).waitFor();
  await expect.poll(() => page.getByText('packets').count()).toBeGreaterThan(0);
  expect(await begin.count()).toBe(0);
  // Another user of this browser has not hidden it.
  await page.context().clearCookies();
  const ben = await pages.newUser();
  await logIn(page, pages.url, ben.email);
  await begin.waitFor();

  const { send: bens } = await pages.login(ben.email);
  await bens('POST', '/packet/chat/threads', { name: 'Lot 7' });
  await bens('POST', '/trace/api/company/create', { name: 'Kopanyi' });
  const asked = ['/chat/threads?', '/shares/inbox?limit=1', '/company/list?'].map(part =>
    page.waitForResponse(response => response.url().includes(part)),
  );
  await page.reload();
  await page.getByText('packets').first().waitFor();
  await Promise.all((await Promise.all(asked)).map(response => response.finished()));
  expect(await begin.count()).toBe(0);
});

test('open tasks are listed for users, with more for administrators', async () => {
  const { page } = browser;
  const [ana, ben] = [await pages.newUser(), await pages.newUser('SYSTEM_ADMIN')];
  const [sender, receiver] = [await pages.login(ana.email), await pages.login(ben.email)];
  await receiver.send('PUT', '/trace/api/user/profile', { discoverable: true });
  const { packet_uuid } = (await sender.send('POST', '/packet/intake/scouting', observation)).body;
  await sender.send('POST', '/packet/shares', { packet_id: packet_uuid, contact_value: ben.email });
  const waiting = await pages.newUser();
  await pages.query('trace_backend', "UPDATE users SET status = 'CONFIRMED_EMAIL' WHERE id = $1", [
    waiting.id,
  ]);
  const unconfirmed = await pages.newUser();
  await pages.query('trace_backend', "UPDATE users SET status = 'UNCONFIRMED' WHERE id = $1", [
    unconfirmed.id,
  ]);
  await logIn(page, pages.url, ben.email);
  await page.getByText('1 shared packet is waiting for your answer').waitFor();
  const backups = page.getByRole('link', { name: 'No backups yet' });
  expect(await backups.getAttribute('href')).toBe('/administration/backups');
  const mails = page.getByRole('link', { name: 'Email isn’t set up, so nobody receives links' });
  expect(await mails.getAttribute('href')).toBe('/administration/settings?query=SMTP_URL');
  await expectAccessible(page);
  await sender.send('POST', '/packet/shares', {
    packet_id: (await sender.send('POST', '/packet/intake/scouting', observation)).body.packet_uuid,
    contact_value: ben.email,
  });
  await page.getByText('2 shared packets are waiting for your answer').waitFor();
  await page.getByRole('link', { name: '1 user is waiting for activation' }).click();
  await page.getByRole('button', { name: `Manage ${waiting.email}` }).waitFor();
  await page.goBack();
  await page.getByRole('link', { name: '1 user has not confirmed their address' }).click();
  await page.getByRole('button', { name: `Manage ${unconfirmed.email}` }).waitFor();
});

/** Where the observations with a message were made. */
async function placesOf(message: string): Promise<object[]> {
  const { send } = await pages.login((await pages.newUser('SYSTEM_ADMIN')).email);
  const { packets } = (await send('GET', '/packet/packets?type=note')).body;
  return packets
    .filter(({ Body }: { Body: { message?: string } }) => Body.message === message)
    .map(({ Body }: { Body: { capture_point: object } }) => Body.capture_point);
}

test('the first run leads from the name of the instance to the first shared packet', async () => {
  const { page } = browser;
  await logIn(page, pages.url, ADMIN.username, ADMIN.password);
  const firstPassword = page.getByRole('link', { name: 'You are still using your initial password' });
  await firstPassword.waitFor();
  expect(await firstPassword.getAttribute('href')).toBe('/account/security');
  await page.getByRole('link', { name: 'Begin' }).click();
  await page.getByLabel('Instance name').fill('Kivu <i>Growers</i>');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByLabel('Current password').waitFor();
  await page.goto(pages.url);
  await page.getByRole('heading', { name: 'Set up this instance' }).waitFor();
  await expectAccessible(page);
  await page.getByRole('link', { name: 'Continue', exact: true }).click();
  await page.getByLabel('Given name').fill('Diane');
  await page.getByLabel('Family name').fill('Umutoni');
  await page.getByLabel('Current password').fill(ADMIN.password);
  await page.getByLabel('New password').fill(PASSWORD);
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByLabel('What do you see?').fill('Leaf rust');
  await expectAccessible(page);
  // A laptop without a position: it is typed.
  const send = page.getByRole('button', { name: 'Send the observation' });
  const [lat, lon] = [page.getByLabel('Latitude'), page.getByLabel('Longitude')];
  await send.click();
  expect(await placesOf('Leaf rust')).toEqual([]);
  await lat.fill('91');
  await lon.fill('30.06');
  await send.click();
  await expectAccessible(page);
  expect(await placesOf('Leaf rust')).toEqual([]);
  await lat.fill('-1.95');
  await send.click();
  await page.getByLabel('Email address').fill('colleague@example.org');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Share it' }).click();
  await page.getByRole('heading', { name: 'Done' }).waitFor();
  await page.getByText('You do not need to share it again').waitFor();
  await page.getByText('This installation doesn’t send emails, so pass on the invitation yourself').waitFor();
  await page.getByText('in the folder “mail” of its data').waitFor();
  await expectAccessible(page);
  expect(await placesOf('Leaf rust')).toEqual([{ lat: -1.95, lon: 30.06 }]);
  await page.context().grantPermissions(['geolocation'], { origin: pages.url });
  await page.context().setGeolocation({ latitude: -1.5, longitude: 29.25, accuracy: 8 });
  await page.goto(`${pages.url}/first-run?step=observation`);
  await page.getByText('Found, within 8 m').waitFor();
  expect([await lat.inputValue(), await lon.inputValue()]).toEqual(['-1.5', '29.25']);
  await page.getByRole('button', { name: 'Skip' }).click();
  await page.getByRole('heading', { name: 'Done' }).waitFor();
  const notifications = await pages.query(
    'packet_service',
    'SELECT type FROM notifications WHERE contact = $1',
    ['colleague@example.org'],
  );
  expect(notifications).toEqual([{ type: 'invitation.sent' }]);
  await page.getByRole('link', { name: 'Go to the start' }).click();
  await page.getByRole('heading', { name: 'Needs attention' }).waitFor();
  for (const name of ['Begin', 'Continue'])
    expect(await page.getByRole('link', { name, exact: true }).count(), name).toBe(0);
  await page.getByRole('link', { name: 'No backups yet' }).waitFor();
  expect(await firstPassword.count()).toBe(0);

  await logOut(page);
  await page.getByText('Kivu <i>Growers</i>').waitFor();
  await logInByForm(page, pages.url, ADMIN.username, PASSWORD);
  await page.getByRole('heading', { name: 'Welcome, Diane' }).waitFor();
});

test('the guide names the screens in the navigation of each role, in their order', async () => {
  const { page } = browser;
  const text = await readFile('docs/guides/console.md', 'utf8');
  const rows = [...text.matchAll(/^\| ([^|]+) \| [^|]+ \| (everyone|administrators|SYSTEM_ADMIN) \|$/gm)];
  for (const [role, groups] of [
    ['USER', ['everyone']],
    ['REGIONAL_ADMIN', ['everyone', 'administrators']],
    ['SYSTEM_ADMIN', ['everyone', 'administrators', 'SYSTEM_ADMIN']],
  ] as const) {
    await page.context().clearCookies();
    await logIn(page, pages.url, (await pages.newUser(role)).email);
    const links = page.getByRole('navigation', { name: 'Main navigation' }).getByRole('link');
    await links.last().waitFor();
    await openOwnMenu(page);
    const own = page.getByRole('group', { name: 'Your menu' }).getByRole('link');
    const named = rows.filter(([, , whom]) => (groups as readonly string[]).includes(whom as string));
    expect(
      [...(await links.allInnerTexts()), ...(await own.allInnerTexts())].map(name => name.trim()),
      role,
    ).toEqual(named.map(([, name]) => name));
  }
});

/** Texts that claim that an email was sent. */
const CLAIMS =
  /on its way|They get a mail|An email is sent|Resend the email|Send me a link|have a new mail|that was sent/;
const claims = async () => CLAIMS.exec(await browser.page.locator('body').innerText())?.[0];
const press = (name: string) => browser.page.getByRole('button', { name, exact: true }).click();

/** The link that the page offers for copying. */
async function expectLink(): Promise<void> {
  const { page } = browser;
  await page
    .getByText('This installation doesn’t send emails, so pass on the invitation yourself')
    .first()
    .waitFor();
  await page.getByText(`${pages.url}/inbox`, { exact: true }).first().waitFor();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: pages.url });
  await page.getByRole('button', { name: 'Copy', exact: true }).first().click();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(`${pages.url}/inbox`);
}

test('without a mail server, inviters get the link to send, for members and for shared packets', async () => {
  const { page } = browser;
  const boss = await pages.newUser();
  const { send } = await pages.login(boss.email);
  const { body } = await send('POST', '/trace/api/company/create', { name: 'Growers' });
  await logIn(page, `${pages.url}/companies/${body.data.id}/members`, boss.email);
  await expectLink();
  await page.getByRole('textbox', { name: 'Email address' }).fill('new@example.org');
  await press('Invite a user');
  await page.getByText('Invited. Send them the link yourself').waitFor();
  expect(await claims()).toBeUndefined();
  await expectAccessible(page);

  const capture_point = { lat: 1, lon: 2 };
  const seen = { observed_at: '2026-03-01T08:15:00Z', capture_point, message: 'to share' };
  const packet = await send('POST', '/packet/intake/scouting', seen);
  await page.goto(`${pages.url}/packets/${packet.body.packet_uuid}`);
  await page.getByRole('button', { name: 'Share' }).first().click();
  await page.getByRole('dialog').getByLabel('Email address or phone number').fill('new@example.org');
  await page.getByRole('dialog').getByRole('button', { name: 'Share' }).click();
  await page.getByText('as soon as they log in with this address').waitFor();
  await expectLink();
  expect(await claims()).toBeUndefined();
  await expectAccessible(page);
});

test('without a mail server, health says that email reaches nobody and where the files are', async () => {
  const { page } = browser;
  const admin = await pages.newUser('SYSTEM_ADMIN');
  await logIn(page, `${pages.url}/administration/health`, admin.email);
  const { send } = await pages.login(admin.email);
  const { email } = await pages.newUser();
  await send('POST', '/trace/api/user/request_reset_password', { email });
  await page.getByText('Email isn’t set up, so nobody receives messages').waitFor();
  await page.getByText('to copy its link').waitFor();
  expect(await claims()).toBeUndefined();
  await expectAccessible(page);
});

test('without a mail server, users who wait for an email see whom to ask instead', async () => {
  const { page } = browser;
  const email = 'waits@example.org';
  const person = { email, password: PASSWORD, name: 'Wai', surname: 'Ting' };
  const { status } = await sender(pages.traceUrl)('POST', '/api/user/register', person);
  expect(status).toBe(200);
  await page.goto(pages.url);
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await press('Log in');
  await page.getByText('Ask an administrator to confirm your address').waitFor();
  expect(await claims()).toBeUndefined();

  await page.goto(`${pages.url}/confirm-email/used`);
  await page.getByLabel('Password').fill(PASSWORD);
  await press('Confirm');
  await page.getByText('This link has already been used').waitFor();
  await page.getByText('Ask an administrator to confirm your address').waitFor();
  expect(await claims()).toBeUndefined();

  for (const [path, text] of [
    ['resend-confirmation', 'Ask an administrator to confirm your address'],
    ['forgotten-password', 'to set a new password for you on the server'],
  ]) {
    await page.goto(`${pages.url}/${path}`);
    await page.getByText(text as string).waitFor();
    expect(await page.getByLabel('Email address').count(), path).toBe(0);
    await expectAccessible(page);
  }
});
