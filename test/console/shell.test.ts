import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser } from '../helpers/browser.ts';
import { type RunningConsole, runningConsole } from '../helpers/console.ts';
import {
  consoleBrowser,
  expectAccessible,
  isFocused,
  logIn,
  realComplaints,
  seriousFindings,
} from '../helpers/console-page.ts';

let pages: RunningConsole;
let browser: Browser;
let email: string;
let send: Awaited<ReturnType<RunningConsole['login']>>['send'];
beforeAll(async () => {
  pages = await runningConsole();
  browser = await consoleBrowser(pages);
  ({ email } = await pages.newUser());
  ({ send } = await pages.login(email));
});
afterAll(async () => {
  await browser.close();
  await pages.stop();
});

const open = (path: string) => logIn(browser.page, `${pages.url}${path}`, email);
const pathOf = () => {
  const { pathname, search } = new URL(browser.page.url());
  return pathname + search;
};

test('Ctrl K opens a search that leads to a screen or into its list, and gives the focus back', async () => {
  const { page } = browser;
  await open('/');
  const opener = page.getByRole('button', { name: 'Search or jump to' });
  await opener.focus();
  const dialog = page.getByRole('dialog', { name: 'Search or jump to' });
  const options = dialog.getByRole('option');
  const field = dialog.getByRole('combobox');
  await page.keyboard.press('Control+k');
  await dialog.waitFor();
  expect(await isFocused(field)).toBe(true);
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  expect(await isFocused(opener)).toBe(true);

  await page.keyboard.press('Control+k');
  await page.keyboard.type('compan');
  await expect.poll(() => options.first().innerText()).toBe('Companies');
  expect(await options.first().getAttribute('aria-selected')).toBe('true');
  await page.keyboard.press('ArrowDown');
  expect(await options.nth(1).getAttribute('aria-selected')).toBe('true');
  expect(await field.getAttribute('aria-activedescendant')).toBe(await options.nth(1).getAttribute('id'));
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Companies', exact: true }).waitFor();
  expect(pathOf()).toBe('/companies');

  await page.keyboard.press('Control+k');
  await page.keyboard.type('Kopakama');
  await options.filter({ hasText: 'Products' }).click();
  await page.getByRole('heading', { name: 'Products', exact: true }).waitFor();
  expect(pathOf()).toBe('/products?query=Kopakama');
  expect(realComplaints(browser)).toEqual([]);
});

test('a drawer shows a row beside its table until Escape', async () => {
  const { page } = browser;
  for (const message of ['Rust on the lower rows', 'Cherries ripen evenly']) {
    const observation = {
      observed_at: new Date().toISOString(),
      capture_point: { lat: -1.95, lon: 30.06 },
      message,
    };
    expect((await send('POST', '/packet/intake/scouting', observation)).status).toBe(201);
  }
  await open('/packets');
  const drawer = page.getByRole('complementary').filter({ has: page.getByRole('button', { name: 'Close' }) });
  const row = page.getByRole('row').filter({ hasText: 'Rust on the lower rows' });
  await row.getByText('Rust on the lower rows').click();
  await drawer.getByText('Rust on the lower rows').waitFor();
  expect(pathOf()).toMatch(/^\/packets\?open=[0-9A-Z]{26}$/);
  await expectAccessible(page);
  await page.getByText('Cherries ripen evenly').click();
  await drawer.getByText('Cherries ripen evenly').waitFor();
  await page.keyboard.press('Escape');
  await drawer.waitFor({ state: 'hidden' });
  expect(realComplaints(browser)).toEqual([]);
});

test('on phones a drawer has the focus until it is closed', async () => {
  const { page } = browser;
  await page.setViewportSize({ width: 390, height: 800 });
  await open('/packets');
  const link = page.getByRole('row').filter({ hasText: 'Cherries ripen evenly' }).getByRole('link').first();
  await link.focus();
  await page.keyboard.press('Enter');
  const drawer = page.getByRole('complementary').filter({ hasText: 'Cherries ripen evenly' });
  await drawer.waitFor();
  await expect.poll(() => isFocused(drawer.getByRole('heading', { level: 2 }))).toBe(true);
  await page.keyboard.press('Tab');
  expect(await isFocused(link)).toBe(false);
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  await drawer.waitFor({ state: 'hidden' });
  await expect.poll(() => isFocused(link)).toBe(true);
  await page.setViewportSize({ width: 1280, height: 800 });
  expect(realComplaints(browser)).toEqual([]);
});

