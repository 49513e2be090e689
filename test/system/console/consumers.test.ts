import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Browser } from '../../helpers/browser.ts';
import { type RunningConsole, runningConsole } from '../../helpers/console.ts';
import { consoleBrowser, expectAccessible, logIn, realComplaints } from '../../helpers/console-page.ts';
import { picture, uploadFile } from '../../helpers/images.ts';
import { labelFields } from '../../helpers/product-forms.ts';
import { openScreenshots, type Screenshots } from '../../helpers/screenshots.ts';
import { ADMIN } from '../../helpers/trace.ts';

const XSS = '<img src=x onerror=alert(1)>';

let pages: RunningConsole;
let browser: Browser;
let user: { id: number; email: string };
let photo: { name: string; mimeType: string; buffer: Buffer };
let productId: number;
let companyId: number;
let label: { id: number; uuid: string };
/** has a registered field, and no company */
let grower: LoggedIn & { email: string };
let geoid: string;
let screenshots: Screenshots;
type LoggedIn = Awaited<ReturnType<RunningConsole['login']>>;

async function done(who: LoggedIn, method: string, path: string, body?: object) {
  const answer = await who.send(method, `/trace/api/${path}`, body);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.data;
}

/** Registers the field of a user; returns its GeoID. */
async function registerMeadow(who: LoggedIn): Promise<string> {
  const ring = [
    [30, -2],
    [30.001, -2],
    [30.001, -1.999],
    [30, -2],
  ];
  const feature = {
    type: 'Feature',
    properties: { name: 'Lower meadow' },
    geometry: { type: 'Polygon', coordinates: [ring] },
  };
  return (await who.send('PUT', '/packet/fields', feature)).body.fields[0].geoid;
}

beforeAll(async () => {
  pages = await runningConsole();
  browser = await consoleBrowser(pages);
  user = await pages.newUser();
  photo = { name: 'photo.jpg', mimeType: 'image/jpeg', buffer: await picture(60, 40).jpeg().toBuffer() };
  const owner = await pages.login(user.email);
  const documents = [
    { type: 'LINK', category: 'VIDEO', name: 'The harvest', link: 'https://video.example/1' },
    { type: 'LINK', category: 'PRODUCTION_RECORD', name: 'Washing' },
  ];
  companyId = (await done(owner, 'POST', 'company/create', { name: 'Kopanyi', documents })).id;
  const product = { name: 'Bourbon', description: 'From the hills', company: { id: companyId } };
  productId = (await done(owner, 'POST', 'product/create', product)).id;
  const fields = labelFields(['name', 'description']);
  label = await done(owner, 'POST', 'product/label/create', { productId, title: 'Spring', fields });
  await done(owner, 'POST', 'product/label/execute/PUBLISH_LABEL', { id: label.id });
  await done(owner, 'POST', `public/product/label/feedback/${label.uuid}`, {
    type: 'PRAISE',
    feedback: XSS,
    questionnaireAnswers: { age: '30' },
  });
  const admin = await pages.login(ADMIN.username, ADMIN.password);
  await done(admin, 'PUT', 'chain/measure-unit-type', { code: 'BAG', label: 'Bag' });
  screenshots = await openScreenshots();
  const { email } = await pages.newUser();
  grower = { email, ...(await pages.login(email)) };
  geoid = await registerMeadow(grower);
});
afterAll(async () => {
  await browser.close();
  await pages.stop();
  await screenshots.close();
});
beforeEach(() => browser.page.context().clearCookies());

const named = (name: string) => browser.page.locator(`[name="${name}"]`).first();
const field = (name: string) => browser.page.getByLabel(name, { exact: true }).first();
const press = (name: string) => browser.page.getByRole('button', { name, exact: true }).first().click();
const colourOf = (text: Locator) =>
  text.evaluate(node => node.ownerDocument.defaultView?.getComputedStyle(node).color);
const inDialog = (name: string) =>
  browser.page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
const asOwner = async (path: string) => logIn(browser.page, `${pages.url}${path}`, user.email);
const stored = async (path: string) => done(await pages.login(user.email), 'GET', path);

