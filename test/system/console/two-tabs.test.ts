import type { Locator, Page, Route } from 'playwright-core';
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
import { ADMIN } from '../../helpers/trace.ts';

let pages: RunningConsole;
let browser: Browser;
let email: string;
let companyId: number;
let productId: number;
beforeAll(async () => {
  pages = await runningConsole();
  browser = await consoleBrowser(pages);
  ({ email } = await pages.newUser());
  const { send } = await pages.login(email);
  const create = async (path: string, body: object) =>
    (await send('POST', `/trace/api/${path}/create`, body)).body.data.id as number;
  companyId = await create('company', { name: 'Growers', about: 'Since 1962' });
  productId = await create('product', { name: 'Bourbon', description: 'From the hills' });
});
afterAll(async () => {
  await browser.close();
  await pages.stop();
});
beforeEach(() => browser.page.context().clearCookies());

const SAVED = /^(Changes|Label) saved/;
const named = (page: Page, name: string) => page.locator(`[name="${name}"]`).first();
const save = (page: Page) => page.getByRole('button', { name: 'Save', exact: true }).click();

/** Whether all of it is inside of the window. */
const isOnScreen = (field: Locator) =>
  field.evaluate(element => {
    const { top, bottom } = element.getBoundingClientRect();
    return top >= 0 && bottom <= element.ownerDocument.documentElement.clientHeight;
  });

/** Opens a form in two tabs; in the second one, a field is changed and saved. */
async function changedInAnother(path: string, field: string, text: string): Promise<void> {
  const { page } = browser;
  await logIn(page, `${pages.url}${path}`, email);
  await named(page, 'name').or(named(page, field)).first().waitFor();
  const other = await page.context().newPage();
  await other.goto(`${pages.url}${path}`);
  await named(other, field).fill(text);
  await save(other);
  await other.getByText(SAVED).waitFor();
  await other.close();
}

test('the second to save loads the version of the first, and nothing of either is lost', async () => {
  const { page } = browser;
  await changedInAnother(`/products/${productId}`, 'description', 'From the lake');
  await named(page, 'name').fill('Washed Bourbon');
  await save(page);
  await page.getByRole('alert').getByText('Somebody else has changed this in the meantime').waitFor();
  expect(await named(page, 'name').inputValue()).toBe('Washed Bourbon');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Load the other version' }).click();
  await page.getByText('This is the other version with your changes').waitFor();
  expect(await named(page, 'name').inputValue()).toBe('Washed Bourbon');
  expect(await named(page, 'description').inputValue()).toBe('From the lake');
  await expectAccessible(page);
  await save(page);
  await page.getByText('Changes saved').waitFor();
  const { send } = await pages.login(email);
  expect((await send('GET', `/trace/api/product/${productId}`)).body.data).toMatchObject({
    name: 'Washed Bourbon',
    description: 'From the lake',
  });
  expect(realComplaints(browser)).toEqual([]);
});

test('a field that both have changed shows the other value, and keeps the typed one', async () => {
  const { page } = browser;
  await changedInAnother(`/companies/${companyId}`, 'about', 'Since 1963');
  await named(page, 'about').fill('Since 1961');
  await save(page);
  await page.getByRole('button', { name: 'Load the other version' }).click();
  await page.getByText('Your value is kept; the other value is: Since 1963').waitFor();
  await expect.poll(() => isFocused(named(page, 'about'))).toBe(true);
  expect(await named(page, 'about').inputValue()).toBe('Since 1961');
  await expectAccessible(page);
  await save(page);
  await page.getByText('Changes saved').waitFor();
  const { send } = await pages.login(email);
  expect((await send('GET', `/trace/api/company/profile/${companyId}`)).body.data.about).toBe('Since 1961');
});

test('two people edit the look of the page for consumers', async () => {
  const { page } = browser;
  const primary = 'businessToCustomerSettings.primaryColor';
  await changedInAnother(`/products/${productId}/consumer-page`, primary, '#25265e');
  await named(page, primary).fill('#070');
  await save(page);
  await page.getByRole('button', { name: 'Load the other version' }).click();
  await page.getByText('Your value is kept; the other value is: #25265e').waitFor();
  await save(page);
  await page.getByText('Changes saved').waitFor();
  const { send } = await pages.login(email);
  const product = (await send('GET', `/trace/api/product/${productId}`)).body.data;
  expect(product.businessToCustomerSettings.primaryColor).toBe('#070');
});

