import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Browser } from '../../helpers/browser.ts';
import { type RunningConsole, runningConsole } from '../../helpers/console.ts';
import {
  chooseLanguage,
  consoleBrowser,
  DESKTOP,
  expectAccessible,
  isFocused,
  logIn,
  logInByForm,
  PHONE,
  realComplaints,
} from '../../helpers/console-page.ts';
import type { Send } from '../../helpers/service.ts';
import { PASSWORD } from '../../helpers/trace.ts';

const BUILT = path.resolve(import.meta.dirname, '../../../console/dist');
/** Bytes of the first load, compressed by gzip, without the map. */
const FIRST_LOAD = 250 * 1024;

let pages: RunningConsole;
let browser: Browser;
let email: string;
let send: Send;
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
beforeEach(() => browser.page.context().clearCookies());

async function observe(message: string, hour: number): Promise<void> {
  const observed_at = `2026-03-01T${String(hour).padStart(2, '0')}:00:00Z`;
  const body = { observed_at, capture_point: { lat: 1, lon: 2 }, message };
  const { status, text } = await send('POST', '/packet/intake/scouting', body);
  expect(status, text).toBe(201);
}

test('after a login the list says what to do while it is empty, and loads little', async () => {
  const { page, asked } = browser;
  await logInByForm(page, `${pages.url}/packets`, email);
  await page.getByText('No packets yet').waitFor();
  await expectAccessible(page);
  expect(realComplaints(browser)).toEqual([]);
  for (const url of asked) expect(url).toMatch(new RegExp(`^(data:|${pages.url}/)`));
  const files = [...new Set(asked)]
    .map(url => path.join(BUILT, new URL(url).pathname))
    .filter(file => existsSync(file) && statSync(file).isFile());
  const sizes = files.map(file => statSync(existsSync(`${file}.gz`) ? `${file}.gz` : file).size);
  expect(files.length).toBeGreaterThan(3);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(FIRST_LOAD);
});

test('packets are listed newest first, page by page; filters are in the address, and the back button keeps them', async () => {
  for (let n = 0; n < 60; n++) await observe(`Leaf rust ${n}`, n % 24);
  await observe('<img src=x onerror=alert(1)>', 23);
  const { page } = browser;
  await logIn(page, `${pages.url}/packets`, email);
  const rows = page.getByRole('table').locator('tbody tr');
  await rows.first().waitFor();
  expect(await rows.count()).toBe(50);
  expect(await rows.first().innerText()).toContain('<img src=x onerror=alert(1)>');
  await page.getByRole('button', { name: 'Show more' }).click();
  await expect.poll(() => rows.count()).toBe(61);
  expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0);

  await rows.first().getByRole('link').focus();
  await page.keyboard.press('ArrowDown');
  expect(await isFocused(rows.nth(1).getByRole('link'))).toBe(true);

  await page.getByLabel('Type').selectOption('weather');
  await page.getByText('No matching packets').waitFor();
  expect(new URL(page.url()).search).toBe('?type=weather');
  await page.goBack();
  await expect.poll(() => rows.count()).toBe(50);
  await page.goForward();
  await page.getByText('No matching packets').waitFor();
  await page.getByRole('button', { name: 'Remove filters' }).click();
  await expect.poll(() => rows.count()).toBe(50);
  await expectAccessible(page);

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download CSV' }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^packets-\d{4}-\d\d-\d\d\.csv$/);
  expect(realComplaints(browser)).toEqual([]);
});