test('the journey of a product is placed on its map, and the places of its origin have their details', async () => {
  const { page } = browser;
  await asOwner(`/products/${productId}`);
  const map = page.getByRole('region', { name: 'Map of the product’s journey' });
  await map.click({ position: { x: 200, y: 100 } });
  await page.getByText('Click to place point 2 of the journey').waitFor();
  await map.click({ position: { x: 300, y: 60 } });
  await page.getByRole('group', { name: 'Journey 2' }).waitFor();
  const latitudes = page.getByRole('group', { name: /^Journey \d/ }).getByLabel('Latitude');
  await expect.poll(() => latitudes.count()).toBe(2);
  const [first, second] = await Promise.all([0, 1].map(index => latitudes.nth(index).inputValue()));
  expect(Number(second)).toBeGreaterThan(Number(first));
  await page.getByText('Middle of the map: 15°, 10°, Niger').first().waitFor();
  await press('Add a place');
  await field('Name of the place').fill('Station A');
  await field('Area in hectares').fill('1.5');
  const origin = page.getByRole('region', { name: 'World map with the places of origin' });
  await field('Latitude').fill('-2');
  await field('Longitude').fill('230');
  await press('Save');
  await page.locator('[name="origin.locations.0.longitude"][aria-invalid="true"]').waitFor();
  await field('Longitude').fill('30');
  await page.getByText('Middle of the map: -2°, 30°, Rwanda').waitFor();
  const heading = page.getByRole('group', { name: 'Places of origin', exact: true }).locator('legend');
  expect((await heading.boundingBox())?.y).toBeLessThan((await origin.boundingBox())?.y ?? 0);
  expect(await field('Country').inputValue()).toBe('RW');
  await field('Country').selectOption({ label: 'Kenya' });
  await field('Longitude').fill('30.0');
  expect(await field('Country').inputValue()).toBe('KE');
  await field('Country').selectOption({ label: 'None' });
  await field('Longitude').fill('30');
  expect(await field('Country').inputValue()).toBe('RW');
  await field('Address').fill('Huye');
  await field('Language of the texts').selectOption('FR');
  await press('Save');
  await page.getByText('Changes saved').first().waitFor();
  const product = await stored(`product/${productId}`);
  expect(product.journeyMarkers).toHaveLength(2);
  expect(product.settings.language).toBe('FR');
  expect(product.origin.locations).toEqual([
    {
      pinName: 'Station A',
      latitude: -2,
      longitude: 30,
      areaInHectares: 1.5,
      countryCode: 'RW',
      address: 'Huye',
    },
  ]);
  await page.reload();
  await page.getByText('Middle of the map: -2°, 30°, Rwanda').waitFor();
  expect(await field('Country').inputValue()).toBe('RW');
  await page.getByText('Middle of the map: -2°, 30°, Rwanda').waitFor();
  // Nothing that is saved moves before it is chosen; the place that was added does.
  await page.getByText('Click to place pin 2;').waitFor();
  await page.getByText('Click to place point 3 of the journey').waitFor();
  await press('Add a place');
  const corner = { position: { x: 9, y: 9 } };
  await origin.click(corner);
  await origin.click(corner);
  await page.locator('[name="origin.locations.1.latitude"]').waitFor();
  expect(await page.locator('[name="origin.locations.1.countryCode"]').inputValue()).toBe('CD');
  expect(await page.locator('[name="origin.locations.0.latitude"]').inputValue()).toBe('-2');
  expect(await page.locator('[name="origin.locations.1.latitude"]').inputValue()).toMatch(/^-0\.1/);
  await press('My position 1');
  await page.getByText('The browser can’t find your position').waitFor();
  await press('Remove entry 2');
  await page.getByText('Click to place pin 2;').waitFor();
  await press('Place 1 on the map');
  await page.getByText('Click to place pin 1;').waitFor();
  await origin.click(corner);
  expect(await page.locator('[name="origin.locations.0.latitude"]').inputValue()).toMatch(/^-0\.1/);
  expect(await page.locator('[name="origin.locations.0.countryCode"]').inputValue()).toBe('RW');
  await expectAccessible(page);
  expect(realComplaints(browser)).toEqual([]);
});

