import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Browser } from '../../helpers/browser.ts';
import { type RunningConsole, runningConsole } from '../../helpers/console.ts';
import { consoleBrowser, expectAccessible, logIn, realComplaints } from '../../helpers/console-page.ts';
import { openScreenshots, type Screenshots } from '../../helpers/screenshots.ts';

let pages: RunningConsole;
let browser: Browser;
let email: string;
let send: Awaited<ReturnType<RunningConsole['login']>>['send'];
let productId: number;
let labelId: number;
let geoid: string;
let screenshots: Screenshots;
beforeAll(async () => {
  pages = await runningConsole();
  browser = await consoleBrowser(pages);
  screenshots = await openScreenshots();
  ({ email } = await pages.newUser());
  ({ send } = await pages.login(email));
  productId = (await done('POST', 'product/create', { name: 'Bourbon' })).id;
  labelId = (await done('POST', 'product/label/create', { productId, title: 'Spring', fields: [] })).id;
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
  geoid = (await send('PUT', '/packet/fields', feature)).body.fields[0].geoid;
});
afterAll(async () => {
  await browser.close();
  await pages.stop();
  await screenshots.close();
});
beforeEach(() => browser.page.context().clearCookies());

async function done(method: string, address: string, body?: object) {
  const answer = await send(method, `/trace/api/${address}`, body);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.data;
}
const field = (name: string) => browser.page.getByLabel(name, { exact: true }).first();
const press = (name: string) => browser.page.getByRole('button', { name, exact: true }).first().click();

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
  await logIn(page, `${pages.url}/products/${productId}`, email);
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
  await page.getByText('1 found: choose one').waitFor();
  await look('place-of-a-product');
  await press('Save');
  await page.locator('[name="origin.locations.0.geoid"][aria-invalid="true"]').waitFor();
  await page.getByText('Please choose a field from the list').waitFor();
  await choice.fill('lower m');
  await page.getByRole('option', { name: 'Lower meadow' }).click();
  expect(await choice.inputValue()).toBe('Lower meadow');
  await press('Save');
  await page.getByText('The changes are saved').first().waitFor();
  const place = { pinName: 'Station A', latitude: -1.95, longitude: 30.06, countryCode: 'RW', geoid };
  expect((await done('GET', `product/${productId}`)).origin.locations).toEqual([place]);
  await page.reload();
  await expect.poll(() => choice.inputValue()).toBe('Lower meadow');
  await choice.fill('');
  await press('Save');
  await page.getByText('The changes are saved').first().waitFor();
  expect((await done('GET', `product/${productId}`)).origin.locations[0]).not.toHaveProperty('geoid');
  await choice.fill(geoid);
  await press('Save');
  await expect
    .poll(async () => (await done('GET', `product/${productId}`)).origin.locations)
    .toEqual([place]);
  await expect.poll(() => choice.inputValue()).toBe('Lower meadow');
  expect(realComplaints(browser)).toEqual([]);
});

test('a place without coordinates is put into the field that is chosen for it; those that are there stay', async () => {
  const { page } = browser;
  const { id } = await done('POST', 'product/create', { name: 'Typica' });
  await logIn(page, `${pages.url}/products/${id}`, email);
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
  await page.getByText('The changes are saved').first().waitFor();
  const place = { latitude: -1.95, longitude: 30.00075, countryCode: 'RW', geoid };
  expect((await done('GET', `product/${id}`)).origin.locations).toEqual([place]);
  expect(realComplaints(browser)).toEqual([]);
});

test('places of a batch are on a map, with their country, and have no plot', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/labels/${labelId}/batches`, email);
  const form = page.locator('form', { has: page.getByLabel('Produced on') });
  await form.getByLabel('Number of the batch').fill('B-1');
  await press('Add a place');
  await field('Name of the place').fill('Station A');
  await paste('Latitude', '-1.95; 30.06');
  const map = page.getByRole('img', { name: 'Map of the world with the pins of the origin' });
  await expect.poll(() => map.locator('circle').count()).toBe(1);
  await press('Add a place');
  await map.click({ position: { x: 9, y: 9 } });
  await expect.poll(() => map.locator('circle').count()).toBe(2);
  expect(await page.locator('[name="locations.0.countryCode"]').inputValue()).toBe('RW');
  expect(await page.getByLabel('Registered field').count()).toBe(0);
  await look('places-of-a-batch');
  await press('Add the batch');
  await page.getByText('The batch is saved').waitFor();
  const [batch] = (await done('GET', `product/label/${labelId}/batches`)).items;
  expect(batch.locations).toMatchObject([
    { pinName: 'Station A', latitude: -1.95, longitude: 30.06, countryCode: 'RW' },
    { latitude: expect.any(Number), longitude: expect.any(Number) },
  ]);
  const refused = await send('PUT', '/trace/api/product/label_batch', {
    id: batch.id,
    locations: [{ countryCode: 'Rwanda' }],
  });
  expect(refused.status).toBe(400);
  expect(realComplaints(browser)).toEqual([]);
});