test('fields have names: in the table, in the filter, which finds them, and on the page of a packet', async () => {
  const { page } = browser;
  const ring = [
    [2.999, 0.999],
    [3.001, 0.999],
    [3.001, 1.001],
    [2.999, 1.001],
    [2.999, 0.999],
  ];
  const feature = {
    type: 'Feature',
    properties: { name: 'Lower meadow <b>' },
    geometry: { type: 'Polygon', coordinates: [ring] },
  };
  const { body } = await send('PUT', '/packet/fields', feature);
  const geoid: string = body.fields[0].geoid;
  const sent = { observed_at: '2026-02-01T08:15:00Z', capture_point: { lat: 1, lon: 3 }, message: 'Wet' };
  const { body: observed } = await send('POST', '/packet/intake/scouting', sent);
  await logIn(page, `${pages.url}/packets`, email);
  await page.getByLabel('Order').selectOption('asc');
  await page.getByRole('cell', { name: 'Lower meadow <b>' }).waitFor();
  expect(await page.getByRole('cell', { name: /^[0-9a-f]{10}…$/ }).count()).toBeGreaterThan(0);

  const filter = page.getByRole('combobox', { name: 'Field or GeoID' });
  await filter.fill('lower');
  await page.getByRole('option').filter({ hasText: 'Lower meadow' }).waitFor();
  await expectAccessible(page);
  // On phones the filters are behind a button, so that the list was closed.
  await filter.press('ArrowDown');
  await filter.press('ArrowUp');
  await filter.press('Enter');
  await page.waitForURL(url => url.searchParams.get('geoid') === geoid);
  expect(await filter.inputValue()).toBe('Lower meadow <b>');
  await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
  await page.goto(page.url());
  await expect.poll(() => filter.inputValue()).toBe('Lower meadow <b>');

  await filter.fill(geoid.slice(0, 20));
  await page.getByText('No field name begins with this').waitFor();
  await filter.press('Enter');
  expect(
    await filter.evaluate(input => (input as unknown as { validationMessage: string }).validationMessage),
  ).toBe('Please choose a field from the list, or type its whole GeoID: 64 characters');
  await page.getByLabel('Type').selectOption('note');
  await page.waitForURL(url => url.searchParams.get('type') === 'note');
  expect(new URL(page.url()).searchParams.get('geoid')).toBe(geoid);
  await filter.fill('0'.repeat(64));
  await filter.press('Enter');
  await page.getByText('No matching packets').waitFor();
  await page.getByRole('button', { name: 'Remove filters' }).click();
  expect(await filter.inputValue()).toBe('');

  await page.goto(`${pages.url}/packets/${observed.packet_uuid}`);
  await page.getByRole('link', { name: 'Lower meadow <b>' }).waitFor();
  expect(realComplaints(browser)).toEqual([]);
});