test('the page of a label has the colour and the picture of its preview, and offers no settings that only apps use', async () => {
  const { page } = browser;
  const forApps = { tabQuality: true, orderProducers: 1, fairTrade: 4.2, graphicFarmGatePrice: 'PER_KG' };
  const change = { id: productId, businessToCustomerSettings: forApps };
  await done(await pages.login(user.email), 'PUT', 'product', change);
  await asOwner(`/products/${productId}/consumer-page`);
  const preview = page.getByRole('region', { name: 'Preview' });
  await preview.getByText('From the hills').waitFor();
  const picker = page.getByLabel('Choose: Main colour');
  await picker.fill('#ffdd00');
  expect(await field('Main colour').inputValue()).toBe('#ffdd00');
  await page.getByText('Too pale to read on a light page').waitFor();
  await field('Main colour').fill('#25265e');
  expect(await picker.inputValue()).toBe('#25265e');
  const offered = page.locator('form [name^="businessToCustomerSettings."]');
  expect(await offered.evaluateAll(nodes => nodes.map(node => node.getAttribute('name')))).toEqual([
    ...['primaryColor', 'tabFeedback'].map(name => `businessToCustomerSettings.${name}`),
  ]);
  await field('Picture at the top').setInputFiles(photo);
  await preview.getByRole('img', { name: 'Picture at the top' }).waitFor();
  expect(await colourOf(preview.getByText('Bourbon', { exact: true }))).toBe('rgb(37, 38, 94)');
  await press('Save');
  await page.getByText('Changes saved').first().waitFor();
  const settings = { ...forApps, primaryColor: '#25265e' };
  expect((await stored(`product/${productId}`)).businessToCustomerSettings).toMatchObject(settings);
  await expectAccessible(page);

  await page.goto(`${pages.url}/labels/${label.id}/consumer-page`);
  await page.getByRole('heading', { name: 'Spring' }).waitFor();
  await field('Main colour').fill('#007700');
  await press('Save');
  await page.getByText('Label saved').waitFor();
  const content = await stored(`product/label/content/${label.id}`);
  expect(content.businessToCustomerSettings.primaryColor).toBe('#007700');
  expect((await stored(`product/${productId}`)).businessToCustomerSettings.primaryColor).toBe('#25265e');
  await field('Picture at the top').setInputFiles(photo);
  await page.getByRole('button', { name: 'Remove', exact: true }).first().waitFor();
  await press('Save');
  await expect
    .poll(async () => (await stored(`product/label/content/${label.id}`)).businessToCustomerSettings)
    .toHaveProperty('landingPageImage');
  await expectAccessible(page);
  await page.goto(`${pages.url}/trace/api/public/product/label/${label.uuid}`);
  expect(await colourOf(page.getByRole('heading', { name: 'Spring' }))).toBe('rgb(0, 119, 0)');
  const top = page.getByRole('img', { name: 'Bourbon' });
  expect(await top.evaluate(node => (node as unknown as { naturalWidth: number }).naturalWidth)).toBe(60);
  expect(realComplaints(browser)).toEqual([]);
});

