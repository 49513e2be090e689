import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Browser } from '../../helpers/browser.ts';
import { type RunningConsole, runningConsole } from '../../helpers/console.ts';
import {
  consoleBrowser,
  expectAccessible,
  isFocused,
  logIn,
  realComplaints,
} from '../../helpers/console-page.ts';
import { picture } from '../../helpers/images.ts';
import { ADMIN } from '../../helpers/trace.ts';

const XSS = '<img src=x onerror=alert(1)>';

let pages: RunningConsole;
let browser: Browser;
let user: { id: number; email: string };
let photo: { name: string; mimeType: string; buffer: Buffer };
beforeAll(async () => {
  pages = await runningConsole();
  browser = await consoleBrowser(pages);
  user = await pages.newUser();
  photo = { name: 'photo.jpg', mimeType: 'image/jpeg', buffer: await picture(60, 40).jpeg().toBuffer() };
  await pages.query(
    'trace_backend',
    "INSERT INTO value_chains (name, status, folded, created_by, created_at, updated_at) VALUES ('Coffee', 'ENABLED', 'coffee', $1, now(), now())",
    [user.id],
  );
});
afterAll(async () => {
  await browser.close();
  await pages.stop();
});
beforeEach(() => browser.page.context().clearCookies());

const named = (name: string) => browser.page.locator(`[name="${name}"]`).first();
const field = (label: string) => browser.page.getByLabel(label, { exact: true }).first();
const press = (name: string) => browser.page.getByRole('button', { name, exact: true }).click();

