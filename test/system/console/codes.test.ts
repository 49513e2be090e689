import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Browser } from '../../helpers/browser.ts';
import { type RunningConsole, runningConsole } from '../../helpers/console.ts';
import {
  chooseLanguage,
  consoleBrowser,
  expectAccessible,
  logIn,
  realComplaints,
} from '../../helpers/console-page.ts';
import { ADMIN } from '../../helpers/trace.ts';

const XSS = '<img src=x onerror="window.hacked=1">';
/** Busy machines have time. */
const SOON = { timeout: 60_000 };
/** For all lists on a busy machine, in milliseconds. */
const PATIENCE_MS = 300_000;
const LISTS = [
  'product-types',
  'semi-products',
  'facility-types',
  'measure-unit-types',
  'processing-evidence-types',
  'processing-evidence-fields',
];

let pages: RunningConsole;
let browser: Browser;
let admin: Awaited<ReturnType<RunningConsole['login']>>;
beforeAll(async () => {
  pages = await runningConsole();
  browser = await consoleBrowser(pages);
  admin = await pages.login(ADMIN.username, ADMIN.password);
});
afterAll(async () => {
  await browser.close();
  await pages.stop();
});
beforeEach(() => browser.page.context().clearCookies());

const named = (name: string) => browser.page.locator(`[name="${name}"]`);
const press = (name: string) => browser.page.getByRole('button', { name, exact: true }).click();
const confirm = (name: string) =>
  browser.page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
const link = (name: string) => browser.page.getByRole('main').getByRole('link', { name, exact: true });
const asAdmin = (path: string) => logIn(browser.page, pages.url + path, ADMIN.username, ADMIN.password);

async function added(path: string, body: object): Promise<number> {
  const answer = await admin.send(path === 'product-type' ? 'POST' : 'PUT', `/trace/api/${path}`, body);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.data.id;
}
async function stored(path: string): Promise<Record<string, unknown>> {
  return (await admin.send('GET', `/trace/api/${path}`)).body.data;
}

test(
  'an administrator adds a code to each list, and sees at the field what is wrong',
  async () => {
    const { page } = browser;
    await asAdmin('/code-lists');
    await page.getByRole('navigation').getByRole('link', { name: 'Code lists' }).first().waitFor();
    await expectAccessible(page);
    for (const list of LISTS) {
      await page.goto(`${pages.url}/code-lists/${list}`);
      await page.getByText('This list is empty').waitFor();
      await expectAccessible(page);
      await link('New code').first().click();
      await page.getByRole('heading', { name: 'New code' }).waitFor();
      await press('Save');
      await page.getByText('Please fill this in').first().waitFor();
      await expectAccessible(page);
      for (const key of ['code', 'fieldName']) {
        if (await named(key).isVisible()) await named(key).fill(`${list} ${XSS}`);
      }
      const title = (await named('label').count()) > 0 ? 'label' : 'name';
      await named(title).fill(`Title of ${list} ${XSS}`);
      await press('Save');
      await link(`Title of ${list} ${XSS}`).waitFor();
      await expectAccessible(page);
    }
    await page.goto(`${pages.url}/code-lists/facility-types/new`);
    await named('code').fill(`facility-types ${XSS}`);
    await named('label').fill('Another');
    await press('Save');
    await page.locator('[name="code"][aria-invalid="true"]').waitFor();
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(realComplaints(browser)).toEqual([]);
  },
  PATIENCE_MS,
);

test('a code is changed with its translations, choices and unit, and the list has the language of the console', async () => {
  const { page } = browser;
  const unit = await added('chain/measure-unit-type', { code: 'KG', label: 'Kilogram', weight: 1 });
  const id = await added('chain/semi-product', { name: 'Cherry', description: 'Fresh' });
  await asAdmin(`/code-lists/semi-products/${id}`);
  await page.getByRole('heading', { name: 'Cherry' }).waitFor();
  await named('translations.0.name').fill('Kirsche');
  await named('translations.2.name').fill('Igitumbwe');
  await named('buyable').check();
  await named('description').fill('');
  await named('measurementUnitType.id').selectOption({ label: 'Kilogram' });
  await press('Save');
  await page.getByText('Changes saved').waitFor();
  await expectAccessible(page);
  expect(await stored(`chain/semi-product/${id}`)).toEqual({
    id,
    name: 'Cherry',
    sku: false,
    skuendCustomer: false,
    buyable: true,
    disabled: false,
    measurementUnitType: { id: unit, code: 'KG', label: 'Kilogram', weight: 1 },
    translations: [
      { language: 'EN', name: 'Cherry' },
      { language: 'DE', name: 'Kirsche' },
      { language: 'RW', name: 'Igitumbwe' },
    ],
  });
  await named('measurementUnitType.id').selectOption({ label: 'None' });
  await press('Save');
  await expect.poll(() => stored(`chain/semi-product/${id}`), SOON).not.toHaveProperty('measurementUnitType');
  await page.goto(`${pages.url}/code-lists/processing-evidence-types/new`);
  await named('code').fill('NOTE');
  await named('label').fill('Delivery note');
  await named('type').selectOption('DOCUMENT');
  await named('fairness').check();
  await press('Save');
  await link('Delivery note').click();
  await page.getByRole('heading', { name: 'Delivery note' }).waitFor();
  expect(await named('type').inputValue()).toBe('DOCUMENT');
  expect(await named('fairness').isChecked()).toBe(true);

  await page.goto(`${pages.url}/code-lists/semi-products`);
  await link('Cherry').waitFor();
  await chooseLanguage(page, 'de');
  await link('Kirsche').waitFor();
  await chooseLanguage(page, 'en');
  await link('Cherry').waitFor();
});