test('the history of a product describes changes in sentences, with names instead of ids', async () => {
  const { page } = browser;
  const owner = await pages.login(user.email);
  for (const colour of ['red', 'green']) {
    const bytes = await picture(40, 30, colour).png().toBuffer();
    const { body } = await uploadFile({ url: pages.traceUrl }, owner, 'image', bytes);
    await done(owner, 'PUT', 'product', { id: productId, photo: { storageKey: body.data.storageKey } });
  }
  const partner = (await done(owner, 'POST', 'company/create', { name: 'Roasters of Berlin' })).id;
  const associatedCompanies = [{ company: { id: partner }, type: 'ROASTER' }];
  await done(owner, 'PUT', 'product', { id: productId, associatedCompanies, knowledgeBlog: true });
  await asOwner(`/products/${productId}/history`);
  const companies = page.getByRole('row', { name: 'Ana Uwase changed Other companies' });
  await companies.getByText('Company: Roasters of Berlin').waitFor();
  await companies.getByText('Relation: roaster').waitFor();
  const blog = page.getByRole('row', { name: 'The knowledge blog is public' });
  await blog.getByText('yes', { exact: true }).waitFor();
  await page.getByRole('row', { name: /Ana Uwase added Label Spring Added/ }).waitFor();
  const pictures = page.getByRole('row', { name: 'Ana Uwase changed Photo' }).first().getByRole('img');
  const widths = () =>
    pictures.evaluateAll(all => all.map(node => (node as unknown as { naturalWidth: number }).naturalWidth));
  await expect.poll(widths).toEqual([40, 40]);
  expect(await page.getByText('"ROASTER"').first().isVisible()).toBe(false);
  await expectAccessible(page);
  await done(owner, 'PUT', 'product', { id: productId, associatedCompanies: [] });
});

test('final products are added, changed and removed, entries of the knowledge blog added and changed', async () => {
  const { page } = browser;
  await asOwner(`/products/${productId}/final-products`);
  await page.getByText('No final products yet').waitFor();
  await expectAccessible(page);
  await named('name').fill('A bag');
  await field('Unit').selectOption({ label: 'Bag' });
  await field('Spring').check();
  await press('Add final product');
  await press('A bag');
  await expect.poll(() => named('name').inputValue()).toBe('A bag');
  expect(await field('Spring').isChecked()).toBe(true);
  await named('name').fill('A large bag');
  await field('Unit').selectOption({ label: 'None' });
  await press('Save');
  await page.getByRole('button', { name: 'A large bag' }).waitFor();
  const { items } = await stored(`product/${productId}/finalProduct/list`);
  expect(items).toMatchObject([{ name: 'A large bag', labels: [{ id: label.id }] }]);
  expect(items[0].measurementUnitType).toBeUndefined();
  await press('A large bag');
  await press('Remove');
  await inDialog('Remove');
  await page.getByText('No final products yet').waitFor();

  await page.getByRole('link', { name: 'Knowledge blog' }).click();
  await page.getByText('No entries yet').waitFor();
  await expectAccessible(page);
  await named('title').fill(XSS);
  await field('Subject').selectOption({ label: 'quality' });
  await field('Date').fill('2026-03-01');
  await field('Text').fill('How we wash');
  await press('Add a document');
  await field('File').setInputFiles(photo);
  await page.getByRole('link', { name: 'photo.jpg' }).waitFor();
  await press('Add entry');
  await press(XSS);
  await expect.poll(() => field('Text').inputValue()).toBe('How we wash');
  await page.getByRole('link', { name: 'photo.jpg' }).waitFor();
  await named('title').fill('Washing');
  await press('Save');
  await page.getByRole('button', { name: 'Washing' }).waitFor();
  await page.getByText('Mar 1, 2026').waitFor();
  await expectAccessible(page);
  expect(realComplaints(browser)).toEqual([]);
});

