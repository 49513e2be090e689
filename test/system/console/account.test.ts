import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { authenticator } from '../../helpers/authenticator.ts';
import type { Browser } from '../../helpers/browser.ts';
import { type RunningConsole, runningConsole } from '../../helpers/console.ts';
import {
  chooseLanguage,
  consoleBrowser,
  DESKTOP,
  expectAccessible,
  isFocused,
  logIn,
  logInByForm,
  logOut,
  realComplaints,
} from '../../helpers/console-page.ts';
import { PASSWORD } from '../../helpers/trace.ts';

let pages: RunningConsole;
let browser: Browser;
let email: string;
let id: number;
beforeAll(async () => {
  pages = await runningConsole();
  browser = await consoleBrowser(pages);
});
afterAll(async () => {
  await browser.close();
  await pages.stop();
});
beforeEach(async () => {
  await browser.page.context().clearCookies();
  ({ email, id } = await pages.newUser());
});

test('a profile is changed, and what was typed is kept through the end of the session', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/account`, email);
  await page.getByRole('heading', { name: 'Your account' }).waitFor();
  await page.getByText(`Your number: ${id}.`).waitFor();
  await page.getByLabel('New email address').waitFor();
  expect(browser.complaints.filter(text => text.includes('404'))).toEqual([]);
  await expectAccessible(page);
  await page.getByLabel('Given name').fill('Zawadi <b>Mwangi</b>');
  await page.getByLabel('Email language').selectOption('SW');
  await page.getByLabel('Others can share packets').check();
  await pages.query('trace_backend', 'DELETE FROM sessions');
  await page.getByRole('button', { name: 'Save' }).click();
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
  await expect.poll(() => isFocused(dialog.getByLabel('Password'))).toBe(true);
  await dialog.getByLabel('Password').fill('not the password');
  await dialog.getByRole('button', { name: 'Log in' }).click();
  await dialog.getByRole('alert').waitFor();
  await dialog.getByLabel('Password').fill(PASSWORD);
  await dialog.getByRole('button', { name: 'Log in' }).click();
  await page.getByText('Profile saved').waitFor();
  expect(await page.getByLabel('Given name').inputValue()).toBe('Zawadi <b>Mwangi</b>');
  expect(await page.getByText('Zawadi <b>Mwangi</b>').count()).toBe(1);
  const [user] = await pages.query(
    'trace_backend',
    'SELECT name, language, discoverable FROM users WHERE email = $1',
    [email],
  );
  expect(user).toEqual({ name: 'Zawadi <b>Mwangi</b>', language: 'SW', discoverable: true });
  expect(realComplaints(browser)).toEqual([]);
});

test('an error of the service is shown at its field, and typed text stays', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/account`, email);
  await page.getByLabel('Given name').fill('x'.repeat(300));
  await page.getByLabel('Email language').waitFor();
  await page.getByLabel('Family name').fill('Kept');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.locator('[name=name][aria-invalid=true]').waitFor();
  expect(await page.getByLabel('Family name').inputValue()).toBe('Kept');
  await expectAccessible(page);
});

test('errors are shown in the language of the console', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/account`, email);
  await chooseLanguage(page, 'de');
  await page.locator('[name=name]').fill('x'.repeat(300));
  await page.getByRole('button', { name: 'Speichern' }).click();
  await page.getByText(/^Fehler: Höchstens \d+ Zeichen$/).waitFor();
  await expectAccessible(page);
  await page.locator('[name=email]').fill('new@example.org');
  await page.locator('[name=currentPassword]').fill('wrong');
  await page.getByRole('button', { name: 'Adresse ändern' }).click();
  await page.getByText('Das Passwort fehlt oder ist falsch').waitFor();
  await page.goto(`${pages.url}/packets?near=here`);
  const alert = page.getByRole('alert');
  await alert.getByText('Drei Zahlen: Breite, Länge und Meter').waitFor();
  expect(await alert.locator('[lang=en]').count()).toBe(0);
  await chooseLanguage(page, 'en');
  await alert.getByText('Latitude, longitude and metres, separated by commas').waitFor();
});

test('without a connection typed text stays, and the form can be sent once the connection is back', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/account`, email);
  await page.getByLabel('Family name').fill('Kept');
  await page.context().setOffline(true);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('There is no connection to the server').waitFor();
  await page.context().setOffline(false);
  expect(await page.getByLabel('Family name').inputValue()).toBe('Kept');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Profile saved').waitFor();
});

