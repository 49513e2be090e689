import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Browser } from '../../helpers/browser.ts';
import { type RunningConsole, runningConsole } from '../../helpers/console.ts';
import { consoleBrowser, expectAccessible, logIn, realComplaints } from '../../helpers/console-page.ts';
import { picture, uploadFile } from '../../helpers/images.ts';
import { labelFields } from '../../helpers/product-forms.ts';
import { openScreenshots, type Screenshots } from '../../helpers/screenshots.ts';

const XSS = '<img src=x onerror=alert(1)>';

let pages: RunningConsole;
let browser: Browser;
let owner: { id: number; email: string };
let send: Awaited<ReturnType<RunningConsole['login']>>['send'];
let cookie: string;
let productId: number;
let labelId: number;
let companyId: number;
let screenshots: Screenshots;

async function done(method: string, address: string, body?: object) {
  const answer = await send(method, `/trace/api/${address}`, body);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.data;
}
const change = (body: object) => done('PUT', 'product', { id: productId, ...body });
const content = () => done('GET', `product/label/content/${labelId}`);

async function photo(colour: string): Promise<{ storageKey: string }> {
  const bytes = await picture(80, 60, colour).png().toBuffer();
  const answer = await uploadFile({ url: pages.traceUrl }, { cookie }, 'image', bytes);
  expect(answer.status, answer.text).toBe(200);
  return { storageKey: answer.body.data.storageKey };
}

beforeAll(async () => {
  pages = await runningConsole();
  browser = await consoleBrowser(pages);
  screenshots = await openScreenshots();
  owner = await pages.newUser();
  ({ send, cookie } = await pages.login(owner.email));
  companyId = (await done('POST', 'company/create', { name: 'Kopanyi', phone: '+250 1' })).id;
  const product = {
    ...{ name: 'Bourbon', description: 'From the hills', company: { id: companyId } },
    process: { production: 'Washed' },
    origin: { locations: [{ pinName: 'Station A', latitude: -1.95, longitude: 30.06 }] },
    businessToCustomerSettings: { primaryColor: '#25265E', tabQuality: true },
  };
  productId = (await done('POST', 'product/create', product)).id;
  const fields = labelFields(['name', 'description', 'process.production']);
  labelId = (await done('POST', 'product/label/create', { productId, title: 'Spring', fields })).id;
  await done('POST', 'product/label/execute/PUBLISH_LABEL', { id: labelId });
});
afterAll(async () => {
  await browser.close();
  await pages.stop();
  await screenshots.close();
});
beforeEach(() => browser.page.context().clearCookies());

const card = () => browser.page.locator('details', { hasText: /The label and its product differ/ });
const box = (name: string) => card().getByLabel(name, { exact: true });
const press = (name: string) => browser.page.getByRole('button', { name, exact: true }).click();

async function look(name: string): Promise<void> {
  const { page } = browser;
  await expectAccessible(page);
  await screenshots.take(page, name);
}

