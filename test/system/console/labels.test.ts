import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Browser, openBrowser } from '../../helpers/browser.ts';
import { type RunningConsole, runningConsole } from '../../helpers/console.ts';
import {
  consoleBrowser,
  expectAccessible,
  isFocused,
  logIn,
  PHONE,
  realComplaints,
} from '../../helpers/console-page.ts';
import { picture, uploadFile } from '../../helpers/images.ts';
import { labelFields } from '../../helpers/product-forms.ts';
import { openScreenshots, type Screenshots } from '../../helpers/screenshots.ts';

const XSS = '<img src=x onerror=alert(1)>';
const ATTRIBUTE_XSS = `"'><img src=x onerror="window.hacked=1"><svg/onload=window.hacked=2></textarea>`;

let pages: RunningConsole;
let browser: Browser;
/** who sees the page behind the code of a label, without scripts */
let visitor: Browser;
/** runs axe-core on what the visitor sees */
let checker: Browser;
let owner: { id: number; email: string };
let send: Awaited<ReturnType<RunningConsole['login']>>['send'];
let cookie: string;
let productId: number;
let labelId: number;
let companyId: number;
let screenshots: Screenshots;

async function done(method: string, address: string, body?: object, by = send) {
  const answer = await by(method, `/trace/api/${address}`, body);
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
  visitor = await openBrowser(PHONE, { javaScript: false });
  checker = await openBrowser();
  screenshots = await openScreenshots();
  owner = await pages.newUser();
  ({ send, cookie } = await pages.login(owner.email));
  companyId = (await done('POST', 'company/create', { name: 'Kopanyi', phone: '+250 1' })).id;
  const product = {
    name: 'Bourbon',
    description: 'From the hills',
    company: { id: companyId },
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
  await checker.close();
  await visitor.close();
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

test('a label whose product has changed shows both side by side, and copies the ticked values', async () => {
  const { page } = browser;
  await done('PUT', 'product/label/content', { labelId, name: 'Red Bourbon' });
  await change({
    description: `From the valley ${XSS}`,
    photo: await photo('red'),
    origin: { locations: [{ pinName: 'Station B', latitude: -2, longitude: 29.5, countryCode: 'RW' }] },
    businessToCustomerSettings: { primaryColor: '#884400', tabQuality: false },
  });
  await logIn(page, `${pages.url}/products/${productId}/labels`, owner.email);
  await page.getByText('Product changed since').waitFor();
  await page.getByRole('link', { name: 'Show differences' }).click();
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
  await press('Copy ticked values');
  await page.getByText('Values copied to the label').waitFor();
  const taken = await content();
  expect(taken).toMatchObject({
    name: 'Red Bourbon',
    description: `From the valley ${XSS}`,
    process: { production: 'Washed' },
    origin: { locations: [{ pinName: 'Station A' }] },
    businessToCustomerSettings: { primaryColor: '#884400' },
  });
  expect(await page.getByLabel('Text: description').inputValue()).toBe(`From the valley ${XSS}`);
  expect(await page.getByLabel('Text: production').inputValue()).toBe('Honey');
  await card().getByText('differ in 2 points').waitFor();
  expect(await card().getAttribute('open')).toBeNull();
  await press('Save');
  await page.getByText('Label saved').waitFor();
  expect((await content()).process.production).toBe('Honey');
  await page.goto(`${pages.url}/products/${productId}/labels`);
  await page.getByRole('link', { name: 'Spring' }).waitFor();
  expect(await page.getByText('Product changed since').count()).toBe(0);
  expect(realComplaints(browser)).toEqual([]);
});

test('a label is kept as it is; changes during the comparison are compared again, and typed text stays', async () => {
  const { page } = browser;
  await change({ description: 'From the lake' });
  await logIn(page, `${pages.url}/labels/${labelId}`, owner.email);
  await box('Description').waitFor();
  await page.getByLabel('Text: description').fill('From our lake');
  await change({ responsibility: { laborPolicies: 'No children work' } });
  await press('Copy ticked values');
  await card().getByRole('alert').getByText('This has changed since you opened it').waitFor();
  await box('Labour policies').waitFor();
  expect((await content()).responsibility).toBeUndefined();
  await box('Labour policies').uncheck();
  await press('Copy ticked values');
  await page.getByText('Your unsaved text is still in the form').waitFor();
  expect(await page.getByLabel('Text: description').inputValue()).toBe('From our lake');
  expect((await content()).description).toBe('From the lake');
  await press('Save');
  await page.getByText('Label saved').waitFor();

  const [stationA, stationC] = ['Station A', 'Station C'].map(pinName => ({ pinName }));
  const locations = [{ ...stationA, latitude: -1.95, longitude: 30.06 }, stationC];
  await change({ description: 'From the river', origin: { locations } });
  await page.reload();
  await card().getByText('Product changed since').waitFor();
  await card().getByText('Only here: 1 of 2 entries').waitFor();
  await press('Keep the label as it is');
  await page.getByText('Label left unchanged').waitFor();
  expect((await content()).description).toBe('From our lake');
  await expect.poll(() => card().getAttribute('open')).toBeNull();
  await card().locator('summary').click();
  expect(await card().getByRole('checkbox', { checked: true }).count()).toBe(0);
  expect(await card().getByRole('button').count()).toBe(0);
  await look('differences-kept');
  expect(realComplaints(browser).filter(text => !text.includes('412'))).toEqual([]);
});

test('readers of a label are not asked to settle differences', async () => {
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

/** A published label, of a user of its own, with batches to check and to trace. */
async function published(settings: object) {
  const grower = await pages.newUser();
  const { send: theirs } = await pages.login(grower.email);
  await done('POST', 'company/create', { name: 'Station' }, theirs);
  const product = {
    name: 'Washed Bourbon',
    description: 'From the hills',
    businessToCustomerSettings: settings,
  };
  const { id: productId } = await done('POST', 'product/create', product, theirs);
  const sent = { productId, title: 'Spring', language: 'EN', fields: labelFields(['name', 'description']) };
  const { id, uuid } = await done('POST', 'product/label/create', sent, theirs);
  await done('POST', 'product/label/execute/PUBLISH_LABEL', { id }, theirs);
  const locations = [{ latitude: -1.95, longitude: 30.06, pinName: ATTRIBUTE_XSS }];
  const dates = { productionDate: '2026-03-01', expiryDate: '2026-04-01' };
  const batch = {
    labelId: id,
    number: 'A-1',
    ...dates,
    locations,
    checkAuthenticity: true,
    traceOrigin: true,
  };
  await done('POST', 'product/label_batch/create', batch, theirs);
  return { grower, id, uuid };
}

const answer = () => visitor.page.locator('#answer');
const field = (name: string) => visitor.page.getByLabel(name);
const choose = (name: string) => visitor.page.getByRole('button', { name }).click();

/** Looks at the page that the visitor sees, with axe-core in a page that runs scripts: the visitor's own runs none. */
async function lookAsVisitor(name: string): Promise<void> {
  await checker.page.setContent(await visitor.page.content());
  await expectAccessible(checker.page);
  await screenshots.take(visitor.page, name);
  await visitor.page.setViewportSize(PHONE);
}

test('without JavaScript, a package is checked and feedback is sent; the console shows both', async () => {
  const { grower, id, uuid } = await published({ primaryColor: '#ffd000', tabFeedback: true });
  const { page } = visitor;
  await page.goto(`${pages.traceUrl}/api/public/product/label/${uuid}`);
  await lookAsVisitor('label');
  await field('Batch number').fill('A-1');
  await field('Produced on').fill('2026-03-01');
  await choose('Is it authentic?');
  await answer().getByText('Not confirmed').waitFor();
  await lookAsVisitor('label-unconfirmed');
  expect(await field('Batch number').inputValue()).toBe('A-1');
  await field('Expires on').fill('2026-04-01');
  await choose('Is it authentic?');
  await answer().getByText('Confirmed').waitFor();
  await answer().getByText('Its expiry date has passed.').waitFor();
  expect(await isFocused(answer())).toBe(true);
  await lookAsVisitor('label-checked');
  await choose('Where is it from?');
  await answer().getByRole('listitem').getByText(ATTRIBUTE_XSS).waitFor();
  expect(await answer().getByRole('img', { name: 'Map of the origin' }).count()).toBe(1);
  await lookAsVisitor('label-origin');

  await field('Kind').selectOption({ label: 'Complaint' });
  await field('Message').fill(`${ATTRIBUTE_XSS}\nBitter`);
  await field('Email address, if').fill('joy@example.org');
  await choose('Send');
  await page.getByRole('alert').getByText('Agree to this').waitFor();
  expect(await isFocused(answer())).toBe(true);
  expect(await field('Message').inputValue()).toBe(`${ATTRIBUTE_XSS}\nBitter`);
  expect(await field('Email address, if').inputValue()).toBe('joy@example.org');
  await lookAsVisitor('label-wrong');
  await field('The producer may store').check();
  await choose('Send');
  await answer().getByText('Thank you').waitFor();
  expect(page.url()).toBe(`${pages.traceUrl}/api/public/product/label/${uuid}?feedback=sent#answer`);
  await lookAsVisitor('label-thanks');
  await page.goto(`${pages.url}/trace/api/public/product/label/${uuid}`);
  await field('Message').fill('Again');
  await choose('Send');
  await answer().getByText('Thank you').waitFor();
  expect(await page.locator('img, script, [onerror], [onload]').count()).toBe(0);
  expect(realComplaints(visitor)).toEqual([]);

  await logIn(browser.page, `${pages.url}/labels/${id}/statistics`, grower.email);
  await browser.page.locator('dl').waitFor();
  expect(await browser.page.locator('dd').allInnerTexts()).toEqual(['1', '1', '1', '1', '0', '2']);
  await browser.page.goto(`${pages.url}/labels/${id}`);
  await browser.page.getByRole('link', { name: 'Feedback' }).click();
  await browser.page.getByText('Bitter').waitFor();
  await browser.page.getByText('joy@example.org').waitFor();
  expect(await browser.page.evaluate('window.hacked')).toBeUndefined();
});

test('the form for feedback appears when it is ticked in the console', async () => {
  const { grower, id, uuid } = await published({});
  const address = `${pages.traceUrl}/api/public/product/label/${uuid}`;
  await visitor.page.goto(address);
  expect(await visitor.page.getByRole('button', { name: 'Send' }).count()).toBe(0);
  await logIn(browser.page, `${pages.url}/labels/${id}/consumer-page`, grower.email);
  await browser.page.locator('[name="businessToCustomerSettings.tabFeedback"]').check();
  await expectAccessible(browser.page);
  await browser.page.getByRole('button', { name: 'Save' }).first().click();
  await browser.page.getByText('Label saved').waitFor();
  await visitor.page.goto(address);
  expect(await visitor.page.getByRole('button', { name: 'Send' }).count()).toBe(1);
  expect(realComplaints(browser)).toEqual([]);
});

test('a label shows how often it was visited and checked, and what consumers wrote; a stranger sees none of it', async () => {
  const { page } = browser;
  const grower = await pages.newUser();
  const { send: theirs } = await pages.login(grower.email);
  const create = (path: string, body: object) => done('POST', path, body, theirs);
  await create('company/create', { name: 'Station' });
  const { id: productId } = await create('product/create', { name: 'Washed Bourbon' });
  const { id } = await create('product/label/create', { productId, title: 'Spring' });
  const { uuid } = (await theirs('GET', `/trace/api/product/label/${id}`)).body.data;
  await create('product/label/execute/PUBLISH_LABEL', { id });
  await create('product/label_batch/create', { labelId: id, number: 'A', checkAuthenticity: true });

  await logIn(page, `${pages.url}/labels/${id}`, grower.email);
  await page.getByRole('link', { name: 'Statistics' }).click();
  const numbers = async () => {
    await page.locator('dl').waitFor();
    return page.locator('dd').allInnerTexts();
  };
  expect(await numbers()).toEqual(['0', '0', '0', '0', '0', '0']);

  const label = `/trace/api/public/product/label/${uuid}`;
  for (const path of [
    label,
    `${label}/verify_batch_authenticity?number=A`,
    `${label}/verify_batch_authenticity?number=X`,
    `${label}/verify_batch_origin?number=A`,
  ]) {
    expect((await pages.send('GET', path)).status, path).toBe(200);
  }
  for (const feedback of ['Very good', 'More of it']) {
    await create(`public/product/label/feedback/${uuid}`, {
      type: 'PRAISE',
      feedback,
      privacyPolicyConsent: true,
    });
  }
  await page.reload();
  expect(await numbers()).toEqual(['1', '1', '1', '0', '1', '2']);
  await expectAccessible(page);
  expect(realComplaints(browser)).toEqual([]);

  await page.context().clearCookies();
  const stranger = await pages.newUser();
  await logIn(page, `${pages.url}/labels/${id}/statistics`, stranger.email);
  await page.getByText('Label not found').waitFor();
  expect(await page.locator('dd').count()).toBe(0);
});