test('a label has its own places, chooses documents, and has batches that can be checked', async () => {
  const { page } = browser;
  await asOwner(`/labels/${label.id}/origin`);
  await press('Add a place');
  await field('Name of the place').fill('Station B');
  await press('Save');
  await page.getByText('Label saved').first().waitFor();
  await expectAccessible(page);

  await page.getByRole('link', { name: 'Documents' }).click();
  await page.getByRole('button', { name: 'Move up Washing' }).click();
  await field('Washing').check();
  await press('Save');
  await page.getByText('Label saved').first().waitFor();
  await expectAccessible(page);
  const documents = await stored(`product/label/${label.id}/documents`);
  expect(documents.map(({ name, active }: { name: string; active: boolean }) => [name, active])).toEqual([
    ['Washing', true],
    ['The harvest', false],
  ]);

  await page.getByRole('link', { name: 'Label', exact: true }).click();
  await page.getByRole('region', { name: 'Preview' }).getByText('Washing').waitFor();
  await page.getByText('later changes to the product aren’t copied').waitFor();
  await expectAccessible(page);

  await page.getByRole('link', { name: 'Batches' }).click();
  await page.getByText('No batches yet').waitFor();
  await expectAccessible(page);
  // The filter above it has a field of the same name.
  const form = page.locator('form', { has: page.getByLabel('Produced on') });
  await form.getByLabel('Batch number').fill('B-1');
  await field('Produced on').fill('2026-02-01');
  await field('Expires on').fill('2025-02-01');
  await press('Add batch');
  await page.locator('[name="expiryDate"][aria-invalid="true"]').waitFor();
  await page.getByText('A batch cannot expire before it is produced').waitFor();
  await field('Expires on').fill('2027-02-01');
  await field('Authenticity can be checked').check();
  await press('Add batch');
  await page.getByText('Batch saved').waitFor();
  await press('B-1');
  await page.getByRole('heading', { name: 'Change batch B-1' }).waitFor();
  await form.getByLabel('Batch number').fill('B-2');
  await press('Save');
  await page.getByRole('button', { name: 'B-2' }).waitFor();
  const { items } = await stored(`product/label/${label.id}/batches`);
  expect(items).toMatchObject([{ number: 'B-2', productionDate: '2026-02-01', checkAuthenticity: true }]);
  await press('B-2');
  await press('Remove batch');
  await inDialog('Remove batch');
  await page.getByText('No batches yet').waitFor();

  await page.goto(`${pages.url}/products/${productId}/history`);
  await page.getByRole('row', { name: 'changed Label Spring · Documents' }).getByText('Washing').waitFor();
  await page.getByRole('row').getByText('French').first().waitFor();
  expect(realComplaints(browser)).toEqual([]);
});

test('feedback of consumers is announced to the owner of the product until somebody has read it', async () => {
  const { page } = browser;
  await asOwner('/');
  const announced = page.getByRole('link', { name: '1 consumer wrote about the label Spring of' });
  await announced.waitFor();
  await expectAccessible(page);
  await announced.click();
  await page.getByText(XSS).waitFor();
  await page.getByRole('cell', { name: /^[A-Z][a-z]{2} \d+, \d{4}, / }).waitFor();
  await page.getByText('age: 30').waitFor();
  await expectAccessible(page);
  await page.getByLabel('Kind').selectOption('COMPLAINT');
  await page.getByText('No feedback yet').waitFor();
  await page.getByLabel('Kind').selectOption('PRAISE');
  await page.getByRole('button', { name: /^Remove \d+$/ }).click();
  await inDialog('Remove');
  await page.getByText('No feedback yet').waitFor();

  await page.goto(pages.url);
  await page.getByRole('heading', { name: 'Needs attention' }).waitFor();
  await page.getByText('Nothing needs your attention.').waitFor();
  expect(await announced.count()).toBe(0);
  expect(realComplaints(browser)).toEqual([]);
});