test('a company gets its profile with a logo and a document, and keeps errors in view until they are corrected', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/companies`, user.email);
  await page.getByText('You have no company yet').waitFor();
  await expectAccessible(page);
  await page.getByRole('link', { name: 'New company' }).first().click();
  await page.getByRole('heading', { name: 'New company' }).waitFor();
  await expectAccessible(page);
  await press('Add company');
  await page.getByText('Please fill this in').waitFor();

  await named('name').fill(`Kopanyi ${XSS}`);
  await field('Abbreviation').fill('KOP');
  await field('Email').fill('nowhere');
  await field('City').fill('Huye');
  await page.getByLabel('Link: YouTube').waitFor();
  const inRwanda = page.getByRole('group', { name: 'Address in Rwanda' });
  expect(await page.getByRole('group', { name: /^Address in/ }).count()).toBe(0);
  const countries = await page.getByLabel('Country').locator('option').allInnerTexts();
  expect(countries.slice(0, 5)).toEqual(['None', 'Afghanistan', 'Åland Islands', 'Albania', 'Algeria']);
  await page.getByLabel('Country').selectOption({ label: 'Rwanda' });
  await inRwanda.getByLabel('Village').fill('Nyanza');
  await page.getByLabel('Country').selectOption({ label: 'Honduras' });
  await page.getByRole('group', { name: 'Address in Honduras' }).waitFor();
  expect(await inRwanda.count()).toBe(0);
  await page.getByLabel('Country').selectOption({ label: 'Rwanda' });
  expect(await inRwanda.getByLabel('Village').inputValue()).toBe('Nyanza');
  // What has no effect yet is not offered.
  expect(await page.getByRole('checkbox').count()).toBe(1);
  await page.getByLabel('Coffee').check();
  await field('Logo').setInputFiles(photo);
  await page.getByRole('img', { name: 'photo.jpg' }).waitFor();
  await press('Add a document');
  const document = page.getByRole('group', { name: 'Documents and videos 1' });
  await document.getByLabel('Name').fill('Harvest');
  await press('Add company');
  await page.locator('[name="email"][aria-invalid="true"]').waitFor();
  await field('Email').fill('info@kopanyi.example');
  await expect.poll(() => page.locator('[aria-invalid="true"]').count()).toBe(0);
  await press('Add company');

  await page.getByRole('heading', { name: XSS }).waitFor();
  expect(await field('City').inputValue()).toBe('Huye');
  expect(await page.getByLabel('Coffee').isChecked()).toBe(true);
  await page.getByLabel('Country').selectOption({ label: 'None' });
  await field('City').fill('Kigali');
  await press('Save');
  await page.getByText('Changes saved').waitFor();
  await page.reload();
  await expect.poll(() => field('City').inputValue()).toBe('Kigali');
  expect(await page.getByLabel('Country').inputValue()).toBe('');
  expect(await document.getByLabel('Name').inputValue()).toBe('Harvest');
  await expectAccessible(page);
  expect(realComplaints(browser)).toEqual([]);
});

test('a form that is sent during an upload waits for it, and is not sent if it fails', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/companies/new`, user.email);
  let passes = Promise.withResolvers<void>();
  let [isCut, uploads] = [false, 0];
  await page.route('**/api/common/image', async route => {
    await passes.promise;
    uploads++;
    await (isCut ? route.abort() : route.continue());
  });
  let sent = 0;
  page.on('request', request => (sent += Number(request.url().endsWith('/company/create'))));
  const button = page.locator('form button.main');

  await named('name').fill('Patient growers');
  await field('Logo').setInputFiles({ ...photo, buffer: Buffer.from('not a picture') });
  await press('Add company');
  await expect.poll(() => button.innerText()).toBe('Uploading…');
  expect(await button.isDisabled()).toBe(true);
  passes.resolve();
  await page.getByText('The file must be a JPEG, PNG or WebP image').waitFor();
  await expect.poll(() => isFocused(field('Logo'))).toBe(true);
  expect([sent, await button.innerText()]).toEqual([0, 'Add company']);

  await press('Add company');
  await expect.poll(() => uploads).toBe(2);
  await page.getByText('The file must be a JPEG, PNG or WebP image').waitFor();
  await expectAccessible(page);
  await press('Remove');
  expect(await page.getByText('The file must be a JPEG, PNG or WebP image').count()).toBe(0);

  isCut = true;
  await field('Logo').setInputFiles(photo);
  await page.getByText('There is no connection to the server').waitFor();
  expect(sent).toBe(0);
  isCut = false;
  passes = Promise.withResolvers();
  await press('Add company');
  await expect.poll(() => button.innerText()).toBe('Uploading…');
  passes.resolve();
  await page.getByRole('heading', { name: 'Patient growers' }).waitFor();
  await page.getByRole('img', { name: 'photo.jpg' }).waitFor();
  expect(sent).toBe(1);
  const notice = page.locator('.toasts').getByText('Patient growers');
  await notice.waitFor();
  await page.getByRole('link', { name: 'Companies' }).first().click();
  await page.getByRole('heading', { name: 'Companies', exact: true }).waitFor();
  expect(await notice.count()).toBe(0);
  const complaints = ['status of 415', 'status of 415', 'net::ERR_FAILED'];
  expect(realComplaints(browser)).toEqual(complaints.map(text => expect.stringContaining(text)));
  browser.complaints.length = 0;
  await page.unroute('**/api/common/image');
});

