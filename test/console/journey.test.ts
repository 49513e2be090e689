import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Browser, openBrowser } from '../helpers/browser.ts';
import { type RunningConsole, runningConsole } from '../helpers/console.ts';
import {
  consoleBrowser,
  expectAccessible,
  isFocused,
  logInByForm,
  logOut,
  PHONE,
  realComplaints,
} from '../helpers/console-page.ts';
import { picture } from '../helpers/images.ts';
import { readQrCode } from '../helpers/qr-code.ts';
import { ADMIN } from '../helpers/trace.ts';

const EMAIL = 'zawadi@example.org';
const PASSPHRASE = 'maize in the rain';
const MESSAGE = '<img src=x onerror=alert(1)> rust';

let pages: RunningConsole;
let browser: Browser;
/** who reads the code on a package, with a browser that runs no scripts */
let visitor: Browser;
/** runs axe-core on what the visitor sees */
let checker: Browser;
beforeAll(async () => {
  pages = await runningConsole();
  browser = await consoleBrowser(pages);
  visitor = await openBrowser(PHONE, { javaScript: false });
  checker = await openBrowser();
});
afterAll(async () => {
  await checker.close();
  await visitor.close();
  await browser.close();
  await pages.stop();
});

const named = (name: string) => browser.page.locator(`[name="${name}"]`).first();
const field = (label: string) => browser.page.getByLabel(label, { exact: true }).first();
const press = (name: string) => browser.page.getByRole('button', { name, exact: true }).click();
const photo = async (name: string) => ({
  name,
  mimeType: 'image/jpeg',
  buffer: await picture(64, 48).jpeg().toBuffer(),
});

/** Looks at a page at both sizes, in both themes. */
async function look(page: Page): Promise<void> {
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    await expectAccessible(page);
  }
}

async function register(): Promise<void> {
  const { page } = browser;
  await page.goto(pages.url);
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  await look(page);
  await page.getByRole('link', { name: 'Create an account' }).click();
  await page.getByLabel('Given name').fill('Zawadi');
  await page.getByLabel('Family name').fill('Mwangi');
  await page.getByLabel('Email address').fill(EMAIL);
  await page.getByLabel('Password').fill('short');
  await press('Create account');
  await page.locator('[aria-invalid=true]').waitFor();
  expect(await page.locator('[aria-invalid=true]').getAttribute('name')).toBe('password');
  await expectAccessible(page);
  await page.getByLabel('Password').fill(PASSPHRASE);
  await press('Create account');
  await page.getByText('Account created').waitFor();
}

/** The administrator's part. */
async function activate(): Promise<void> {
  const { page } = browser;
  await logInByForm(page, `${pages.url}/administration/users?query=zawadi`, ADMIN.username, ADMIN.password);
  for (const [action, done] of [
    ['Confirm address', `Address ${EMAIL} confirmed`],
    ['Activate', `${EMAIL} activated`],
  ] as const) {
    await page.getByRole('button', { name: `Manage ${EMAIL}` }).click();
    await page.getByRole('dialog').getByRole('button', { name: action, exact: true }).click();
    await page.getByText(done).waitFor();
  }
  await logOut(page);
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
}

/** Makes an observation without a connection; returns when it was sent, once. */
async function observe(): Promise<void> {
  const { page } = browser;
  const context = page.context();
  await context.grantPermissions(['geolocation'], { origin: pages.url });
  await context.setGeolocation({ latitude: -1.95, longitude: 30.06, accuracy: 8 });
  await page.getByRole('link', { name: 'New observation' }).first().click();
  await page.getByRole('heading', { name: 'New observation' }).waitFor();
  await look(page);
  await page.getByLabel('What do you see?').fill(MESSAGE);
  await press('Use my position');
  await page.getByText('Found, within 8 m').waitFor();
  await page.getByLabel('Photos').setInputFiles(await photo('leaf.jpg'));
  await page.getByRole('img', { name: 'leaf.jpg' }).waitFor();
  await context.setOffline(true);
  await press('Send');
  await page.getByText('1 observation is waiting to be sent').waitFor();
  await expectAccessible(page);
  expect(await pages.query('packet_service', 'SELECT FROM packets')).toEqual([]);
  await context.setOffline(false);
  await page.getByText('waiting to be sent').waitFor({ state: 'detached' });
  await page.getByRole('status').filter({ hasText: 'Sent:' }).getByRole('link', { name: MESSAGE }).click();

  await page.getByText(MESSAGE).first().waitFor();
  const leaf = page.getByRole('img', { name: 'leaf.jpg' });
  await expect.poll(() => leaf.evaluate(image => image.naturalWidth)).toBe(64);
  await page.getByText('-1.95; 30.06').waitFor();
  await press('Check it here');
  await page.getByText('The hash matches').waitFor();
  await look(page);
  expect(await pages.query('packet_service', 'SELECT FROM packets')).toHaveLength(1);
}