test('a day is chosen in the calendar with the keyboard', async () => {
  const { page } = browser;
  await open('/threads');
  const calendar = page.getByRole('dialog', { name: 'Choose a date' });
  const focused = () => page.evaluate('document.activeElement.getAttribute("aria-label")') as Promise<string>;
  await page.getByRole('button', { name: 'Choose a date' }).first().focus();
  await page.keyboard.press('Enter');
  await calendar.waitFor();
  await expect.poll(focused).toMatch(/20\d\d/);
  const day = new Date(`${await focused()} 12:00 UTC`);
  expect(await seriousFindings(page)).toEqual([]);
  for (const key of ['ArrowRight', 'ArrowDown', 'ArrowLeft', 'ArrowUp', 'ArrowUp', 'PageDown', 'PageUp'])
    await page.keyboard.press(key);
  day.setUTCDate(day.getUTCDate() - 7);
  await expect.poll(async () => new Date(`${await focused()} 12:00 UTC`).getTime()).toBe(day.getTime());
  await page.keyboard.press('Enter');
  await calendar.waitFor({ state: 'hidden' });
  await expect.poll(pathOf).toBe(`/threads?from=${day.toISOString().slice(0, 10)}`);
  const field = page.getByLabel('From', { exact: true });
  expect(new Date(`${await field.inputValue()} 12:00 UTC`).getTime()).toBe(day.getTime());
  expect(realComplaints(browser)).toEqual([]);
});

test('a day is typed over another one', async () => {
  const { page } = browser;
  await open('/threads?from=2026-05-12');
  const field = page.getByLabel('From', { exact: true });
  await expect.poll(() => field.inputValue()).toContain('12');
  await field.focus();
  await page.keyboard.press('Control+A');
  await page.keyboard.type('14 May 2026');
  expect(await field.inputValue()).toBe('14 May 2026');
  await page.keyboard.press('Enter');
  await expect.poll(pathOf).toBe('/threads?from=2026-05-14');
  expect(realComplaints(browser)).toEqual([]);
});

test('groups of the sidebar fold, and this browser remembers it', async () => {
  const { page } = browser;
  await open('/threads');
  const group = page
    .getByRole('navigation', { name: 'Main navigation' })
    .locator('summary', { hasText: 'Value chain' });
  const link = page.getByRole('link', { name: 'Products', exact: true }).first();
  await link.waitFor();
  await group.focus();
  await page.keyboard.press('Enter');
  await link.waitFor({ state: 'hidden' });
  await expectAccessible(page);
  await page.reload();
  await group.waitFor();
  expect(await link.isVisible()).toBe(false);
  await group.click();
  await link.waitFor();
  expect(realComplaints(browser)).toEqual([]);
});

test('a form counts what is unsaved, and puts it back', async () => {
  const { page } = browser;
  const made = await send('POST', '/trace/api/company/create', { name: 'Kopakama', phone: '+250 1' });
  expect(made.status, made.text).toBe(200);
  await open(`/companies/${made.body.data.id}`);
  const name = page.getByLabel('Name', { exact: true }).first();
  await name.fill('Kopakama cooperative');
  await page.getByLabel('About').fill('Growers on the lake');
  await page.getByRole('status').filter({ hasText: '2 unsaved changes' }).waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Discard' }).click();
  await page.getByText('unsaved change').waitFor({ state: 'detached' });
  expect(await name.inputValue()).toBe('Kopakama');
  // Nothing is left to be asked about.
  await page.getByRole('link', { name: 'Products', exact: true }).first().click();
  await page.getByRole('heading', { name: 'Products', exact: true }).waitFor();
  expect(realComplaints(browser)).toEqual([]);
});