test('a change of address waits for both addresses, and can be cancelled', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/account`, email);
  await page.getByLabel('New email address').fill('new@example.org');
  await page.getByLabel('Current password').fill('wrong');
  await page.getByRole('button', { name: 'Change address' }).click();
  await page.locator('[name=currentPassword][aria-invalid=true]').waitFor();
  await page.getByText('The password is missing or wrong').waitFor();
  await page.getByLabel('Current password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Change address' }).click();
  await page.getByText('Your address changes to new@example.org once').waitFor();
  await page.getByRole('button', { name: 'Cancel change' }).click();
  await page.getByLabel('New email address').waitFor();
});

test('a new password ends the other sessions and keeps this one', async () => {
  const { page } = browser;
  const other = await pages.login(email);
  await logIn(page, `${pages.url}/account/security`, email);
  await expectAccessible(page);
  const section = page.locator('section').first();
  await section.getByLabel('Current password').fill(PASSWORD);
  await section.getByLabel('New password').fill('maize in the rain');
  await section.getByRole('button', { name: 'Change password' }).click();
  await page.getByText('Password changed').waitFor();
  expect((await other.send('GET', '/trace/api/user/profile')).status).toBe(401);
  await page.reload();
  await page.getByRole('heading', { name: 'Second factor' }).waitFor();
});

test('a second factor is set up by its QR code or secret, required at the next login, and removed', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/account/security`, email);
  const section = page.locator('section').nth(1);
  await section.getByLabel('Current password').fill(PASSWORD);
  await section.getByRole('button', { name: 'Set up a second factor' }).click();
  await section.getByLabel('Code').fill('12');
  await section.getByRole('button', { name: 'Cancel' }).click();
  await section.getByLabel('Current password').fill(PASSWORD);
  await section.getByRole('button', { name: 'Set up a second factor' }).click();
  const secret = await section.locator('code').innerText();
  expect(await section.getByLabel('Code').inputValue()).toBe('');
  await expectAccessible(page);
  await section.getByLabel('Code').fill(authenticator(secret).code());
  await section.getByRole('button', { name: 'Confirm' }).click();
  await page.getByText('Keep these recovery codes').waitFor();
  const codes = await section.locator('li').allInnerTexts();
  expect(codes.length).toBeGreaterThan(5);

  await logOut(page);
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByLabel('Code').fill(codes[0] as string);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByText('You need a code from your app to log in').waitFor();
  expect(await section.getByRole('button', { name: 'Set up a second factor' }).count()).toBe(0);
  await page.getByRole('link', { name: 'Your data' }).click();
  await page.getByLabel('Code').waitFor();
  await expectAccessible(page);
  await page.getByRole('link', { name: 'API keys' }).click();
  await page.getByLabel('Name').fill('station');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.locator('[name=code][aria-invalid=true]').waitFor();
  expect(await page.getByLabel('Code').getAttribute('autocomplete')).toBe('one-time-code');
  await page.getByLabel('Code').fill(codes[2] as string);
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByText('Copy the key now').waitFor();
  await page.getByRole('button', { name: 'Revoke' }).click();
  const asking = page.getByRole('dialog');
  await asking.getByLabel('Code').fill(codes[3] as string);
  await asking.getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('No keys yet').waitFor();
  await page.getByRole('link', { name: 'Security' }).click();

  await section.getByLabel('Remove the second factor').check();
  await section.getByLabel('Current password').fill(PASSWORD);
  await section.locator('[name=code]').fill('000000');
  await section.getByRole('button', { name: 'Remove the second factor' }).click();
  await section.locator('[name=code][aria-invalid=true]').waitFor();
  await page.getByText('This code is wrong or was used before').waitFor();
  await section.locator('[name=code]').fill(codes[1] as string);
  await section.getByRole('button', { name: 'Remove the second factor' }).click();
  await section.getByRole('button', { name: 'Set up a second factor' }).waitFor();
});

