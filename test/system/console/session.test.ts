import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Browser } from '../../helpers/browser.ts';
import { type RunningConsole, runningConsole } from '../../helpers/console.ts';
import {
  consoleBrowser,
  expectAccessible,
  isFocused,
  logIn,
  logInByForm,
  logOut,
} from '../../helpers/console-page.ts';
import { eventually } from '../../helpers/eventually.ts';
import { picture } from '../../helpers/images.ts';
import { tokenIn } from '../../helpers/mail-server.ts';
import { PASSWORD } from '../../helpers/trace.ts';

let pages: RunningConsole;
let browser: Browser;
let email: string;
beforeAll(async () => {
  pages = await runningConsole();
  browser = await consoleBrowser(pages);
  ({ email } = await pages.newUser());
});
afterAll(async () => {
  await browser.close();
  await pages.stop();
});
beforeEach(() => browser.page.context().clearCookies());

/** Ends the session behind the page's back. */
async function endSessions(): Promise<void> {
  await pages.query('trace_backend', 'DELETE FROM sessions');
  await browser.page.context().clearCookies();
}

/** The code of the mail to an address, which is stored in a file. */
async function storedToken(to: string): Promise<string> {
  const folder = path.join(pages.folder, 'mail');
  // Administrators get a mail, too, without a token.
  const tokens = async () => {
    const names = (await readdir(folder).catch(() => [])).filter(name => name.endsWith('.eml'));
    const raws = await Promise.all(names.map(name => readFile(path.join(folder, name), 'utf8')));
    return raws
      .filter(raw => raw.includes(to))
      .map(raw => tokenIn({ raw }))
      .filter(token => token !== 'no token');
  };
  const [token] = await eventually(tokens, found => found.length > 0);
  return token as string;
}

const dialog = (page: Page) => page.getByRole('dialog', { name: 'Your session has ended' });

async function logInAgain(page: Page): Promise<void> {
  await dialog(page).getByLabel('Password').fill(PASSWORD);
  await dialog(page).getByRole('button', { name: 'Log in' }).click();
}

test('the login reports wrong passwords and empty fields; nothing of the console is shown before it', async () => {
  const { page } = browser;
  await page.goto(`${pages.url}/packets`);
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Log in' }).click();
  expect(await page.getByText('Please fill this in').count()).toBe(2);
  expect(await isFocused(page.getByLabel('Email address'))).toBe(true);
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill('not the password');
  await page.getByRole('button', { name: 'Log in' }).click();
  const alert = page.getByRole('alert');
  await expect.poll(() => alert.allInnerTexts()).toEqual(['The email address or password is wrong']);
  expect(await page.getByRole('navigation').count()).toBe(0);
  await page.getByLabel('Password').fill(PASSWORD);
  const become = (status: string) =>
    pages.query('trace_backend', 'UPDATE users SET status = $1 WHERE email = $2', [status, email]);
  for (const [status, told] of [
    ['UNCONFIRMED', 'The account is not active: its email address has not been confirmed'],
    ['CONFIRMED_EMAIL', 'The account is not active: an administrator has not activated it yet'],
    ['DEACTIVATED', 'The account is not active: an administrator deactivated it'],
  ] as const) {
    await become(status);
    await page.getByRole('button', { name: 'Log in' }).click();
    await expect.poll(() => alert.allInnerTexts()).toEqual([told]);
    if (status !== 'UNCONFIRMED') continue;
    await page.getByText('This installation doesn’t send emails').waitFor();
    expect(await page.getByRole('button', { name: 'Resend the email' }).count()).toBe(0);
    await expectAccessible(page);
  }
  await become('ACTIVE');
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('heading', { name: 'Packets', exact: true }).waitFor();
});

test('no script can read the cookies of the session', async () => {
  const { page } = browser;
  await logInByForm(page, `${pages.url}/packets`, email);
  expect((await page.context().cookies()).map(({ name, httpOnly }) => [name, httpOnly]).sort()).toEqual([
    ['trace-accessToken', true],
    ['trace-refreshToken', true],
  ]);
  expect(await page.evaluate('document.cookie')).toBe('');
});