test('unpublishing a label asks first; a partner of the product reads the label and cannot change it', async () => {
  const { page } = browser;
  await asOwner(`/labels/${label.id}`);
  await press('Unpublish');
  await page.getByText('Printed codes won’t work until').waitFor();
  await inDialog('Cancel');
  expect((await stored(`product/label/${label.id}`)).status).toBe('PUBLISHED');
  await press('Unpublish');
  await inDialog('Unpublish');
  await page.getByText('Label unpublished').waitFor();
  await press('Publish');
  await page.getByText('Label published').waitFor();

  const partner = await pages.newUser();
  const { id } = await done(await pages.login(partner.email), 'POST', 'company/create', { name: 'Reader' });
  const associatedCompanies = [{ company: { id }, type: 'ROASTER' }];
  await done(await pages.login(user.email), 'PUT', 'product', { id: productId, associatedCompanies });
  await page.context().clearCookies();
  await logIn(page, `${pages.url}/labels/${label.id}`, partner.email);
  const changes = page.getByRole('button', { name: /^(Unpublish|Publish|Save|Remove|Add|Move up)/ });
  for (const screen of ['', '/origin', '/consumer-page', '/documents', '/batches', '/feedback']) {
    await page.goto(`${pages.url}/labels/${label.id}${screen}`);
    await page.getByText('You can read this label').waitFor();
    expect(await changes.and(page.locator(':enabled')).count(), screen).toBe(0);
    expect(await page.locator('form[novalidate] :enabled:is(input, textarea, select)').count(), screen).toBe(
      0,
    );
  }
  await page.goto(`${pages.url}/labels/${label.id}`);
  await page.getByText('You can read this label').waitFor();
  expect(await page.getByLabel('Title').isDisabled()).toBe(true);
  await expectAccessible(page);
  await page.goto(`${pages.url}/products/${productId}/labels`);
  await page.getByRole('link', { name: 'Spring' }).waitFor();
  expect(await page.getByRole('button', { name: 'Add label' }).count()).toBe(0);
  const owner = await pages.login(user.email);
  await done(owner, 'PUT', 'product', { id: productId, associatedCompanies: [] });
  await done(owner, 'POST', `product/label/${label.id}/differences`, { names: [] });

  await page.context().clearCookies();
  await asOwner(`/products/${productId}/labels`);
  await page.getByRole('link', { name: 'Spring' }).waitFor();
  expect(await page.getByText('Product changed since').count()).toBe(0);
  await done(owner, 'PUT', 'product', { id: productId, description: 'From the valley' });
  await page.reload();
  await page.getByText('Product changed since').waitFor();
  await page.getByRole('link', { name: 'Show differences' }).waitFor();
  await expectAccessible(page);
  expect(realComplaints(browser)).toEqual([]);
});

test('a partner of a product is found by a part of its name, with the keyboard and by a click', async () => {
  const { page } = browser;
  const their = await pages.login((await pages.newUser()).email);
  const ids = [];
  for (const name of ['Tostadora Uno', 'Tostadora Dos']) {
    ids.push((await done(their, 'POST', 'company/create', { name })).id);
  }
  await asOwner(`/products/${productId}`);
  await press('Add a company');
  const first = page.getByRole('combobox', { name: 'Company', exact: true }).first();
  const options = page.getByRole('listbox', { name: 'Company' }).first().getByRole('option');
  await first.fill('tosta');
  await page.getByText('2 found: choose one').waitFor();
  await expectAccessible(page);
  await press('Save');
  const complaint = await first.evaluate(input => 'validationMessage' in input && input.validationMessage);
  expect(complaint).toBe('Please choose a company from the list');
  await first.fill('tostadora');
  await page.getByRole('option', { name: 'Tostadora Uno' }).waitFor();
  await first.press('Escape');
  expect(await options.count()).toBe(0);
  await first.press('ArrowDown');
  await first.press('ArrowDown');
  await page.getByRole('option', { name: 'Tostadora Uno', selected: true }).waitFor();
  await first.press('Enter');
  expect(await first.inputValue()).toBe('Tostadora Uno');
  await press('Add a company');
  const second = page.getByRole('combobox', { name: 'Company', exact: true }).nth(1);
  await second.fill('DOS');
  await page.getByRole('option', { name: 'Tostadora Dos' }).click();
  await press('Save');
  await page.getByText('Changes saved').waitFor();
  const partners = (await stored(`product/${productId}`)).associatedCompanies as {
    company: { id: number };
  }[];
  expect(partners.map(({ company }) => company.id)).toEqual([...ids, companyId]);
  await page.reload();
  await first.waitFor();
  expect([await first.inputValue(), await second.inputValue()]).toEqual(['Tostadora Uno', 'Tostadora Dos']);
  await done(await pages.login(user.email), 'PUT', 'product', { id: productId, associatedCompanies: [] });
  expect(realComplaints(browser)).toEqual([]);
});

