import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Browser } from '../../helpers/browser.ts';
import { type RunningConsole, runningConsole } from '../../helpers/console.ts';
import { consoleBrowser, expectAccessible, logIn } from '../../helpers/console-page.ts';
import { sender } from '../../helpers/service.ts';
import { ADMIN, PASSWORD } from '../../helpers/trace.ts';

let pages: RunningConsole;
let browser: Browser;
let boss: { id: number; email: string };
beforeAll(async () => {
  pages = await runningConsole();
  browser = await consoleBrowser(pages);
  boss = await pages.newUser();
});
afterAll(async () => {
  await browser.close();
  await pages.stop();
});
beforeEach(() => browser.page.context().clearCookies());

/** What would claim that a mail is sent. */
const CLAIMS =
  /on its way|They get a mail|A mail goes|Send the mail again|Send me a link|have a new mail|that was sent/;
const claims = async () => CLAIMS.exec(await browser.page.locator('body').innerText())?.[0];
const press = (name: string) => browser.page.getByRole('button', { name, exact: true }).click();

/** The link that the page offers for copying. */
async function expectLink(): Promise<void> {
  const { page } = browser;
  await page.getByText('This installation sends no mails: tell them yourself').first().waitFor();
  await page.getByText(`${pages.url}/inbox`, { exact: true }).first().waitFor();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Copy', exact: true }).first().click();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(`${pages.url}/inbox`);
}

test('who invites without a mail server gets the link to send, for members and for shared packets', async () => {
  const { page } = browser;
  const { send } = await pages.login(boss.email);
  const { body } = await send('POST', '/trace/api/company/create', { name: 'Growers' });
  await logIn(page, `${pages.url}/companies/${body.data.id}/members`, boss.email);
  await expectLink();
  await page.getByRole('textbox', { name: 'E-mail address' }).fill('new@example.org');
  await press('Invite a user');
  await page.getByText('Invited. Send them the link yourself').waitFor();
  expect(await claims()).toBeUndefined();
  await expectAccessible(page);

  const capture_point = { lat: 1, lon: 2 };
  const seen = { observed_at: '2026-03-01T08:15:00Z', capture_point, message: 'to share' };
  const packet = await send('POST', '/packet/intake/scouting', seen);
  await page.goto(`${pages.url}/packets/${packet.body.packet_uuid}`);
  await page.getByRole('button', { name: 'Share' }).first().click();
  await page.getByRole('dialog').getByLabel('E-mail address or phone number').fill('new@example.org');
  await page.getByRole('dialog').getByRole('button', { name: 'Share' }).click();
  await page.getByText('as soon as they log in with this address').waitFor();
  await expectLink();
  expect(await claims()).toBeUndefined();
  await expectAccessible(page);
});

test('health does not say when a file was written, but that mails reach nobody and where they are', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/administration/health`, ADMIN.username, ADMIN.password);
  const { send } = await pages.login(ADMIN.username, ADMIN.password);
  await send('POST', '/trace/api/user/request_reset_password', { email: boss.email });
  await page.getByText('No mail server is set up: mails reach nobody').waitFor();
  await page.getByText('to copy its link').waitFor();
  expect(await claims()).toBeUndefined();
  await expectAccessible(page);
});

test('who waits for a mail that nobody sends is told whom to ask instead', async () => {
  const { page } = browser;
  const email = 'waits@example.org';
  const person = { email, password: PASSWORD, name: 'Wai', surname: 'Ting' };
  const { status } = await sender(pages.traceUrl)('POST', '/api/user/register', person);
  expect(status).toBe(200);
  await page.goto(pages.url);
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await press('Log in');
  await page.getByText('Ask an administrator to confirm your address').waitFor();
  expect(await claims()).toBeUndefined();

  await page.goto(`${pages.url}/confirm-email/used`);
  await press('Confirm');
  await page.getByText('This link was used before').waitFor();
  await page.getByText('Ask an administrator to confirm your address').waitFor();
  expect(await claims()).toBeUndefined();

  for (const [path, text] of [
    ['resend-confirmation', 'Ask an administrator to confirm your address'],
    ['forgotten-password', 'on the server they can set a new password for you'],
  ]) {
    await page.goto(`${pages.url}/${path}`);
    await page.getByText(text as string).waitFor();
    expect(await page.getByLabel('E-mail address').count(), path).toBe(0);
    await expectAccessible(page);
  }
});