test('an expired access token is renewed silently', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/packets`, email);
  await page.getByText('No packets yet').waitFor();
  await page.context().clearCookies({ name: 'trace-accessToken' });
  await page.getByLabel('Type').selectOption('note');
  await page.getByText('No matching packets').waitFor();
  expect(await dialog(page).count()).toBe(0);
});

test('after the end of a session, a login above the screen continues the request', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/packets`, email);
  await page.getByText('No packets yet').waitFor();
  await endSessions();
  await page.getByRole('button', { name: 'More filters' }).click();
  const area = page.getByLabel('Area', { exact: false });
  await area.fill('29,-2,30,-1');
  await area.press('Enter');
  await dialog(page).waitFor();
  await expectAccessible(page);
  await logInAgain(page);
  await page.getByText('No matching packets').waitFor();
  expect(await area.inputValue()).toBe('29,-2,30,-1');
  expect(await dialog(page).count()).toBe(0);
});

test('closing that dialog logs the user out', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/packets`, email);
  await page.getByText('No packets yet').waitFor();
  await endSessions();
  await page.getByLabel('Type').selectOption('note');
  await dialog(page).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
});

/** Changes the name in the profile, and sends it, after the session has ended or before. */
async function sendName(name: string, before?: () => Promise<unknown>) {
  const { page } = browser;
  await logIn(page, `${pages.url}/account`, email);
  await page.getByLabel('Given name').fill(name);
  await before?.();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  return { page, typed: page.getByLabel('Given name'), saved: page.getByText('Profile saved') };
}

test('closing that dialog asks first if a form waits for the login', async () => {
  const { page, typed, saved } = await sendName('Wanjiku', endSessions);
  const question = page.getByRole('dialog', { name: 'Leave without saving?' });
  await dialog(page).waitFor();
  await page.keyboard.press('Escape');
  await question.getByRole('button', { name: 'Stay' }).click();
  await logInAgain(page);
  await saved.waitFor();
  expect(await typed.inputValue()).toBe('Wanjiku');
});

test('a form that is being sent during a logout in another tab is sent after the login', async () => {
  const [asked, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { page, typed, saved } = await sendName('Njeri', () =>
    browser.page.route(
      /\/trace\/api\/user\/profile$/,
      async route => {
        asked.resolve();
        await ended.promise;
        await route.continue();
      },
      { times: 1 },
    ),
  );
  await asked.promise;
  const other = await page.context().newPage();
  await other.goto(`${pages.url}/packets`);
  await logOut(other);
  await dialog(page).waitFor();
  expect(await typed.isVisible()).toBe(false);
  ended.resolve();
  await logInAgain(page);
  await saved.waitFor();
  expect(await typed.inputValue()).toBe('Njeri');
  await other.close();
});

test('a dialog and a logout ask before typed text is lost', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/threads`, email);
  const opening = page.getByRole('dialog', { name: 'New thread' });
  const question = page.getByRole('dialog', { name: 'Leave without saving?' });
  const open = page.getByRole('button', { name: 'New thread' }).first();
  await open.click();
  await page.keyboard.press('Escape');
  await opening.waitFor({ state: 'hidden' });
  await open.click();
  await opening.getByRole('textbox').fill('Half a name');
  for (let n = 0; n < 3; n++) {
    await page.keyboard.press('Escape');
    await question.waitFor();
    await page.keyboard.press('Escape');
    await question.waitFor({ state: 'hidden' });
  }
  expect(await opening.getByRole('textbox').inputValue()).toBe('Half a name');
  await opening.getByRole('button', { name: 'Close' }).click();
  await expectAccessible(page);
  await question.getByRole('button', { name: 'Leave' }).click();
  await opening.waitFor({ state: 'hidden' });

  await page.getByRole('link', { name: 'New observation' }).first().click();
  await page.getByLabel('What do you see?').fill('Half an observation');
  await logOut(page);
  await question.getByRole('button', { name: 'Stay' }).click();
  expect(await page.getByLabel('What do you see?').inputValue()).toBe('Half an observation');
  await logOut(page);
  await question.getByRole('button', { name: 'Leave' }).click();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
});