test('an associated company leaves a product; an administrator merges it into another, with its invited users', async () => {
  const { page } = browser;
  const roaster = await pages.newUser();
  const their = await pages.login(roaster.email);
  const { id } = await done(their, 'POST', 'company/create', { name: 'Roastery' });
  const associatedCompanies = [{ company: { id }, type: 'ROASTER' }];
  await done(await pages.login(user.email), 'PUT', 'product', { id: productId, associatedCompanies });
  await logIn(page, `${pages.url}/products/${productId}`, roaster.email);
  await expectAccessible(page);
  await press('Remove Roastery from the product');
  await page.getByText('Company removed from the product').waitFor();
  expect((await stored(`product/${productId}`)).associatedCompanies).toHaveLength(1);

  const colleague = await pages.newUser();
  const asked = { companyId: id, userId: colleague.id, companyUserRole: 'COMPANY_USER' };
  await done(their, 'POST', 'company/execute/ADD_USER_TO_COMPANY', asked);
  await page.goto(`${pages.url}/companies/${id}/members`);
  await page.getByLabel(`Role of User ${colleague.id}`).selectOption('COMPANY_ADMIN');
  await page.getByText('Changes saved').waitFor();
  expect(
    (await done(await pages.login(colleague.email), 'GET', 'company/invitation/list')).items,
  ).toMatchObject([{ companyRole: 'COMPANY_ADMIN' }]);

  await page.context().clearCookies();
  await logIn(page, `${pages.url}/companies/${id}`, ADMIN.username, ADMIN.password);
  const other = page.getByRole('combobox', { name: 'Other company' });
  await other.fill('ROASTERY');
  await page.getByText('No active company has this in its name').waitFor();
  await other.fill('kopa');
  await page.getByRole('option', { name: 'Kopanyi' }).waitFor();
  await expectAccessible(page);
  await other.press('Enter');
  expect(await other.inputValue()).toBe('Kopanyi');
  await expectAccessible(page);
  await press('Merge into another company');
  await page.getByText('Roastery becomes part of Kopanyi').waitFor();
  await inDialog('Merge into another company');
  await page.getByRole('heading', { name: 'Kopanyi' }).waitFor();
  const { users } = await stored(`company/profile/${companyId}`);
  expect(users.map(({ id: member }: { id: number }) => member).sort()).toEqual([user.id, roaster.id].sort());
  expect(realComplaints(browser)).toEqual([]);
});

/** Pastes into a field; whether the page has put it somewhere itself. */
async function paste(name: string, text: string): Promise<boolean> {
  await field(name).focus();
  return browser.page.evaluate(`(() => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', ${JSON.stringify(text)});
    const paste = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
    document.activeElement.dispatchEvent(paste);
    return paste.defaultPrevented;
  })()`);
}

async function look(name: string): Promise<void> {
  const { page } = browser;
  await expectAccessible(page);
  await screenshots.take(page, name);
}

test('pasted coordinates go into both fields of a place, and its field is found by its name', async () => {
  const { page } = browser;
  const { id } = await done(grower, 'POST', 'product/create', { name: 'Bourbon' });
  await logIn(page, `${pages.url}/products/${id}`, grower.email);
  await press('Add a place');
  await field('Name of the place').fill('Station A');
  expect(await paste('Latitude', '-1.95, 30.06')).toBe(true);
  expect([await field('Latitude').inputValue(), await field('Longitude').inputValue()]).toEqual([
    '-1.95',
    '30.06',
  ]);
  expect(await paste('Longitude', '31')).toBe(false);
  const choice = page.getByRole('combobox', { name: 'Registered field' });
  await choice.fill('lower');
  await page.getByText('1 found: choose it').waitFor();
  await look('place-of-a-product');
  await press('Save');
  await page.locator('[name="origin.locations.0.geoid"][aria-invalid="true"]').waitFor();
  await page.getByText('Please choose a field from the list').waitFor();
  await choice.fill('lower m');
  await page.getByRole('option', { name: 'Lower meadow' }).click();
  expect(await choice.inputValue()).toBe('Lower meadow');
  await press('Save');
  await page.getByText('Changes saved').first().waitFor();
  const place = { pinName: 'Station A', latitude: -1.95, longitude: 30.06, countryCode: 'RW', geoid };
  expect((await done(grower, 'GET', `product/${id}`)).origin.locations).toEqual([place]);
  await page.reload();
  await expect.poll(() => choice.inputValue()).toBe('Lower meadow');
  await choice.fill('');
  await press('Save');
  await page.getByText('Changes saved').first().waitFor();
  expect((await done(grower, 'GET', `product/${id}`)).origin.locations[0]).not.toHaveProperty('geoid');
  await choice.fill(geoid);
  await press('Save');
  await expect
    .poll(async () => (await done(grower, 'GET', `product/${id}`)).origin.locations)
    .toEqual([place]);
  await expect.poll(() => choice.inputValue()).toBe('Lower meadow');
  expect(realComplaints(browser)).toEqual([]);
});