test('all tabs are in sight on the narrowest phones, in both directions of writing', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/account`, email);
  await page.setViewportSize({ width: 320, height: 640 });
  const tabs = page.getByRole('navigation', { name: 'Your account' }).getByRole('link');
  for (const direction of ['ltr', 'rtl']) {
    await page.evaluate(`document.documentElement.dir = '${direction}'`);
    expect(await tabs.count()).toBe(5);
    for (const tab of await tabs.all()) {
      const box = await tab.boundingBox();
      expect(box?.x ?? -1, direction).toBeGreaterThanOrEqual(0);
      expect((box?.x ?? 0) + (box?.width ?? 321), direction).toBeLessThanOrEqual(320);
    }
  }
  await page.setViewportSize(DESKTOP);
});

test('sessions are listed, and another one is ended', async () => {
  const { page } = browser;
  const other = await pages.login(email);
  await logInByForm(page, `${pages.url}/account/sessions`, email);
  await page.getByText('This session').waitFor();
  const device = page.getByRole('cell', { name: /^Chrome \d+ on Linux$/ });
  expect(await device.getAttribute('title')).toMatch(/^Mozilla/);
  await page.getByRole('columnheader', { name: 'Last login or renewal' }).waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'End' }).click();
  await page.getByText('Session ended').waitFor();
  await expect.poll(() => page.getByRole('button', { name: 'End' }).count()).toBe(0);
  expect((await other.send('GET', '/trace/api/user/profile')).status).toBe(401);
});

test('a key is made, shown once, and revoked', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/account/keys`, email);
  await page.getByText('No keys yet').waitFor();
  await page.getByLabel('Name').fill('weather <i>station</i>');
  await page.getByLabel('Access').selectOption('write');
  const end = page.locator('[name="expiresAt"]');
  await end.fill('2026-01-01');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByText('This must be in the future').waitFor();
  await end.fill('');
  await page.getByRole('button', { name: 'Create key' }).click();
  const key = await page.getByText(/^ft_/).innerText();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: pages.url });
  await page.getByRole('button', { name: 'Copy' }).click();
  await page.getByText('Copied').waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(key);
  const headers = { authorization: `Bearer ${key}` };
  expect((await pages.send('GET', '/trace/api/user/profile', undefined, headers)).body.data.email).toBe(
    email,
  );
  expect((await pages.send('GET', '/packet/shares/inbox', undefined, headers)).status).toBe(200);
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Revoke' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('weather <i>station</i>').waitFor();
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('Key “weather <i>station</i>” revoked').waitFor();
  await page.getByText('No keys yet').waitFor();
  expect(await page.getByText(key).count()).toBe(0);
  expect((await pages.send('GET', '/trace/api/user/profile', undefined, headers)).status).toBe(401);
});

test('users download all their data, and confirm the erasure of their account', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/account/data`, email);
  await expectAccessible(page);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download my data' }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^fieldtrace-user-.*\.zip$/);
  expect((await readFile(await download.path())).subarray(0, 2).toString()).toBe('PK');
  await page.getByLabel('Current password').fill(PASSWORD);
  expect(await page.getByLabel('Code').count()).toBe(0);
  await page.getByRole('button', { name: 'Erase my account' }).click();
  await page.getByText('Please fill this in').waitFor();
  await page.getByLabel('I am sure').check();
  const other = await page.context().newPage();
  await other.goto(`${pages.url}/account`);
  await other.getByRole('navigation').first().waitFor();
  await page.getByRole('button', { name: 'Erase my account' }).click();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  await page.getByText('Account erased').waitFor();
  await other.getByRole('heading', { name: 'Log in' }).waitFor();
  await other.close();
  expect(await pages.query('trace_backend', 'SELECT FROM users WHERE email = $1', [email])).toEqual([]);
});