test('on a phone filters are behind a button, which says how many are chosen', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/packets?columns=crop`, email);
  await page.setViewportSize(PHONE);
  const type = page.getByLabel('Type');
  expect(await type.isVisible()).toBe(false);
  await page.getByRole('button', { name: 'Filters', exact: true }).click();
  expect(await page.getByRole('button', { name: 'Remove filters' }).count()).toBe(0);
  await type.selectOption('weather');
  await page.getByRole('button', { name: 'Filters (1)' }).click();
  expect(await type.isVisible()).toBe(false);
  await page.getByRole('button', { name: 'Filters (1)' }).click();
  await page.getByRole('button', { name: 'Remove filters' }).click();
  await page.getByRole('button', { name: 'Filters', exact: true }).waitFor();
  expect(new URL(page.url()).search).toBe('?columns=crop');
  await page.setViewportSize(DESKTOP);
  expect(await page.getByRole('button', { name: /^Filters/ }).isVisible()).toBe(false);
  expect(await type.isVisible()).toBe(true);
});

test('a packet opens beside the list with its photo, hash, place and author; the address keeps it', async () => {
  const { page } = browser;
  const body = {
    observed_at: '2026-03-01T22:30:00Z',
    capture_point: { lat: -1.95, lon: 30.06 },
    message: 'With a photo of rust',
    severity: 3,
  };
  const photo = await sharp({ create: { width: 64, height: 48, channels: 3, background: 'green' } })
    .jpeg()
    .toBuffer();
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(photo)], { type: 'image/jpeg' }), 'leaf.jpg');
  const { cookie } = await pages.login(email);
  const uploaded = await fetch(`${pages.url}/packet/attachments`, {
    method: 'POST',
    body: form,
    headers: { cookie, origin: pages.url },
  });
  const { attachment_id } = (await uploaded.json()) as { attachment_id: string };
  const { packet_uuid: id } = (
    await send('POST', '/packet/intake/scouting', {
      ...body,
      attachments: [{ id: attachment_id, name: 'leaf.jpg' }],
    })
  ).body;
  await logIn(page, `${pages.url}/packets`, email);
  const row = page.getByRole('row').filter({ hasText: 'With a photo of rust' });
  await row.getByText('Valid').waitFor();
  await row.getByText('With a photo of rust').click();
  const preview = page.getByRole('complementary', { name: 'Observation' });
  const opened = () => new URL(page.url()).searchParams.get('open');
  await preview.getByText('With a photo of rust').waitFor();
  expect(opened()).toBe(id);
  const picture = preview.getByRole('img', { name: 'leaf.jpg' });
  await expect.poll(() => picture.evaluate(image => image.naturalWidth)).toBe(64);
  await preview.getByRole('region', { name: 'Hash' }).getByText('Valid').waitFor();
  const { Header, Footer } = (await send('GET', `/packet/packets/${id}`)).body;
  expect(await preview.locator('code').getAttribute('title')).toBe(Footer.hash);
  await preview.getByText('Ana Uwase').waitFor();
  await preview.getByText('severity').waitFor();
  await preview.getByTitle(Header.geoid).first().waitFor();
  await preview.locator('canvas').waitFor();
  await expectAccessible(page);

  await page.reload();
  await preview.getByText('With a photo of rust').waitFor();
  await page.goBack();
  await preview.waitFor({ state: 'detached' });
  expect(opened()).toBe(null);
  await page.goForward();
  await preview.waitFor();
  // Another list does not have it, so that it is loaded for itself.
  await page.goto(`${pages.url}/packets?type=weather&open=${id}`);
  await preview.getByText('With a photo of rust').waitFor();
  await preview.getByText('Ana Uwase').waitFor();
  await page.setViewportSize(PHONE);
  const box = await preview.boundingBox();
  expect(box?.width).toBe(PHONE.width);
  await page.setViewportSize(DESKTOP);
  await page.goto(`${pages.url}/packets?open=01JD7Q2M8XW3N5R6T8V9Y0Z1A2`);
  const missing = page.getByRole('complementary', { name: 'Packet' });
  await missing.getByRole('alert').waitFor();
  await missing.getByRole('button', { name: 'Close' }).click();
  expect(opened()).toBe(null);
});

test('the keyboard opens a packet beside the list, goes through the list, closes it, and goes to the filters', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/packets`, email);
  const rows = page.getByRole('table').locator('tbody tr');
  await rows.nth(2).waitFor();
  const opened = () => new URL(page.url()).searchParams.get('open');
  const marked = () => page.locator('tr.current').innerText();
  await rows.first().getByRole('link').focus();
  await page.keyboard.press('Enter');
  const preview = page.getByRole('complementary', { name: 'Observation' });
  await preview.waitFor();
  const first = opened();
  await page.keyboard.press('ArrowDown');
  await expect.poll(opened).not.toBe(first);
  expect(await isFocused(rows.nth(1).getByRole('link'))).toBe(true);
  expect(await marked()).toBe(await rows.nth(1).innerText());
  await page.keyboard.press('ArrowUp');
  await expect.poll(opened).toBe(first);
  expect(await page.getByRole('button', { name: 'Previous packet' }).isDisabled()).toBe(true);
  await page.getByRole('button', { name: 'Next packet' }).click();
  expect(await marked()).toBe(await rows.nth(1).innerText());
  await page.keyboard.press('Escape');
  await preview.waitFor({ state: 'detached' });
  // However many packets were looked at, they are one step.
  expect(opened()).toBe(null);
  expect(await rows.count()).toBe(50);
  await page.keyboard.press('/');
  expect(await isFocused(page.getByLabel('Type'))).toBe(true);
});

