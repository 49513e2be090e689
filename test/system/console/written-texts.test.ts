import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Browser } from '../../helpers/browser.ts';
import { type RunningConsole, runningConsole } from '../../helpers/console.ts';
import { consoleBrowser, logIn, realComplaints } from '../../helpers/console-page.ts';
import type { Send } from '../../helpers/service.ts';
import { ADMIN } from '../../helpers/trace.ts';

/** Runs as markup, as an attribute, and as an address. */
const XSS = `"'><img src=x onerror="window.hacked=1"><svg/onload=window.hacked=2>`;
/** For all screens on a busy machine, in milliseconds. */
const PATIENCE_MS = 300_000;
const ADDRESS = 'javascript:window.hacked=3';

let pages: RunningConsole;
let browser: Browser;
let owner: { id: number; email: string; send: Send };
let made: Record<'company' | 'product' | 'label' | 'thread' | 'packet', string>;
/** addresses of the pages of codes */
let codePages: string[];
beforeAll(async () => {
  pages = await runningConsole();
  browser = await consoleBrowser(pages);
  const { id, email } = await pages.newUser('USER', { name: XSS.slice(0, 100), surname: XSS.slice(0, 100) });
  owner = { id, email, send: (await pages.login(email)).send };
  made = await writeEverywhere(owner.send, String(id));
  codePages = await writeCodes((await pages.login(ADMIN.username, ADMIN.password)).send);
});
afterAll(async () => {
  await browser.close();
  await pages.stop();
});
beforeEach(() => browser.page.context().clearCookies());

async function writeEverywhere(send: Send, userId: string): Promise<typeof made> {
  const create = async (path: string, body: object) => {
    const answer = await send('POST', path, body);
    expect([200, 201], answer.text).toContain(answer.status);
    return answer.body.data ?? answer.body;
  };
  const { id: company } = await create('/trace/api/company/create', { name: XSS, about: XSS, manager: XSS });
  const { id: product } = await create('/trace/api/product/create', { name: XSS, description: XSS });
  const { id: label } = await create('/trace/api/product/label/create', { productId: product, title: XSS });
  const { thread_id: thread } = await create('/packet/chat/threads', { name: XSS, created_by: userId });
  await create('/packet/intake/chat-message', { thread_id: thread, from_user: userId, text: XSS });
  const { packet_uuid: packet } = await create('/packet/intake/scouting', {
    observed_at: '2026-03-01T08:15:00Z',
    capture_point: { lat: 1, lon: 2 },
    message: XSS,
    [XSS]: XSS,
    link: ADDRESS,
    attachments: [ADDRESS, { id: XSS, name: XSS }],
  });
  return { company, product, label, thread, packet };
}

const screens = () => [
  '/',
  '/map',
  '/observations/new',
  '/packets',
  `/packets?columns=${encodeURIComponent(XSS)},link`,
  `/packets?open=${made.packet}`,
  `/packets/${made.packet}`,
  '/threads',
  `/threads?keyword=onerror`,
  `/threads/${made.thread}`,
  '/inbox',
  '/companies',
  '/companies/new',
  `/companies/${made.company}`,
  `/companies/${made.company}/members`,
  '/products',
  '/products/new',
  `/products/${made.product}`,
  `/products/${made.product}/history`,
  `/products/${made.product}/labels`,
  `/labels/${made.label}`,
  `/labels/${made.label}/statistics`,
  '/currency',
  '/account',
  '/account/security',
  '/account/sessions',
  '/account/keys',
  '/account/data',
];
const LISTS = [
  'product-types',
  'semi-products',
  'facility-types',
  'measure-unit-types',
  'processing-evidence-types',
  'processing-evidence-fields',
];
/** The forms come before the lists, which show what was sent. */
const codes = () => [
  '/value-chains/new',
  ...codePages,
  '/value-chains',
  '/code-lists',
  ...LISTS.flatMap(list => [`/code-lists/${list}/new`, `/code-lists/${list}`]),
];

/** A code of each list: the path of the service, and what is sent to it. */
const CODE: Record<string, [string, object]> = {
  'product-types': ['product-type', { code: XSS, name: XSS, description: XSS }],
  'semi-products': ['chain/semi-product', { name: XSS, description: XSS }],
  'facility-types': ['chain/facility-type', { code: XSS, label: XSS }],
  'measure-unit-types': ['chain/measure-unit-type', { code: XSS, label: XSS }],
  'processing-evidence-types': ['chain/processing-evidence-type', { code: XSS, label: XSS, type: 'FIELD' }],
  'processing-evidence-fields': [
    'chain/processing-evidence-field',
    { fieldName: XSS, label: XSS, type: 'TEXT' },
  ],
};

/** Makes a value chain and a code of each list; returns the addresses of their pages. */
async function writeCodes(send: Send): Promise<string[]> {
  const create = async (path: string, body: object) => {
    const answer = await send(path === 'product-type' ? 'POST' : 'PUT', `/trace/api/${path}`, body);
    expect(answer.status, answer.text).toBe(200);
    return answer.body.data.id as number;
  };
  const pages = [`/value-chains/${await create('chain/value-chain', { name: XSS, description: XSS })}`];
  for (const list of LISTS) {
    pages.push(`/code-lists/${list}/${await create(...(CODE[list] as [string, object]))}`);
  }
  return pages;
}
const ADMINISTRATION = ['users', 'audit', 'jobs', 'health', 'backups', 'settings'].map(
  name => `/administration/${name}`,
);