test('a value chain is made of codes; neither it nor they are deleted while something uses them', async () => {
  const { page } = browser;
  await added('product-type', { code: 'COFFEE', name: 'Coffee' });
  const facility = await added('chain/facility-type', { code: 'WASH', label: 'Washing station' });
  await asAdmin('/value-chains');
  await page.getByText('No value chains yet').waitFor();
  await expectAccessible(page);
  await link('New value chain').first().click();
  await page.getByRole('heading', { name: 'New value chain' }).waitFor();
  await press('Save');
  await page.getByText('Please fill this in').waitFor();
  await named('name').fill(`Bourbon ${XSS}`);
  await named('productType.id').selectOption({ label: 'Coffee' });
  await page.getByText('Facility types (0)').click();
  await page.getByLabel('Washing station').check();
  await page.getByText('Facility types (1)').waitFor();
  await expectAccessible(page);
  await press('Save');
  await link(`Bourbon ${XSS}`).waitFor();
  await expectAccessible(page);

  await page.goto(`${pages.url}/code-lists/facility-types/${facility}`);
  await press('Delete');
  await confirm('Delete');
  await page.getByRole('dialog').getByText('The entry is used by the value chain "Bourbon').waitFor();
  await expectAccessible(page);

  const [chain] = (await stored('chain/value-chain/list')).items as { id: number }[];
  const grower = await pages.newUser();
  const company = { name: 'Growers', valueChains: [{ id: chain?.id }] };
  const created = await (await pages.login(grower.email)).send('POST', '/trace/api/company/create', company);
  expect(created.status, created.text).toBe(200);
  await page.goto(`${pages.url}/companies/${created.body.data.id}`);
  await link('Add or change value chains').click();
  await link(`Bourbon ${XSS}`).click();
  await press('Delete');
  await confirm('Delete');
  await page.getByRole('dialog').getByText('the company "Growers"').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  expect(await page.evaluate('window.hacked')).toBeUndefined();
});

test('a disabled value chain does not change until it is enabled; nothing that uses it is left to delete it', async () => {
  const { page } = browser;
  const type = await added('product-type', { code: 'TEA', name: 'Tea' });
  const tea = { name: 'Tea', description: 'Green', productType: { id: type } };
  const id = await added('chain/value-chain', tea);
  const { description: _, productType: __, ...kept } = await stored(`chain/value-chain/${id}`);
  await asAdmin(`/value-chains/${id}`);
  await page.getByRole('heading', { name: 'Tea' }).waitFor();
  await press('Disable');
  await expectAccessible(page);
  await confirm('Disable');
  await page.getByText('A disabled value chain can’t be changed').waitFor();
  expect(await named('name').isEditable()).toBe(false);
  expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0);
  await page.goto(`${pages.url}/value-chains?status=DISABLED`);
  await link('Tea').click();
  await press('Enable');
  await confirm('Enable');
  await page.getByRole('button', { name: 'Save' }).waitFor();
  await named('description').fill('');
  await named('productType.id').selectOption({ label: 'None' });
  await press('Save');
  await expect
    .poll(() => stored(`chain/value-chain/${id}`), SOON)
    .toEqual({ ...kept, valueChainStatus: 'ENABLED' });
  await press('Delete');
  await confirm('Delete');
  await page.getByRole('heading', { name: 'Value chains' }).waitFor();
  await page.getByText('Entry deleted').waitFor();
  expect(await link('Tea').count()).toBe(0);
  await page.goto(`${pages.url}/value-chains?query=nothing`);
  await page.getByText('No matching value chains').waitFor();
});