test('filters of place are behind a button, and in sight while one of them is in the address', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/packets`, email);
  const near = page.getByLabel('Near (lat, lon, metres)');
  const more = page.getByRole('button', { name: 'More filters' });
  await near.waitFor({ state: 'hidden' });
  expect(await more.getAttribute('aria-expanded')).toBe('false');
  await more.press('Enter');
  expect(await more.getAttribute('aria-expanded')).toBe('true');
  await page.getByLabel('Type').selectOption('note');
  await expect.poll(() => new URL(page.url()).searchParams.get('type')).toBe('note');
  // What was opened stays open when another filter is chosen.
  await near.fill('0,0,1');
  await near.press('Enter');
  await page.getByText('No matching packets').waitFor();
  await page.getByRole('button', { name: 'More filters (1)' }).click();
  expect(await near.isVisible()).toBe(false);
  await page.reload();
  await near.waitFor();
  expect(await near.inputValue()).toBe('0,0,1');
  await expectAccessible(page);
});

/** Words of the table that go over two lines. */
const BROKEN_WORDS = `(() => {
  const broken = [];
  const texts = document.createTreeWalker(document.querySelector('tbody'), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const range = document.createRange();
    for (const { 0: word, index } of texts.currentNode.data.matchAll(/[^\\s-]+/g)) {
      range.setStart(texts.currentNode, index);
      range.setEnd(texts.currentNode, index + word.length);
      if (range.getClientRects().length > 1) broken.push(word);
    }
  }
  return broken;
})()`;

test('on a phone each packet of the table begins with the link, keeps words whole, and nothing is cut off', async () => {
  await observe('Stenoptilodes on Grevillea, and nematodes further down', 22);
  const { page } = browser;
  await logIn(page, `${pages.url}/packets`, email);
  await page.getByText('Stenoptilodes').waitFor();
  await page.setViewportSize(PHONE);
  expect(await page.evaluate(BROKEN_WORDS)).toEqual([]);
  const table = page.getByRole('region', { name: 'Packets' });
  expect(await table.evaluate(node => node.scrollWidth - node.clientWidth)).toBe(0);
  const type = page.locator('tbody tr').first().getByRole('cell', { name: 'Observation', exact: true });
  const box = await type.boundingBox();
  expect((box?.x ?? PHONE.width) + (box?.width ?? 0)).toBeLessThanOrEqual(PHONE.width);
  expect(await type.getAttribute('data-column')).toBe('Type');
  const first = page.locator('tbody tr').first().locator('td').first();
  const link = first.getByRole('link');
  expect(await link.innerText()).toContain('2026');
  await expectAccessible(page);
});

test('on a phone the link of the screen is in view among those of its area', async () => {
  const { page } = browser;
  await page.setViewportSize(PHONE);
  await page.goto(`${pages.url}/account/data`);
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Log in' }).click();
  const link = page.getByRole('link', { name: 'Your data' });
  await expect
    .poll(async () => {
      const box = await link.boundingBox();
      return (box?.x ?? PHONE.width) + (box?.width ?? 0);
    })
    .toBeLessThanOrEqual(PHONE.width);
  await page.setViewportSize(DESKTOP);
});

test('new packets appear at the top of the list with their author, and are announced to users who read further down', async () => {
  const { page } = browser;
  const watching = page.waitForRequest(/\/packet\/sync\/packets/);
  await logIn(page, `${pages.url}/packets?type=note`, email);
  await watching;
  const rows = page.getByRole('table').locator('tbody tr');
  await rows.first().waitFor();
  const before = await rows.count();
  await observe('Just now', 23);
  await page.getByRole('row', { name: /Just now.*Ana Uwase/ }).waitFor();
  expect(await rows.first().innerText()).toContain('Just now');
  expect(await rows.count()).toBe(before + 1);

  await page.evaluate('scrollTo(0, document.body.scrollHeight)');
  await expect.poll(() => page.evaluate('scrollY')).toBeGreaterThan(100);
  await observe('A minute later', 23);
  const news = page.getByRole('button', { name: '1 new packet: show it' });
  await news.waitFor();
  expect(await page.getByText('A minute later').count()).toBe(0);
  await expectAccessible(page);
  await page.evaluate('scrollTo(0, document.body.scrollHeight)');
  await news.click();
  await page.getByText('A minute later').waitFor();
  expect(await rows.first().innerText()).toContain('A minute later');
  expect(await page.evaluate('scrollY')).toBe(0);
  expect(await news.count()).toBe(0);
  const texts = await rows.allInnerTexts();
  expect(new Set(texts).size).toBe(before + 2);
});

test('packets that arrive during a lost connection are in the list once it is back', async () => {
  const { page } = browser;
  const watching = page.waitForRequest(/\/packet\/sync\/packets/);
  await logIn(page, `${pages.url}/packets`, email);
  await watching;
  // The feed says where the log ends: here it cannot, until after the packet has come.
  const refused = Promise.withResolvers<void>();
  await page.route('**/packet/events?*', async route => {
    await route.abort();
    refused.resolve();
  });
  await page.reload();
  await page.getByRole('table').locator('tbody tr').first().waitFor();
  await refused.promise;
  await observe('Came while nobody could tell', 23);
  await page.unroute('**/packet/events?*');
  await page.getByRole('row', { name: /Came while nobody could tell/ }).waitFor();
});

test('a filter that the service refuses is reported in words, and can be retried', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/packets?from=yesterday`, email);
  await page.getByRole('alert').getByText('from: A date, with or without a time').waitFor();
  await page.getByRole('button', { name: 'Try again' }).waitFor();
});