test('members are invited, accept, get another role and are removed; a stranger sees nothing', async () => {
  const { page } = browser;
  const [colleague, stranger] = [
    await pages.newUser('USER', { name: 'Ben', surname: 'Mugisha' }),
    await pages.newUser(),
  ];
  const owner = await pages.login(user.email);
  const { body } = await owner.send('POST', '/trace/api/company/create', { name: 'Growers' });
  const members = `${pages.url}/companies/${body.data.id}/members`;
  await logIn(page, members, user.email);
  const email = page.getByRole('textbox', { name: 'Email address' });
  await email.fill(user.email);
  await press('Invite a user');
  await page.getByText('This person is already a member of the company').waitFor();
  for (const address of ['not-here-yet@example.org', colleague.email]) {
    await email.fill(address);
    await press('Invite a user');
    await page.getByRole('listitem').filter({ hasText: address }).waitFor();
  }
  await page.getByRole('button', { name: /^Leave/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click();
  await page.getByText('This is the last administrator of the company').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Remove from the company not-here-yet@example.org' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove from the company' }).click();
  await expect.poll(() => page.getByText('not-here-yet@example.org', { exact: true }).count()).toBe(0);
  await page.getByText('invited', { exact: true }).waitFor();
  await expectAccessible(page);

  await page.context().clearCookies();
  await logIn(page, `${pages.url}/companies`, colleague.email);
  await page.getByText('Growers invited you as member').waitFor();
  await expectAccessible(page);
  await press('Accept');
  await page.getByRole('link', { name: 'Growers' }).waitFor();

  await page.context().clearCookies();
  await logIn(page, members, user.email);
  const setStatus = (status: string) =>
    pages.query('trace_backend', 'UPDATE users SET status = $1 WHERE id = $2', [status, colleague.id]);
  await page.getByText('Ben Mugisha').first().waitFor();
  expect(await page.getByText('Account:').count()).toBe(0);
  await setStatus('DEACTIVATED');
  await page.reload();
  await page
    .getByRole('listitem')
    .filter({ hasText: 'Ben Mugisha' })
    .getByText('Account: Deactivated')
    .waitFor();
  await setStatus('ACTIVE');
  const roleOfBen = page.getByLabel('Role of Ben Mugisha');
  const roles = () => roleOfBen.locator('option').allTextContents();
  expect(await roles()).toEqual(['member', 'administrator']);
  await roleOfBen.selectOption('COMPANY_ADMIN');
  await page.getByText('Changes saved').waitFor();
  // Others may differ once there is something that they may not do; who has one keeps it.
  const companyId = body.data.id;
  const manager = { companyId, userId: colleague.id, companyUserRole: 'MANAGER' };
  await owner.send('POST', '/trace/api/company/execute/SET_USER_COMPANY_ROLE', manager);
  await page.reload();
  await expect.poll(roles).toEqual(['member', 'administrator', 'manager']);
  expect(await roleOfBen.inputValue()).toBe('MANAGER');
  await page.getByRole('button', { name: 'Remove from the company Ben Mugisha' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove from the company' }).click();
  await expect.poll(() => page.getByText('Ben Mugisha').count()).toBe(0);

  await page.context().clearCookies();
  await logIn(page, members, stranger.email);
  await page.getByText('Company not found').waitFor();
});

/** Opens the page of a label in a new tab, from the label's screen, and returns its path. */
async function pageOfLabel(title: string): Promise<string> {
  const { page } = browser;
  const [opened] = await Promise.all([
    page.context().waitForEvent('page'),
    page.getByRole('link', { name: 'View the page' }).click(),
  ]);
  await opened.getByRole('heading', { name: title }).waitFor();
  const { pathname } = new URL(opened.url());
  await opened.close();
  return pathname;
}

/** Printed, the address of a label is below the middle of its code. */
async function expectCentred(): Promise<void> {
  const { page } = browser;
  await page.emulateMedia({ media: 'print' });
  const [code, address] = await Promise.all(
    ['figure img', '.address'].map(selector => page.locator(selector).boundingBox()),
  );
  const middleOf = (box: typeof code) => (box?.x ?? 0) + (box?.width ?? 0) / 2;
  expect(middleOf(address)).toBeCloseTo(middleOf(code), 0);
  await page.emulateMedia({ media: 'screen' });
}

/** Edits a label, and sees in its preview what the page behind the code will show. */
async function editWithPreview(): Promise<void> {
  const { page } = browser;
  const preview = page.getByRole('region', { name: 'Preview' });
  await preview.getByText('From the hills above the lake').waitFor();
  const pins = preview.getByRole('img', { name: 'Map of the origin' }).locator('circle');
  await expect.poll(() => pins.allTextContents()).toEqual(['Station A']);
  await page.getByLabel('Language', { exact: true }).last().selectOption('DE');
  await preview.getByText('Beschreibung', { exact: true }).waitFor();
  await page.getByLabel('Description', { exact: true }).uncheck();
  await expect.poll(() => preview.getByText('From the hills above the lake').count()).toBe(0);
  await named('name').fill(XSS);
  await preview.getByText(XSS).waitFor();
}

test('a product with pins and a photo gets a label, which is previewed, published, printed, and has a history', async () => {
  const { page } = browser;
  const grower = await pages.newUser();
  await (await pages.login(grower.email)).send('POST', '/trace/api/company/create', { name: 'Station' });
  await logIn(page, `${pages.url}/products`, grower.email);
  await page.getByText('No products yet').waitFor();
  await expectAccessible(page);
  await page.getByRole('link', { name: 'New product' }).first().click();
  await named('name').fill('Washed Bourbon');
  await field('Description').fill('From the hills');
  await field('Photo').setInputFiles(photo);
  await page.getByRole('img', { name: 'photo.jpg' }).waitFor();
  await page.getByRole('img', { name: /^World map/ }).click({ position: { x: 200, y: 100 } });
  await expect.poll(() => field('Latitude').inputValue()).not.toBe('');
  await field('Name of the place').fill('Station A');
  await field('Latitude').fill('95');
  await press('Add product');
  await page.locator('[name="origin.locations.0.latitude"][aria-invalid="true"]').waitFor();
  await field('Latitude').fill('-1,95');
  await press('Add product');
  await page.getByRole('heading', { name: 'Washed Bourbon' }).waitFor();
  await expectAccessible(page);
  await field('Description').fill('From the hills above the lake');
  await press('Save');
  await page.getByText('Changes saved').waitFor();

  await page.getByRole('link', { name: 'History' }).click();
  const change = page.getByRole('row', { name: 'Ana Uwase changed Description' });
  await change.getByText('From the hills', { exact: true }).waitFor();
  await change.getByText('From the hills above the lake', { exact: true }).waitFor();
  await page.getByText('Ana Uwase added the product').waitFor();
  await expectAccessible(page);
  await page.getByRole('link', { name: 'Labels' }).click();
  await page.getByText('This product has no label yet').waitFor();
  await named('title').fill('Spring');
  await press('Add label');
  await page.getByRole('heading', { name: 'Spring' }).waitFor();
  await editWithPreview();
  await press('Save');
  await page.getByText('Label saved').waitFor();
  await expectAccessible(page);
  await press('Publish');
  await page.getByText('Label published').waitFor();

  await page.getByText('Only this computer can open this address').waitFor();
  const pathname = await pageOfLabel('Spring');
  await page.getByRole('link', { name: 'Print the code' }).click();
  await page.getByText(`${pages.traceUrl}${pathname.replace('/trace', '')}`, { exact: true }).waitFor();
  await page.getByText('Only this computer can open this address').waitFor();
  await page.getByRole('img', { name: 'Code of Spring' }).waitFor();
  await expectCentred();
  await page.getByLabel('Layout').selectOption('sheet');
  await expect.poll(() => page.locator('figure').count()).toBe(24);
  expect(new URL(page.url()).search).toBe('?layout=sheet');
  await expectAccessible(page);
  await page.emulateMedia({ media: 'print' });
  expect(await page.getByLabel('Layout').isVisible()).toBe(false);
  expect(await page.locator('figure').last().isVisible()).toBe(true);
  const printed = (await page.pdf({ preferCSSPageSize: true })).toString('latin1');
  for (const format of ['A4', 'Letter'] as const) {
    const margin = { top: '10mm', bottom: '10mm', left: '10mm', right: '10mm' };
    const text = (await page.pdf({ format, margin })).toString('latin1');
    expect(text.match(/\/Type \/Page\b/g), format).toHaveLength(1);
  }
  expect(printed.match(/\/Type \/Page\b/g)).toHaveLength(1);
  expect(printed).toMatch(/\/MediaBox \[0 0 59[45][.\d]* 84[12][.\d]*\]/);
  await page.emulateMedia({ media: 'screen' });
  expect(realComplaints(browser)).toEqual([]);
});

test('an administrator switches currencies, everyone converts, and a rate is drawn as a line', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/currency`, user.email);
  await page.getByText('You can convert amounts once there are rates').waitFor();
  await page.getByRole('cell', { name: 'EUR', exact: true }).waitFor();
  await expectAccessible(page);
  await pages.query('trace_backend', "UPDATE currency_types SET enabled = false WHERE code = 'JPY'");
  await pages.query(
    'trace_backend',
    `INSERT INTO currency_rates (date, code, value)
     SELECT day::date, 'USD', 1 + extract(day FROM day) / 100
     FROM generate_series(current_date - 10, current_date, interval '1 day') AS day`,
  );
  await page.context().clearCookies();
  await logIn(page, `${pages.url}/currency`, ADMIN.username, ADMIN.password);
  const chart = page.getByRole('img', { name: 'The value of one euro in USD, day by day' });
  await chart.waitFor();
  const marks = (await chart.locator('text').allTextContents()).map(text => text.trim());
  expect(marks.filter(text => /^1\.\d+$/.test(text)).length).toBeGreaterThan(2);
  expect(marks.filter(text => /^[A-Z][a-z]{2} \d+$/.test(text)).length).toBeGreaterThan(2);
  await page.getByText('Rates in figures').click();
  const figures = page.getByRole('table', { name: 'The value of one euro in USD, day by day' });
  expect(await figures.getByRole('row').count()).toBeGreaterThan(3);
  await expectAccessible(page);
  await page.getByLabel('Amount').fill('250');
  await press('Convert');
  await page.getByText('€250.00').waitFor();
  expect(await page.getByLabel('From', { exact: true }).inputValue()).toBe('EUR');
  await page.getByRole('textbox', { name: 'Day' }).fill('2020-01-02');
  await press('Convert');
  await page.getByText('There are no rates of USD for Jan 2, 2020').waitFor();
  expect(await page.getByText('€250.00').count()).toBe(0);
  await page.getByRole('textbox', { name: 'Day' }).fill('');
  await press('Convert');
  await page.getByText('€250.00').waitFor();
  await page.getByLabel('Code or name').fill('JPY');
  await press('Apply');
  await page.getByRole('cell', { name: 'Japanese Yen', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Enable JPY' }).click();
  await page.getByRole('button', { name: 'Disable JPY' }).waitFor();
  await page.getByText('No rate provider is set up').waitFor();
  const from = page.getByLabel('From', { exact: true });
  expect(await from.locator('option', { hasText: 'USD' }).first().textContent()).toBe('USD · US Dollar');
  await from.selectOption({ label: 'RWF · Rwandan Franc (no rates)' });
  await press('Convert');
  await page.getByText('There are no rates of RWF yet').waitFor();
  await from.selectOption('EUR');
  await page.getByLabel('Amount').fill('much');
  await press('Convert');
  const complaint = page.getByText('Please write a number, such as 3.5');
  await complaint.waitFor();
  expect(await page.getByText('€250.00').count()).toBe(0);
  await expectAccessible(page);
  // One thousand, or one and a bit.
  await page.getByLabel('Amount').fill('1,234');
  await complaint.waitFor({ state: 'hidden' });
  await press('Convert');
  await complaint.waitFor();
  await page.getByLabel('Amount').fill('1.234,56');
  await press('Convert');
  await page.getByText('€1,234.56').waitFor();
  expect(await complaint.count()).toBe(0);
});

test('an administrator imports a file of rates, sees the errors of another, and the last import', async () => {
  const { page } = browser;
  const file = (text: string) => ({
    name: 'eurofxref-hist.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(text),
  });
  await logIn(page, `${pages.url}/currency`, ADMIN.username, ADMIN.password);
  await page.getByText('No rate file has been imported yet').waitFor();
  await press('Import rates');
  await page.getByText('Please fill this in').waitFor();
  await named('file').setInputFiles(file('Date,CHF,\n2024-05-16,0.98,\n2024-05-15,soon,\n'));
  await press('Import rates');
  await page.getByText('Line 3: soon is not a rate of CHF').waitFor();
  await named('file').setInputFiles(file('Date,CHF,\n2024-05-16,0.98,\n2024-05-15,0.97,\n'));
  await press('Import rates');
  await page.getByText('Imported. Rates: 2; days: 2').waitFor();
  await page.getByText('from May 15, 2024 to May 16, 2024').waitFor();
  await page.getByRole('button', { name: 'Disable CHF' }).waitFor();
  await expectAccessible(page);
  expect(realComplaints(browser)).toEqual([]);
});