test('a logout in one tab logs out every tab', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/packets`, email);
  const other = await page.context().newPage();
  await other.goto(`${pages.url}/packets`);
  await logOut(other);
  await other.getByRole('heading', { name: 'Log in' }).waitFor();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  await other.close();
});

/** Two tabs: in the first one, half an observation is typed; in the second one, the user has logged out. */
async function loggedOutElsewhere() {
  const { page } = browser;
  await logIn(page, `${pages.url}/observations/new`, email);
  const typed = page.getByLabel('What do you see?');
  await typed.fill('Half an observation');
  const other = await page.context().newPage();
  await other.goto(`${pages.url}/packets`);
  await logOut(other);
  await other.getByRole('heading', { name: 'Log in' }).waitFor();
  await dialog(page).waitFor();
  return { page, typed, other };
}

test('typed text survives a logout in another tab: it is hidden, and returns when the same user logs in', async () => {
  const { page, typed, other } = await loggedOutElsewhere();
  const question = page.getByRole('dialog', { name: 'Leave without saving?' });
  expect(await typed.isVisible()).toBe(false);
  expect(await page.getByRole('navigation').count()).toBe(0);
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  await question.getByRole('button', { name: 'Stay' }).click();
  await dialog(page).getByRole('button', { name: 'Close' }).click();
  await question.getByRole('button', { name: 'Stay' }).click();
  await logInAgain(page);
  await typed.waitFor();
  expect(await typed.inputValue()).toBe('Half an observation');
  expect(await dialog(page).count()).toBe(0);
  await other.getByRole('heading', { name: 'Packets', exact: true }).waitFor();
  await other.close();
});

test('a login in the other tab continues here, too; that of another user discards typed text', async () => {
  const { page, typed, other } = await loggedOutElsewhere();
  const logInThere = async (as: string) => {
    await other.getByLabel('Email address').fill(as);
    await other.getByLabel('Password').fill(PASSWORD);
    await other.getByRole('button', { name: 'Log in' }).click();
  };
  await logInThere(email);
  await typed.waitFor();
  expect(await typed.inputValue()).toBe('Half an observation');
  await logOut(other);
  await dialog(page).waitFor();
  await other.getByRole('heading', { name: 'Log in' }).waitFor();
  const { email: stranger } = await pages.newUser();
  await logInThere(stranger);
  await other.getByRole('navigation').first().waitFor();
  await dialog(page).waitFor({ state: 'hidden' });
  await typed.waitFor();
  expect(await typed.inputValue()).toBe('');
  await other.close();
});

test('a dialog with something unsaved is hidden with its screen, and is there again after the login', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/threads`, email);
  await page.getByRole('button', { name: 'New thread' }).first().click();
  const opening = page.getByRole('dialog', { name: 'New thread' });
  await opening.getByRole('textbox').fill('Half a name');
  const other = await page.context().newPage();
  await other.goto(`${pages.url}/packets`);
  await logOut(other);
  await dialog(page).waitFor();
  expect(await opening.count()).toBe(0);
  expect(await page.evaluate("window.find('Half a name') || window.find('Threads')")).toBe(false);
  await logInAgain(page);
  await opening.waitFor();
  expect(await opening.getByRole('textbox').inputValue()).toBe('Half a name');
  await other.close();
});

test('a user who logs in after somebody else sees nothing of theirs', async () => {
  const { page, other } = await loggedOutElsewhere();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Leave' }).click();
  const { email: stranger } = await pages.newUser();
  for (const tab of [page, other]) await tab.evaluate('window.isFirst = true');
  await page.getByLabel('Email address').fill(stranger);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Log in' }).click();
  for (const tab of [page, other]) {
    await tab.getByRole('navigation').first().waitFor({ state: 'attached' });
    expect(await tab.evaluate('window.isFirst')).toBe(undefined);
  }
  await other.close();
});