test('a label whose product has changed shows both side by side, and takes over what is ticked', async () => {
  const { page } = browser;
  await done('PUT', 'product/label/content', { labelId, name: 'Red Bourbon' });
  await change({
    ...{ description: `From the valley ${XSS}`, photo: await photo('red') },
    origin: { locations: [{ pinName: 'Station B', latitude: -2, longitude: 29.5, countryCode: 'RW' }] },
    businessToCustomerSettings: { primaryColor: '#884400', tabQuality: false },
  });
  await logIn(page, `${pages.url}/products/${productId}/labels`, owner.email);
  await page.getByText('Product changed since').waitFor();
  await page.getByRole('link', { name: 'See what differs' }).click();
  await card().getByText('The label and its product differ in 6 points').waitFor();
  expect(await card().getAttribute('open')).not.toBeNull();
  const ticked = await card().getByRole('checkbox', { checked: true }).count();
  expect([ticked, await box('Name').isChecked()]).toEqual([5, false]);
  const difference = (name: string) => card().locator('li', { has: page.getByLabel(name, { exact: true }) });
  const sides = (name: string) => difference(name).locator('dd').allInnerTexts();
  expect(await sides('Name')).toEqual(['Red Bourbon', 'Bourbon']);
  expect(await sides('Description')).toEqual(['From the hills', `From the valley ${XSS}`]);
  expect(await sides('Consumer page · Quality')).toEqual(['yes', 'no']);
  const [, places] = await sides('Origin');
  expect(places).toMatch(/^1 entry\s+.*Station B.*Rwanda/s);
  expect(await difference('Photo').locator('dd').first().innerText()).toBe('nothing');
  await expect
    .poll(() =>
      difference('Photo')
        .locator('img')
        .evaluate(img => 'naturalWidth' in img && img.naturalWidth),
    )
    .toBe(80);
  await look('differences');

  await page.getByLabel('Text: production').fill('Honey');
  await box('Origin').uncheck();
  await press('Take over what is ticked');
  await page.getByText('The label now says what you ticked').waitFor();
  const taken = await content();
  expect(taken).toMatchObject({
    ...{ name: 'Red Bourbon', description: `From the valley ${XSS}`, process: { production: 'Washed' } },
    origin: { locations: [{ pinName: 'Station A' }] },
    businessToCustomerSettings: { primaryColor: '#884400' },
  });
  expect(await page.getByLabel('Text: description').inputValue()).toBe(`From the valley ${XSS}`);
  expect(await page.getByLabel('Text: production').inputValue()).toBe('Honey');
  await card().getByText('differ in 2 points').waitFor();
  expect(await card().getAttribute('open')).toBeNull();
  await press('Save');
  await page.getByText('The label is saved').waitFor();
  expect((await content()).process.production).toBe('Honey');
  await page.goto(`${pages.url}/products/${productId}/labels`);
  await page.getByRole('link', { name: 'Spring' }).waitFor();
  expect(await page.getByText('Product changed since').count()).toBe(0);
  expect(realComplaints(browser)).toEqual([]);
});

test('a label is kept as it is; what changes while it is looked at is compared again, and what is typed stays', async () => {
  const { page } = browser;
  await change({ description: 'From the lake' });
  await logIn(page, `${pages.url}/labels/${labelId}`, owner.email);
  await box('Description').waitFor();
  await page.getByLabel('Text: description').fill('From our lake');
  await change({ responsibility: { laborPolicies: 'No children work' } });
  await press('Take over what is ticked');
  await card().getByRole('alert').getByText('It has changed since you read it').waitFor();
  await box('Labour policies').waitFor();
  expect((await content()).responsibility).toBeUndefined();
  await box('Labour policies').uncheck();
  await press('Take over what is ticked');
  await page.getByText('What you typed and did not save is still in the form').waitFor();
  expect(await page.getByLabel('Text: description').inputValue()).toBe('From our lake');
  expect((await content()).description).toBe('From the lake');
  await press('Save');
  await page.getByText('The label is saved').waitFor();

  const [stationA, stationC] = ['Station A', 'Station C'].map(pinName => ({ pinName }));
  const locations = [{ ...stationA, latitude: -1.95, longitude: 30.06 }, stationC];
  await change({ description: 'From the river', origin: { locations } });
  await page.reload();
  await card().getByText('Product changed since').waitFor();
  await card().getByText('Only here: 1 of 2 entries').waitFor();
  await press('Keep the label as it is');
  await page.getByText('The label stays as it is').waitFor();
  expect((await content()).description).toBe('From our lake');
  await expect.poll(() => card().getAttribute('open')).toBeNull();
  await card().locator('summary').click();
  expect(await card().getByRole('checkbox', { checked: true }).count()).toBe(0);
  expect(await card().getByRole('button').count()).toBe(0);
  await look('differences-kept');
  expect(realComplaints(browser).filter(text => !text.includes('412'))).toEqual([]);
});

test('those who only read the label are not asked to settle anything', async () => {
  const { page } = browser;
  const reader = await pages.newUser();
  const theirs = await pages.login(reader.email);
  const made = await theirs.send('POST', '/trace/api/company/create', { name: 'Reader' });
  await change({ associatedCompanies: [{ company: { id: made.body.data.id }, type: 'ROASTER' }] });
  await logIn(page, `${pages.url}/labels/${labelId}`, reader.email);
  await page.getByText('You can read this label').waitFor();
  await page.getByLabel('Text: description').waitFor();
  expect(await card().count()).toBe(0);
});