test('a place without coordinates gets the position of its chosen field; existing coordinates stay', async () => {
  const { page } = browser;
  const { id } = await done(grower, 'POST', 'product/create', { name: 'Typica' });
  await logIn(page, `${pages.url}/products/${id}`, grower.email);
  const choice = page.getByRole('combobox', { name: 'Registered field' }).first();
  const chooseMeadow = async () => {
    await choice.fill('lower');
    await page.getByRole('option', { name: 'Lower meadow' }).click();
  };
  await press('Add a place');
  await chooseMeadow();
  await expect.poll(() => field('Latitude').inputValue()).toBe('-1.9995');
  expect(await field('Longitude').inputValue()).toBe('30.00075');
  await choice.fill('');
  await field('Latitude').fill('-1.95');
  await chooseMeadow();
  await press('Save');
  await page.getByText('Changes saved').first().waitFor();
  const place = { latitude: -1.95, longitude: 30.00075, countryCode: 'RW', geoid };
  expect((await done(grower, 'GET', `product/${id}`)).origin.locations).toEqual([place]);
  expect(realComplaints(browser)).toEqual([]);
});

test('places of a batch are on a map, with their country, and have no plot', async () => {
  const { page } = browser;
  const bourbon = await done(grower, 'POST', 'product/create', { name: 'Bourbon' });
  const made = { productId: bourbon.id, title: 'Spring', fields: [] };
  const { id: labelId } = await done(grower, 'POST', 'product/label/create', made);
  await logIn(page, `${pages.url}/labels/${labelId}/batches`, grower.email);
  const form = page.locator('form', { has: page.getByLabel('Produced on') });
  await form.getByLabel('Batch number').fill('B-1');
  await press('Add a place');
  await field('Name of the place').fill('Station A');
  await paste('Latitude', '-1.95; 30.06');
  const map = page.getByRole('region', { name: 'World map with the places of origin' });
  await page.getByText('Middle of the map: -1.95°, 30.06°, Rwanda').waitFor();
  await press('Add a place');
  await map.click({ position: { x: 9, y: 9 } });
  await expect.poll(() => page.locator('[name="locations.1.latitude"]').inputValue()).not.toBe('');
  expect(await page.locator('[name="locations.0.countryCode"]').inputValue()).toBe('RW');
  expect(await page.getByLabel('Registered field').count()).toBe(0);
  await look('places-of-a-batch');
  await press('Add batch');
  await page.getByText('Batch saved').waitFor();
  const [batch] = (await done(grower, 'GET', `product/label/${labelId}/batches`)).items;
  expect(batch.locations).toMatchObject([
    { pinName: 'Station A', latitude: -1.95, longitude: 30.06, countryCode: 'RW' },
    { latitude: expect.any(Number), longitude: expect.any(Number) },
  ]);
  const refused = await grower.send('PUT', '/trace/api/product/label_batch', {
    id: batch.id,
    locations: [{ countryCode: 'Rwanda' }],
  });
  expect(refused.status).toBe(400);
  expect(realComplaints(browser)).toEqual([]);
});