/** Opens a screen, and waits until it shows what it loads. */
async function open(page: Page, path: string): Promise<void> {
  await page.goto(pages.url + path);
  await isShown(page, path);
}

async function isShown(page: Page, path: string): Promise<void> {
  await page.getByRole('main').getByRole('heading').first().waitFor();
  await expect.poll(() => page.getByText('Loading…').count(), { message: path }).toBe(0);
}

/** Opens a screen as a link of the one before does: the console is not loaded again. */
async function follow(page: Page, path: string): Promise<void> {
  // With another query it is the same screen, which reads it again: nothing says when.
  if (new URL(path, page.url()).pathname === new URL(page.url()).pathname) return open(page, path);
  await page.getByRole('main').evaluate((main, href) => {
    const link = main.ownerDocument.createElement('a');
    main.append(Object.assign(link, { href }));
    link.click();
    link.remove();
  }, path);
  await page.waitForURL(({ href }) => href === pages.url + path);
  await isShown(page, path);
}

const hacked = (page: Page) => page.evaluate('window.hacked');

test(
  'what people have written is text on every screen, whatever it looks like',
  async () => {
    const { page } = browser;
    await logIn(page, pages.url, owner.email);
    let shown = 0;
    for (const path of screens()) {
      await follow(page, path);
      expect(await hacked(page), path).toBeUndefined();
      expect(await page.locator('main img[src="x"], main [onerror], main [onload]').count(), path).toBe(0);
      expect(await page.locator('[href^="javascript:"]').count(), path).toBe(0);
      const text = (await page.getByRole('main').innerText()) + (await values(page));
      if (text.includes('<img src=x onerror="window.hacked=1">')) shown++;
    }
    // The lists and pages of what was made, at least.
    expect(shown).toBeGreaterThanOrEqual(10);
    await page.context().clearCookies();
    await logIn(page, pages.url, ADMIN.username, ADMIN.password);
    for (const path of [...ADMINISTRATION, ...codes()]) {
      await follow(page, path);
      expect(await hacked(page), path).toBeUndefined();
      if (codePages.includes(path)) expect(await values(page), path).toContain(XSS);
    }
    expect(realComplaints(browser)).toEqual([]);
  },
  PATIENCE_MS,
);

const values = (page: Page) =>
  page.locator('main :is(input, textarea)').evaluateAll(all => all.map(({ value }) => value).join('\n'));

/** Fills and sends the forms of screens; returns how many fields there were. */
async function fillAll(page: Page, paths: readonly string[]): Promise<number> {
  const fields =
    'main :is(input:not([type]), input[type=text], input[type=search], textarea):not([disabled])';
  let filled = 0;
  for (const path of paths) {
    await open(page, path);
    for (const field of await page.locator(fields).all()) {
      if (!(await field.isVisible()) || !(await field.isEditable())) continue;
      await field.fill(XSS.slice(0, Number((await field.getAttribute('maxlength')) ?? XSS.length)));
      filled++;
    }
    const form = page.locator('main form').first();
    if ((await form.count()) > 0) {
      await form.evaluate(element => element.requestSubmit());
      await expect.poll(() => page.getByText('Loading…').count(), { message: path }).toBe(0);
    }
    expect(await hacked(page), path).toBeUndefined();
    expect(await page.locator('main img[src="x"], main [onerror]').count(), path).toBe(0);
  }
  return filled;
}

test(
  'every field of every screen takes such a text, and shows it as it is when the form is sent',
  async () => {
    const { page } = browser;
    await logIn(page, pages.url, owner.email);
    const filled = await fillAll(page, screens());
    expect(filled).toBeGreaterThan(40);
    await page.context().clearCookies();
    await logIn(page, pages.url, ADMIN.username, ADMIN.password);
    expect(await fillAll(page, codes())).toBeGreaterThan(codes().length);
  },
  PATIENCE_MS,
);

test(
  'another tenant sees nothing of it: not in lists, not at its address, not by a search',
  async () => {
    const { page } = browser;
    const stranger = await pages.newUser('USER', { name: 'Other', surname: 'Tenant' });
    await logIn(page, pages.url, stranger.email);
    const empty: [string, string][] = [
      ['/threads', 'No threads yet'],
      ['/threads?keyword=onerror', 'No matching messages'],
      ['/companies', 'You have no company yet'],
      ['/products', 'No products yet'],
      ['/packets?type=chat_message', 'No matching packets'],
      ['/inbox', 'Nobody has shared anything with you yet'],
    ];
    const closed = [
      `/threads/${made.thread}`,
      `/companies/${made.company}`,
      `/companies/${made.company}/members`,
      `/products/${made.product}`,
      `/products/${made.product}/history`,
      `/products/${made.product}/labels`,
      `/labels/${made.label}`,
      `/labels/${made.label}/statistics`,
      `/labels/${made.label}/print`,
    ];
    for (const [path, said] of empty) {
      await follow(page, path);
      await page.getByText(said).first().waitFor();
      expect(await page.getByRole('main').innerText(), path).not.toContain('window.hacked');
    }
    for (const path of closed) {
      await page.goto(pages.url + path);
      await page.getByRole('main').getByRole('alert').first().waitFor();
      expect(await page.getByRole('main').innerText(), path).not.toContain('window.hacked');
    }
  },
  PATIENCE_MS,
);