/** Holds the next request to an address, from when it has come until it is let go. */
async function held(page: Page, address: RegExp) {
  const [come, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const hold = async (route: Route) => {
    come.resolve();
    await go.promise;
    await route.continue();
  };
  await page.route(address, hold, { times: 1 });
  return { come: come.promise, go: go.resolve };
}

test('text that is typed while the other version loads stays', async () => {
  const { page } = browser;
  const name = named(page, 'name');
  await changedInAnother(`/products/${productId}`, 'description', 'From the valley');
  await name.fill('Natural');
  await save(page);
  const loading = await held(page, new RegExp(`/trace/api/product/${productId}$`));
  await page.getByRole('button', { name: 'Load the other version' }).click();
  await loading.come;
  await name.fill('Natural Bourbon');
  loading.go();
  await page.getByText('This is the other version with your changes').waitFor();
  expect(await name.inputValue()).toBe('Natural Bourbon');
  expect(await named(page, 'description').inputValue()).toBe('From the valley');
  await save(page);
  await page.getByText('Changes saved').waitFor();
});

test('text that is typed during saving stays, is protected by a question, and can be saved', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/products/${productId}`, email);
  const description = named(page, 'description');
  await named(page, 'name').fill('Honey Bourbon');
  const saving = await held(page, /\/trace\/api\/product$/);
  await save(page);
  await saving.come;
  await description.fill('From the island');
  saving.go();
  await page.getByRole('heading', { name: 'Honey Bourbon' }).waitFor();
  await page.locator('form[aria-busy=false]').waitFor();
  expect(await description.inputValue()).toBe('From the island');
  await page.getByRole('link', { name: 'Products' }).first().click();
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await save(page);
  const { send } = await pages.login(email);
  const stored = async () => (await send('GET', `/trace/api/product/${productId}`)).body.data;
  await expect.poll(stored).toMatchObject({ name: 'Honey Bourbon', description: 'From the island' });
});

test('typed text stays when a label is published before or during saving', async () => {
  const { page } = browser;
  const { send } = await pages.login(email);
  const sent = { productId, title: 'Harvest', language: 'EN', fields: [] };
  const { id } = (await send('POST', '/trace/api/product/label/create', sent)).body.data;
  await logIn(page, `${pages.url}/labels/${id}`, email);
  const [title, name] = [named(page, 'title'), named(page, 'name')];
  await title.fill('Second harvest');
  await page.getByRole('button', { name: 'Publish', exact: true }).click();
  await page.getByText('Label published').waitFor();
  expect(await title.inputValue()).toBe('Second harvest');

  const saving = await held(page, /\/trace\/api\/product\/label$/);
  await save(page);
  await saving.come;
  await name.fill('Bourbon of the hills');
  saving.go();
  await page.getByRole('heading', { name: 'Second harvest' }).waitFor();
  await page.locator('form[aria-busy=false]').waitFor();
  expect(await name.inputValue()).toBe('Bourbon of the hills');
});

/** A new label of the product, with a batch; their ids. */
async function labelled() {
  const { send } = await pages.login(email);
  const created = async (path: string, body: object) =>
    (await send('POST', `/trace/api/product/${path}/create`, body)).body.data.id as number;
  const labelId = await created('label', { productId, title: 'Harvest', language: 'EN', fields: [] });
  const batchId = await created('label_batch', { labelId, number: 'B-1', productionDate: '2026-03-01' });
  const stored = async (path: string) => (await send('GET', `/trace/api/product/${path}`)).body.data;
  return { labelId, batchId, stored };
}

test('two people edit a label: nothing of either is lost, and “Save mine anyway” keeps the typed text', async () => {
  const { page } = browser;
  const { labelId, stored } = await labelled();
  const path = `/labels/${labelId}`;
  await changedInAnother(path, 'title', 'First harvest');
  await named(page, 'description').fill('Of the hills');
  await save(page);
  await page.getByRole('alert').getByText('Somebody else has changed this in the meantime').waitFor();
  await expectAccessible(page);
  expect(await stored(`label/content/${labelId}`)).not.toMatchObject({ description: 'Of the hills' });
  await page.getByRole('button', { name: 'Load the other version' }).click();
  await page.getByText('This is the other version with your changes').waitFor();
  expect(await named(page, 'title').inputValue()).toBe('First harvest');
  await save(page);
  await page.getByText(SAVED).waitFor();

  await page.context().clearCookies();
  await changedInAnother(path, 'title', 'Second harvest');
  await named(page, 'title').fill('Late harvest');
  await save(page);
  await page.getByRole('button', { name: 'Save mine anyway' }).click();
  await page.getByRole('heading', { name: 'Late harvest' }).waitFor();
  await page.locator('form[aria-busy=false]:visible').first().waitFor();
  expect(await stored(`label/${labelId}`)).toMatchObject({ title: 'Late harvest' });
  expect(await stored(`label/content/${labelId}`)).toMatchObject({ description: 'Of the hills' });
  await named(page, 'name').fill('Bourbon of two');
  await save(page);
  await expect.poll(() => stored(`label/content/${labelId}`)).toMatchObject({ name: 'Bourbon of two' });
  expect(await page.getByText('Somebody else has changed this').count()).toBe(0);
});

test('a text of a label in conflict is on the screen after what differed above it is gone', async () => {
  const { page } = browser;
  const { send } = await pages.login(email);
  const { labelId } = await labelled();
  const path = `/labels/${labelId}`;
  const packaging = named(page, 'sustainability.packaging');
  await send('POST', '/trace/api/product/label/execute/PUBLISH_LABEL', { id: labelId });
  const body = {
    id: productId,
    sustainability: { packaging: 'Jute', production: 'Shade', co2Footprint: 'Small' },
    process: { production: 'Washed' },
    responsibility: { laborPolicies: 'Fair' },
  };
  expect((await send('PUT', '/trace/api/product', body)).status).toBe(200);
  await logIn(page, `${pages.url}${path}`, email);
  await page.getByText('Product changed since').waitFor();
  await packaging.fill('Paper');
  const other = await page.context().newPage();
  await other.goto(`${pages.url}${path}`);
  await other.getByRole('button', { name: 'Copy ticked values' }).click();
  await other.getByText('Values copied to the label').waitFor();
  await other.close();
  await save(page);
  await page.getByRole('button', { name: 'Load the other version' }).click();
  await page.getByText('Your value is kept; the other value is: Jute').waitFor();
  await page.getByText('Product changed since').waitFor({ state: 'detached' });
  await expect.poll(() => isFocused(packaging)).toBe(true);
  await expect.poll(() => isOnScreen(packaging)).toBe(true);
});

test('two people edit the look of a label’s page, and a batch of it', async () => {
  const { page } = browser;
  const { labelId, batchId, stored } = await labelled();
  const primary = 'businessToCustomerSettings.primaryColor';
  await changedInAnother(`/labels/${labelId}/consumer-page`, primary, '#25265e');
  await named(page, primary).fill('#800');
  await save(page);
  await page.getByRole('button', { name: 'Load the other version' }).click();
  await page.getByText('Your value is kept; the other value is: #25265e').waitFor();
  await save(page);
  await page.getByText(SAVED).waitFor();

  await page.goto(`${pages.url}/labels/${labelId}/batches`);
  await page.getByRole('button', { name: 'B-1' }).click();
  await page.getByRole('heading', { name: 'B-1' }).waitFor();
  const { send } = await pages.login(email);
  const other = { id: batchId, expiryDate: '2027-03-01' };
  expect((await send('PUT', '/trace/api/product/label_batch', other)).status).toBe(200);
  await page.locator('section [name="number"]').fill('B-2');
  await save(page);
  await page.getByRole('alert').getByText('Somebody else has changed this in the meantime').waitFor();
  expect(await stored(`label_batch/${batchId}`)).toMatchObject({ number: 'B-1' });
  await page.getByRole('button', { name: 'Load the other version' }).click();
  await page.getByText('This is the other version with your changes').waitFor();
  await expectAccessible(page);
  await save(page);
  await page.getByRole('button', { name: 'B-2' }).waitFor();
  expect(await stored(`label_batch/${batchId}`)).toMatchObject({ ...other, number: 'B-2' });
});

test('two administrators edit a code: each conflict is at its field, also in another language', async () => {
  const { page } = browser;
  const { send } = await pages.login(ADMIN.username, ADMIN.password);
  const body = { code: 'MILL', label: 'Mill', translations: [{ language: 'DE', label: 'Muehle' }] };
  const { id } = (await send('PUT', '/trace/api/chain/processing-evidence-type', body)).body.data;
  await logIn(
    page,
    `${pages.url}/code-lists/processing-evidence-types/${id}`,
    ADMIN.username,
    ADMIN.password,
  );
  await named(page, 'translations.0.label').fill('Kaffeemühle');
  const other = { id, code: 'WET_MILL', translations: [{ language: 'DE', label: 'Mühle' }] };
  expect((await send('PUT', '/trace/api/chain/processing-evidence-type', other)).status).toBe(200);
  await save(page);
  await page.getByRole('button', { name: 'Load the other version' }).click();
  await page.getByText('Your value is kept; the other value is: Mühle').waitFor();
  expect(await named(page, 'code').inputValue()).toBe('WET_MILL');
  await save(page);
  await page.getByText(SAVED).waitFor();
  const stored = (await send('GET', `/trace/api/chain/processing-evidence-type/${id}`)).body.data;
  expect(stored).toMatchObject({ code: 'WET_MILL' });
  expect(stored.translations).toContainEqual({ language: 'DE', label: 'Kaffeemühle' });
});

test('two people edit a final product and an entry of the knowledge blog', async () => {
  const { page } = browser;
  const { send } = await pages.login(email);
  const put = async (path: string, body: object) => {
    const answer = await send('PUT', `/trace/api/product${path}`, body);
    expect(answer.status, answer.text).toBe(200);
    return answer.body.data;
  };
  const read = async (path: string) => (await send('GET', `/trace/api/product${path}`)).body.data;
  const { id } = await put(`/${productId}/finalProduct`, { name: 'A bag' });
  await send('POST', `/trace/api/product/knowledgeBlog/${productId}`, { title: 'Washing' });
  const [entry] = (await read(`/knowledgeBlog/list/${productId}`)).items;
  for (const { screen, button, field, change, stored } of [
    {
      screen: 'final-products',
      button: 'A bag',
      field: 'description',
      change: () => put(`/${productId}/finalProduct`, { id, name: 'A large bag' }),
      stored: () => read(`/${productId}/finalProduct/${id}`),
    },
    {
      screen: 'knowledge',
      button: 'Washing',
      field: 'summary',
      change: () => put('/knowledgeBlog', { id: entry.id, title: 'A large bag' }),
      stored: () => read(`/knowledgeBlog/${entry.id}`),
    },
  ]) {
    await page.context().clearCookies();
    await logIn(page, `${pages.url}/products/${productId}/${screen}`, email);
    await page.getByRole('button', { name: button }).click();
    await page.getByRole('heading', { name: `Change ${button}` }).waitFor();
    await named(page, field).fill('Of two');
    await change();
    await save(page);
    await page.getByRole('alert').getByText('Somebody else has changed this in the meantime').waitFor();
    expect(await stored()).not.toHaveProperty(field);
    await page.getByRole('button', { name: 'Load the other version' }).click();
    await page.getByText('This is the other version with your changes').waitFor();
    await expectAccessible(page);
    await save(page);
    await page.getByRole('button', { name: 'A large bag' }).waitFor();
    expect(await stored()).toMatchObject({ [field]: 'Of two' });
  }
});

test('two administrators edit a value chain', async () => {
  const { page } = browser;
  const { send } = await pages.login(ADMIN.username, ADMIN.password);
  const path = '/trace/api/chain/value-chain';
  const { id } = (await send('PUT', path, { name: 'Coffee' })).body.data;
  await logIn(page, `${pages.url}/value-chains/${id}`, ADMIN.username, ADMIN.password);
  await named(page, 'description').fill('From cherry to cup');
  expect((await send('PUT', path, { id, name: 'Coffee Rwanda' })).status).toBe(200);
  await save(page);
  await page.getByRole('button', { name: 'Load the other version' }).click();
  await page.getByText('This is the other version with your changes').waitFor();
  expect(await named(page, 'name').inputValue()).toBe('Coffee Rwanda');
  await save(page);
  await page.getByText(SAVED).waitFor();
  const stored = (await send('GET', `${path}/${id}`)).body.data;
  expect(stored).toMatchObject({ name: 'Coffee Rwanda', description: 'From cherry to cup' });
});
