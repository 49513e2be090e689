import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser } from '../helpers/browser.ts';
import { type RunningConsole, runningConsole } from '../helpers/console.ts';
import { consoleBrowser, logInByForm, realComplaints } from '../helpers/console-page.ts';
import { picture } from '../helpers/images.ts';
import { readQrCode } from '../helpers/qr-code.ts';
import { ADMIN } from '../helpers/trace.ts';

const EMAIL = 'zawadi@example.org';
const PASSPHRASE = 'maize in the rain';

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

test('an office worker registers, is activated, and gets from a company to a printed label with the console alone', async () => {
  const { page } = browser;
  const named = (name: string) => page.locator(`[name="${name}"]`).first();
  const field = (label: string) => page.getByLabel(label, { exact: true }).first();
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();

  await page.goto(pages.url);
  await page.getByRole('link', { name: 'Create an account' }).click();
  await page.getByLabel('Given name').fill('Zawadi');
  await page.getByLabel('Family name').fill('Mwangi');
  await page.getByLabel('E-mail address').fill(EMAIL);
  await page.getByLabel('Password').fill(PASSPHRASE);
  await press('Create the account');
  await page.getByText('Your account is created').waitFor();

  // The administrator's part.
  await logInByForm(page, `${pages.url}/administration/users?query=zawadi`, ADMIN.username, ADMIN.password);
  for (const [action, done] of [
    ['Confirm the address', `The address ${EMAIL} was confirmed`],
    ['Activate', `${EMAIL} was activated`],
  ] as const) {
    await page.getByRole('button', { name: `Manage ${EMAIL}` }).click();
    await page.getByRole('dialog').getByRole('button', { name: action, exact: true }).click();
    await page.getByText(done).waitFor();
  }
  await press('Log out');
  await page.getByRole('heading', { name: 'Log in' }).waitFor();

  await logInByForm(page, pages.url, EMAIL, PASSPHRASE);
  await page.getByRole('link', { name: 'Companies' }).click();
  await page.getByRole('link', { name: 'New company' }).first().click();
  await named('name').fill('Kopakama');
  await page.getByLabel('Country').selectOption({ label: 'Rwanda' });
  await press('Add the company');
  await page.getByRole('heading', { name: 'Kopakama' }).waitFor();

  await page.getByRole('link', { name: 'Products' }).click();
  await page.getByRole('link', { name: 'New product' }).first().click();
  await named('name').fill('Washed Bourbon');
  await field('Description').fill('From the hills above the lake');
  const buffer = await picture(60, 40).jpeg().toBuffer();
  await field('Photo').setInputFiles({ name: 'photo.jpg', mimeType: 'image/jpeg', buffer });
  await page.getByRole('img', { name: 'photo.jpg' }).waitFor();
  await press('Add the product');
  await page.getByRole('heading', { name: 'Washed Bourbon' }).waitFor();

  await page.getByRole('link', { name: 'Labels' }).click();
  await named('title').fill('Harvest 2026');
  await press('Add the label');
  await page.getByRole('heading', { name: 'Harvest 2026' }).waitFor();
  await press('Publish');
  await page.getByText('The label is published').waitFor();
  await page.getByRole('link', { name: 'Print the code' }).click();
  const code = page.getByRole('img', { name: 'Code of Harvest 2026' });
  await expect.poll(() => code.evaluate(image => image.complete && image.naturalWidth > 0)).toBe(true);

  // What comes out of the printer leads to the label.
  await page.emulateMedia({ media: 'print' });
  const address = await readQrCode(await code.screenshot());
  const uuid = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(address ?? '')?.[0];
  const label = await pages.send('GET', `/trace/api/public/product/label/${uuid}`);
  expect(label.status, address).toBe(200);
  expect(label.text).toContain('Washed Bourbon');
  expect((await page.pdf({ format: 'A4' })).subarray(0, 5).toString()).toBe('%PDF-');
  expect(realComplaints(browser)).toEqual([]);
});
