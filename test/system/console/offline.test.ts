import { cpSync, globSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import type { Browser } from '../../helpers/browser.ts';
import { build } from '../../helpers/build.ts';
import { type RunningConsole, runningConsole } from '../../helpers/console.ts';
import {
  consoleBrowser,
  expectAccessible,
  logIn,
  logOut,
  realComplaints,
} from '../../helpers/console-page.ts';
import { eventually } from '../../helpers/eventually.ts';
import { temporaryFolder } from '../../helpers/folder.ts';
import { type Line, openLine } from '../../helpers/line.ts';
import { openPlainBrowser } from '../../helpers/plain-browser.ts';
import type { Send } from '../../helpers/service.ts';
import { PASSWORD } from '../../helpers/trace.ts';

const BUILT = path.resolve(import.meta.dirname, '../../../console/dist');
/** Busy machines have time. */
const SOON = { timeout: 60_000 };

/** The scripts of the build; the next one has all of them by other names, because their names have hashes. */
const isScript = (name: string) => /^[\w-]+\.js$/.test(name);
const nextName = (name: string) => name.replace(/\.js$/, 'next.js');
let scripts: string[];
/** The script that the page of the next build loads. */
let nextEntry: string;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let pages: RunningConsole;
/** between the browser and the console */
let line: Line;
let browser: Browser;
let email: string;
let send: Send;
beforeAll(async () => {
  await build('console');
  const page = readFileSync(path.join(BUILT, 'index.html'), 'utf8');
  nextEntry = nextName(/\/assets\/(index-[\w-]+\.js)/.exec(page)?.[1] as string);
  scripts = readdirSync(path.join(BUILT, 'assets')).filter(isScript);
  folder = await temporaryFolder();
  cpSync(BUILT, folder.folder, { recursive: true });
  // The server lists the files when it starts.
  const assets = path.join(folder.folder, 'assets');
  for (const name of scripts) cpSync(path.join(BUILT, 'assets', name), path.join(assets, nextName(name)));
  pages = await runningConsole({}, folder.folder);
  line = await openLine(pages.url);
  browser = await consoleBrowser(line, { offline: true });
  ({ email } = await pages.newUser());
  ({ send } = await pages.login(email));
});
afterAll(async () => {
  await browser.close();
  await line.close();
  await pages.stop();
  await folder.remove();
});
beforeEach(async () => {
  await line.restore();
  await browser.page.context().clearCookies();
});

/** Waits until the files of the console are stored in the browser. */
const stored = (page: Page) => page.evaluate('navigator.serviceWorker.ready.then(() => {})');
const caches = (page: Page) => page.evaluate('caches.keys()') as Promise<string[]>;
const isReached = (page: Page) =>
  page.evaluate("fetch('/packet/health/live').then(() => true, () => false)") as Promise<boolean>;

async function withMessage(message: string): Promise<object[]> {
  const { body } = await send('GET', '/packet/packets?limit=1000');
  return body.packets.filter(({ Body }: { Body: { message: string } }) => Body.message === message);
}

/** Keeps the texts of the notices that a page shows from now on: each disappears after a while. */
const KEEP_NOTICES = `
  window.notices = [];
  new MutationObserver(records => {
    for (const node of records.flatMap(({ addedNodes }) => [...addedNodes]))
      if (node instanceof Element && node.matches('.toast')) window.notices.push(node.textContent.trim());
  }).observe(document, { childList: true, subtree: true });
`;
const notices = (page: Page) => page.evaluate('window.notices') as Promise<string[]>;

/** Fills in and sends the form of an observation. */
async function observe(page: Page, message: string): Promise<void> {
  await page.getByLabel('What do you see?').fill(message);
  await page.getByLabel('Latitude').fill('-1.95');
  await page.getByLabel('Longitude').fill('30.06');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
}

test('an unsent observation shows its time, and the notice about it disappears when it is sent', async () => {
  const { page } = browser;
  await logIn(page, `${line.url}/observations/new`, email);
  await stored(page);
  await line.interrupt();
  await page.reload();
  await page.getByText('There is no connection. New observations are kept').waitFor();
  // Notices stay here.
  await page.evaluate(`(real => {
    window.setTimeout = (then, wait) => (wait === 8000 ? 0 : real(then, wait));
  })(window.setTimeout)`);
  await page.locator('[name=observed_at]').fill('2026-03-01T08:15');
  await observe(page, 'from the ridge');
  await page.getByText('Saved. It will be sent as soon as').waitFor();
  await page.getByRole('listitem').filter({ hasText: 'from the ridge' }).getByText('8:15').waitFor();
  await line.restore();
  await expect.poll(async () => (await withMessage('from the ridge')).length, SOON).toBe(1);
  await expect.poll(() => page.getByText('Saved. It will be sent as soon as').count(), SOON).toBe(0);
});

test('after one visit the console opens without a connection, and an observation made then arrives once', async () => {
  const { page } = browser;
  await logIn(page, `${line.url}/`, email);
  await stored(page);
  await line.interrupt();
  expect(await isReached(page)).toBe(false);
  await page.reload();
  await page.getByText('There is no connection. New observations are kept').waitFor();
  await page.getByRole('main').getByRole('link', { name: 'New observation' }).click();
  await page.getByRole('heading', { name: 'New observation' }).waitFor();
  await page.getByText('Everyone with an account here will be able to read it').waitFor();
  await observe(page, 'from the valley');
  await page.getByText('1 observation is waiting to be sent').waitFor();
  await page.reload();
  await page.getByText('1 observation is waiting to be sent').waitFor();
  await expectAccessible(page);
  expect(await withMessage('from the valley')).toEqual([]);
  const other = await page.context().newPage();
  await other.goto(`${line.url}/observations/new`);
  await other.getByText('1 observation is waiting to be sent').waitFor();

  // Both tabs send it as soon as they can.
  await line.restore();
  await expect.poll(async () => (await withMessage('from the valley')).length, SOON).toBe(1);
  await expect.poll(() => page.getByText('waiting to be sent').count(), SOON).toBe(0);
  await expect.poll(() => other.getByText('waiting to be sent').count(), SOON).toBe(0);
  for (const tab of [page, other]) await tab.getByRole('link', { name: 'from the valley' }).waitFor();
  await expect.poll(() => page.getByText('There is no connection').count(), SOON).toBe(0);
  await other.close();
  expect(await withMessage('from the valley')).toHaveLength(1);
  // What was being preloaded when the service worker took over is loaded once more.
  const expected = /net::ERR_|cross-world service worker resource mismatch/;
  expect(realComplaints(browser).filter(text => !expected.test(text))).toEqual([]);
});

test('only files of the build are stored, never an answer of the services', async () => {
  const { page } = browser;
  await logIn(page, `${line.url}/packets`, email);
  await stored(page);
  await page.getByRole('table').waitFor();
  const addresses = (await page.evaluate(
    'caches.keys().then(async ([name]) => (await (await caches.open(name)).keys()).map(({ url }) => url))',
  )) as string[];
  const paths = addresses.map(address => new URL(address).pathname);
  expect(paths).toContain('/');
  const built = globSync('**/*', { cwd: BUILT }).map(name => `/${name.replaceAll(path.sep, '/')}`);
  expect(paths.filter(name => name !== '/' && !built.includes(name))).toEqual([]);
  expect(paths).not.toContain('/service-worker.js');
  expect(paths.filter(name => /maplibre|base-map/.test(name))).toEqual([]);
  expect(await caches(page)).toHaveLength(1);
});

test('without a connection, every screen says so, and loads automatically when it is back', async () => {
  const { page } = browser;
  await logIn(page, `${line.url}/`, email);
  await stored(page);
  await line.interrupt();
  for (const screen of [
    '/',
    '/packets',
    '/threads',
    '/inbox',
    '/companies',
    '/products',
    '/currency',
    '/account/sessions',
  ]) {
    await page.goto(`${line.url}${screen}`);
    await page.getByText('There is no connection to the server').first().waitFor();
    await page.getByText('other screens need a connection').waitFor();
  }
  await expectAccessible(page);
  await page.goto(`${line.url}/packets`);
  await page.getByText('There is no connection to the server').waitFor();
  await logOut(page);
  // Only the server can end a session.
  await page.getByRole('status').getByText('There is no connection to the server').waitFor();
  await line.restore();
  await page.getByText('from the valley').waitFor();
});

test('a map that was opened without a connection is there once it is back', async () => {
  const { page } = browser;
  await logIn(page, `${line.url}/`, email);
  await stored(page);
  await line.interrupt();
  await page.goto(`${line.url}/map`);
  const failed = page.getByRole('alert').getByText('This loads automatically when the connection is back');
  await failed.first().waitFor();
  expect(await page.getByText('Nothing was changed').count()).toBe(0);
  await line.restore();
  await page.locator('canvas').waitFor();
  await expect.poll(() => failed.count()).toBe(0);
});

test('after its first use the map is drawn without a connection, too', async () => {
  const { page } = browser;
  await logIn(page, `${line.url}/`, email);
  await stored(page);
  await page.goto(`${line.url}/map`);
  await page.locator('canvas').waitFor();
  const names = () =>
    page.evaluate(
      'caches.keys().then(async ([name]) => (await (await caches.open(name)).keys()).map(({ url }) => url).join())',
    ) as Promise<string>;
  await page.getByText('Niger').waitFor(SOON);
  // The beginning of the base map, and tiles of the world.
  await expect.poll(names, SOON).toMatch(/(base-map\S*bytes=[^,]*,.*){4}/s);
  await line.interrupt();
  await page.reload();
  await page.getByText('There is no connection. New observations are kept').waitFor();
  await page.getByText('Niger').waitFor();
  const lacking = page.getByText('Parts of the map could not be loaded');
  await lacking.waitFor();
  await expectAccessible(page);
  await line.restore();
  await expect.poll(() => lacking.count(), SOON).toBe(0);
  await expect.poll(() => page.getByText('Loading the map').count(), SOON).toBe(0);
});

test('a map that was opened without a connection moves to the observations once it is back, with what waited', async () => {
  const { page } = browser;
  await logIn(page, `${line.url}/map`, email);
  await stored(page);
  await page.locator('canvas').waitFor();
  await page.goto(`${line.url}/observations/new`);
  await page.getByRole('heading', { name: 'New observation' }).waitFor();
  await line.interrupt();
  await page.reload();
  await page.getByText('There is no connection. New observations are kept').waitFor();
  await observe(page, 'from the summit');
  await page.getByText('1 observation is waiting to be sent').waitFor();
  await page.goto(`${line.url}/map`);
  await page.getByText('Parts of the map could not be loaded').waitFor();
  await expect.poll(() => page.getByText('Loading the map').count(), SOON).toBe(0);
  expect(new URL(page.url()).searchParams.get('at')).toBe(null);
  const other = await page.context().newPage();
  await other.goto(`${line.url}/packets`);
  await other.getByText('There is no connection to the server').first().waitFor();

  for (const tab of [page, other]) await tab.evaluate(KEEP_NOTICES);
  await line.restore();
  await expect
    .poll(() => new URL(page.url()).searchParams.get('at'), SOON)
    .toMatch(/^11\/-1\.9\d*\/30\.\d*$/);
  await page.getByRole('listitem').filter({ hasText: 'from the summit' }).waitFor();
  // Whichever tab has sent it, each says so once.
  for (const tab of [page, other])
    await expect.poll(() => notices(tab), SOON).toEqual(['1 observation sent']);
  await other.close();
});

test('a logout works without a connection, too: nobody is remembered', async () => {
  const { page } = browser;
  await logIn(page, `${line.url}/`, email);
  await stored(page);
  await logOut(page);
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  await line.interrupt();
  await page.reload();
  await page.getByText('There is no connection to the server').waitFor();
  expect(await page.getByRole('navigation').count()).toBe(0);
  await line.restore();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
});

/** Replaces the build on the server by one whose scripts have other names; the old ones are gone, as after an update. */
function update(): void {
  const root = folder.folder;
  for (const name of globSync('**/*.{gz,br}', { cwd: root })) rmSync(path.join(root, name));
  for (const name of scripts) rmSync(path.join(root, 'assets', name));
  for (const name of globSync('**/*.{js,html}', { cwd: root })) {
    const file = path.join(root, name);
    const text = readFileSync(file, 'utf8').replace(/[\w-]+\.js\b/g, word =>
      scripts.includes(word) ? nextName(word) : word,
    );
    writeFileSync(file, text);
  }
  const worker = path.join(root, 'service-worker.js');
  writeFileSync(worker, readFileSync(worker, 'utf8').replace(/version":"\w+/, 'version":"newbuild'));
}

test('a new build leaves the open page and what is typed there alone, and takes over at a later navigation', async () => {
  const plain = await openPlainBrowser();
  onTestFinished(plain.close);
  const heading = (text: string) =>
    eventually(() => plain.evaluate(`document.querySelector('main h1')?.textContent.trim() === '${text}'`));
  const keys = () => plain.evaluate('caches.keys().then(names => names.join())') as Promise<string>;
  const page = () => plain.evaluate('document.documentElement.outerHTML');
  await plain.goto(`${line.url}/`);
  const body = JSON.stringify({ username: email, password: PASSWORD });
  const headers = "{ 'content-type': 'application/json' }";
  const login = `fetch('/trace/api/user/login', { method: 'POST', headers: ${headers}, body: '${body}' })`;
  expect(await plain.evaluate(`${login}.then(({ status }) => status)`)).toBe(200);
  await plain.goto(`${line.url}/observations/new`);
  await heading('New observation');
  await eventually(() => plain.evaluate('navigator.serviceWorker.controller !== null'));
  const before = await keys();
  await plain.evaluate("document.querySelector('textarea').value = 'half a sentence'");

  update();
  const waiting = 'navigator.serviceWorker.ready.then(({ waiting }) => waiting !== null)';
  await plain.evaluate(
    'navigator.serviceWorker.ready.then(registration => registration.update()).then(() => {})',
  );
  await eventually(() => plain.evaluate(waiting));
  expect(await plain.evaluate("document.querySelector('textarea').value")).toBe('half a sentence');
  // A screen of the old build, whose files the server does not have any more.
  await plain.evaluate(`document.querySelector('nav a[href="/packets"]').click()`);
  await heading('Packets');
  expect(await keys()).toBe(`${before},console-newbuild`);

  await eventually(async () => {
    await plain.goto(`${line.url}/observations/new`);
    await heading('New observation');
    return (await keys()) === 'console-newbuild';
  });
  expect(await page()).toContain(nextEntry);
  await line.interrupt();
  await plain.goto(`${line.url}/observations/new`);
  await eventually(() => plain.evaluate("document.body.innerText.includes('There is no connection. New')"));
  expect(await page()).toContain(nextEntry);
  await line.restore();
});