test('a disabled code is marked, and is offered only where it is used already', async () => {
  const { page } = browser;
  const old = await added('chain/measure-unit-type', { code: 'SACK', label: 'Sack' });
  const kept = await added('chain/semi-product', { name: 'Parchment', measurementUnitType: { id: old } });
  const chain = await added('chain/value-chain', { name: 'Spices', measureUnitTypes: [{ id: old }] });
  await asAdmin(`/code-lists/measure-unit-types/${old}`);
  await page.getByLabel('Disabled').check();
  await expectAccessible(page);
  await press('Save');
  await page.getByText('Changes saved').waitFor();
  await page.locator('.tag', { hasText: 'Disabled' }).waitFor();
  await page.goto(`${pages.url}/code-lists/measure-unit-types`);
  await page.getByRole('row', { name: 'Sack Disabled' }).waitFor();
  await expectAccessible(page);
  const options = named('measurementUnitType.id').locator('option', { hasText: 'Sack' });
  await page.goto(`${pages.url}/code-lists/semi-products/new`);
  await named('name').waitFor();
  expect(await options.count()).toBe(0);
  await page.goto(`${pages.url}/code-lists/semi-products/${kept}`);
  await page.getByRole('heading', { name: 'Parchment' }).waitFor();
  expect(await options.innerText()).toBe('Sack (Disabled)');
  await press('Save');
  await page.getByText('Changes saved').waitFor();
  expect(await stored(`chain/semi-product/${kept}`)).toMatchObject({ measurementUnitType: { id: old } });
  for (const [address, count] of [
    [`/value-chains/${chain}`, 1],
    ['/value-chains/new', 0],
  ] as const) {
    await page.goto(pages.url + address);
    await page.getByText(`Measure units (${count})`).click();
    await page.getByRole('group', { name: 'Measure units' }).waitFor();
    expect(await page.getByLabel('Sack (Disabled)').count()).toBe(count);
  }

  const owner = await pages.newUser();
  const { send } = await pages.login(owner.email);
  const product = (await send('POST', '/trace/api/product/create', { name: 'Bourbon' })).body.data.id;
  const final = { name: 'A bag', measurementUnitType: { id: old } };
  await send('PUT', `/trace/api/product/${product}/finalProduct`, final);
  await page.context().clearCookies();
  await logIn(page, `${pages.url}/products/${product}/final-products`, owner.email);
  await page.getByRole('cell', { name: 'Sack (Disabled)' }).waitFor();
  await press('A bag');
  await page.getByRole('heading', { name: 'Change A bag' }).waitFor();
  expect(await options.innerText()).toBe('Sack (Disabled)');
});

test('a regional administrator adds codes and changes none; a user has neither the entries nor the screens', async () => {
  const { page } = browser;
  const id = await added('chain/facility-type', { code: 'MILL', label: 'Dry mill' });
  const regional = await pages.newUser('REGIONAL_ADMIN');
  await logIn(page, `${pages.url}/code-lists/facility-types/new`, regional.email);
  await named('code').fill('STORE');
  await named('label').fill('Store');
  await press('Save');
  await link('Store').waitFor();
  await link('Dry mill').click();
  await page.getByText('Only system administrators can change or delete them').waitFor();
  expect(await page.getByRole('button', { name: /^(Save|Delete)$/ }).count()).toBe(0);
  expect(await named('label').isEditable()).toBe(false);

  await page.context().clearCookies();
  const user = await pages.newUser();
  await logIn(page, `${pages.url}/companies/new`, user.email);
  await page.getByRole('heading', { name: 'New company' }).waitFor();
  const navigation = page.getByRole('navigation', { name: 'Main navigation' });
  for (const name of ['Value chains', 'Code lists']) {
    expect(await navigation.getByRole('link', { name }).count(), name).toBe(0);
  }
  expect(await page.getByRole('link', { name: 'Add or change value chains' }).count()).toBe(0);
  for (const path of [
    '/value-chains',
    '/code-lists',
    '/code-lists/facility-types',
    `/code-lists/facility-types/${id}`,
  ]) {
    await page.goto(pages.url + path);
    await page.getByText('You don’t have access').waitFor();
  }
  await expectAccessible(page);
});

test('a list or a code that does not exist says so', async () => {
  const { page } = browser;
  await asAdmin('/code-lists/nothing');
  await page.getByText('Page not found').waitFor();
  await page.goto(`${pages.url}/code-lists/facility-types/999999`);
  await page.getByText('Entry not found, or you don’t have access').waitFor();
  await page.goto(`${pages.url}/value-chains/999999`);
  await page.getByText('Value chain not found, or you don’t have access').waitFor();
});