async function findAmongPackets(): Promise<void> {
  const { page } = browser;
  await page.getByRole('link', { name: 'Packets', exact: true }).first().click();
  const rows = page.getByRole('table').locator('tbody tr');
  await rows.getByText(MESSAGE).waitFor();
  await rows.getByText('Zawadi Mwangi').waitFor();
  await look(page);
  await page.getByLabel('Type').selectOption('weather');
  await page.getByText('No matching packets').waitFor();
  expect(new URL(page.url()).search).toBe('?type=weather');
  await page.goBack();
  await rows.getByText(MESSAGE).waitFor();
}

async function addProduct(): Promise<void> {
  const { page } = browser;
  await page.getByRole('link', { name: 'Companies' }).click();
  await page.getByRole('link', { name: 'New company' }).first().click();
  await named('name').fill('Kopakama');
  await page.getByLabel('Country').selectOption({ label: 'Rwanda' });
  await press('Add company');
  await page.getByRole('heading', { name: 'Kopakama' }).waitFor();

  await page.getByRole('link', { name: 'Products' }).click();
  await page.getByRole('link', { name: 'New product' }).first().click();
  await named('name').fill('Washed Bourbon');
  await field('Description').fill('From the hills above the lake');
  await field('Photo').setInputFiles(await photo('photo.jpg'));
  await page.getByRole('img', { name: 'photo.jpg' }).waitFor();
  await press('Add product');
  await page.getByRole('heading', { name: 'Washed Bourbon' }).waitFor();
  await look(page);
}

/** Publishes a label with a batch, and prints it; returns what its code says. */
async function printLabel(): Promise<string> {
  const { page } = browser;
  await page.getByRole('link', { name: 'Labels' }).click();
  await named('title').fill('Harvest 2026');
  await press('Add label');
  await page.getByRole('heading', { name: 'Harvest 2026' }).waitFor();
  await page.getByRole('region', { name: 'Preview' }).getByText('From the hills above the lake').waitFor();
  await press('Publish');
  await page.getByText('Label published').waitFor();
  await look(page);
  await page.getByRole('link', { name: 'Batches' }).click();
  const form = page.locator('form', { has: page.getByLabel('Produced on') });
  await form.getByLabel('Batch number').fill('B-1');
  await field('Produced on').fill('2026-02-01');
  await field('Expires on').fill('2026-03-01');
  await field('Authenticity can be checked').check();
  await press('Add batch');
  await page.getByText('Batch saved').waitFor();
  await expectAccessible(page);

  await page.getByRole('link', { name: 'Label', exact: true }).click();
  await page.getByRole('link', { name: 'Print the code' }).click();
  const code = page.getByRole('img', { name: 'Code of Harvest 2026' });
  await expect.poll(() => code.evaluate(image => image.complete && image.naturalWidth > 0)).toBe(true);
  await page.emulateMedia({ media: 'print' });
  const address = await readQrCode(await code.screenshot());
  expect((await page.pdf({ format: 'A4' })).subarray(0, 5).toString()).toBe('%PDF-');
  return address as string;
}

/** Opens the page behind the code of a package, and checks the package. */
async function visit(address: string): Promise<void> {
  const { page } = visitor;
  const answer = page.locator('#answer');
  const expectGood = async () => {
    await checker.page.setContent(await page.content());
    await look(checker.page);
  };
  expect((await page.goto(address))?.status(), address).toBe(200);
  await page.getByText('Washed Bourbon').first().waitFor();
  await expectGood();
  await page.getByLabel('Batch number').fill('B-1');
  await page.getByLabel('Produced on').fill('2026-02-01');
  await page.getByLabel('Expires on').fill('2026-03-01');
  await page.getByRole('button', { name: 'Is it authentic?' }).click();
  await answer.getByText('Confirmed').waitFor();
  expect(await isFocused(answer)).toBe(true);
  await expectGood();
  expect(await page.locator('script, [onerror], [onload]').count()).toBe(0);
  expect(realComplaints(visitor)).toEqual([]);
}

test('from a registration over an observation without a connection to a label that a consumer checks', async () => {
  await register();
  await activate();
  await logInByForm(browser.page, pages.url, EMAIL, PASSPHRASE);
  await browser.page.getByRole('heading', { name: 'Getting started' }).waitFor();
  await look(browser.page);
  await observe();
  await findAmongPackets();
  await addProduct();
  await visit(await printLabel());
  const expected = /net::ERR_INTERNET_DISCONNECTED/;
  expect(realComplaints(browser).filter(text => !expected.test(text))).toEqual([]);
});