test('the language and the colours can be changed, and are kept', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/packets`, email);
  await chooseLanguage(page, 'rw');
  await page.getByRole('heading', { name: 'Amapaketi' }).waitFor();
  expect(await page.locator('html').getAttribute('lang')).toBe('rw');
  await page.getByLabel('Amabara').selectOption('dark');
  await expectAccessible(page);
  await page.reload();
  await page.getByRole('heading', { name: 'Amapaketi' }).waitFor();
  expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
  await page.getByRole('button', { name: 'Ibyawe' }).click();
  await page.getByLabel('Amabara').selectOption('system');
  await chooseLanguage(page, 'en');
});

test('files of packets are listed by name, also those that are not uploaded yet', async () => {
  const { page } = browser;
  const [named, stored] = ['att_01JD7Q2M8XW3N5R6T8V9Y0Z1A2', 'att_01JD7Q2M8XW3N5R6T8V9Y0Z1A3'];
  const body = {
    observed_at: '2026-03-02T08:15:00Z',
    capture_point: { lat: 1, lon: 2 },
    message: 'With files',
    attachments: [{ id: named, name: '<b>leaf</b>.jpg' }, stored, { url: 'https://example.org/a' }],
  };
  const { packet_uuid } = (await send('POST', '/packet/intake/scouting', body)).body;
  const many = {
    ...body,
    message: 'Many',
    attachments: Array(100).fill({ id: named, name: 'x'.repeat(200) }),
  };
  expect((await send('POST', '/packet/intake/scouting', many)).status).toBe(201);
  await logIn(page, `${pages.url}/packets`, email);
  const row = page.getByRole('row').filter({ hasText: 'With files' });
  await row.getByText('<b>leaf</b>.jpg, File 2, File 3', { exact: true }).waitFor();
  expect(await row.innerText()).not.toContain('att_');
  const cut = page.getByRole('row').filter({ hasText: 'Many' });
  expect((await cut.innerText()).length).toBeLessThan(300);
  await expectAccessible(page);
  await page.goto(`${pages.url}/packets/${packet_uuid}`);
  await page.getByText('<b>leaf</b>.jpg', { exact: true }).waitFor();
  await expectAccessible(page);
});