test('leaving that dialog asks first, and a login is needed again', async () => {
  const { page, other } = await loggedOutElsewhere();
  await page.reload();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  await other.close();
  const again = await loggedOutElsewhere();
  await page.keyboard.press('Escape');
  await page
    .getByRole('dialog', { name: 'Leave without saving?' })
    .getByRole('button', { name: 'Leave' })
    .click();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  await again.other.close();
});

test('after a logout, the browser has no private file in its cache any more', async () => {
  const { page } = browser;
  const { send } = await pages.login(email);
  const body = new FormData();
  body.append('file', new Blob([await picture(9, 9).png().toBuffer()]), 'private.png');
  const { cookie } = await pages.login(email);
  const uploaded = await fetch(`${pages.url}/trace/api/common/image`, {
    method: 'POST',
    headers: { cookie, origin: pages.url },
    body,
  });
  const { data } = (await uploaded.json()) as { data: { storageKey: string } };
  const { storageKey } = data;
  expect((await send('GET', `/trace/api/common/image/${storageKey}`)).status).toBe(200);
  await logIn(page, `${pages.url}/packets`, email);
  const ask = (cache: 'default' | 'only-if-cached') =>
    page.evaluate(
      ([url, cache]) =>
        fetch(url as string, { cache: cache as 'default', mode: 'same-origin' }).then(
          ({ status }) => status,
          () => 'nothing',
        ),
      [`/trace/api/common/image/${storageKey}`, cache],
    );
  expect(await ask('default')).toBe(200);
  expect(await ask('only-if-cached')).toBe(200);
  await page.evaluate(() => localStorage.setItem('stays', 'yes'));
  await logOut(page);
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  expect(['nothing', 504]).toContain(await ask('only-if-cached'));
  expect(await ask('default')).toBe(401);
  expect(await page.evaluate(() => localStorage.getItem('stays'))).toBe('yes');
});

test('a logout ends this session; under Sessions, all end', async () => {
  const { page } = browser;
  const { send } = await pages.login(email);
  const elsewhere = async () => (await send('GET', '/trace/api/user/profile')).status;
  await logInByForm(page, `${pages.url}/packets`, email);
  await logOut(page);
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  expect(await page.context().cookies()).toEqual([]);
  expect(await elsewhere()).toBe(200);
  await logIn(page, `${pages.url}/account/sessions`, email);
  const everywhere = page.getByRole('button', { name: 'Log out everywhere' });
  await everywhere.click();
  await page.getByRole('dialog', { name: 'Log out everywhere' }).waitFor();
  await expectAccessible(page);
  await everywhere.last().click();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  expect(await elsewhere()).toBe(401);
});

test('registration and password reset work without a login', async () => {
  const { page } = browser;
  await page.goto(pages.url);
  await page.getByRole('link', { name: 'Create an account' }).click();
  await page.getByLabel('Given name').fill('Zawadi');
  await page.getByLabel('Family name').fill('Mwangi');
  await page.getByLabel('Email address').fill('zawadi@example.org');
  await page.getByLabel('Password').fill('short');
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.locator('[aria-invalid=true]').waitFor();
  expect(await page.locator('[aria-invalid=true]').getAttribute('name')).toBe('password');
  await expectAccessible(page);
  await page.getByLabel('Password').fill('maize in the rain');
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByText('Account created').waitFor();
  await page.getByText('Ask an administrator to confirm your address and to activate').waitFor();
  expect(await page.getByRole('link', { name: 'Resend the email' }).count()).toBe(0);
  expect(await page.getByText('SMTP_URL').count()).toBe(0);
  await expectAccessible(page);
  const [user] = await pages.query(
    'trace_backend',
    "SELECT status FROM users WHERE email = 'zawadi@example.org'",
  );
  expect(user).toEqual({ status: 'UNCONFIRMED' });
  await page.goto(`${pages.url}/confirm-email/${await storedToken('zawadi@example.org')}`);
  await page.getByLabel('Password of the account').fill('maize in the rain');
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.getByText('This installation doesn’t send emails: try to log in later.').waitFor();
  await expectAccessible(page);

  await page.goto(`${pages.url}/forgotten-password`);
  await page.getByText('to set a new password for you on the server').waitFor();
});
