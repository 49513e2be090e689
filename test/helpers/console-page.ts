import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { type Browser, openBrowser } from './browser.ts';
import type { RunningConsole } from './console.ts';
import { PASSWORD } from './trace.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The sizes at which every screen is looked at, in CSS pixels. */
export const DESKTOP = { width: 1280, height: 800 };
export const PHONE = { width: 390, height: 844 };

/**
 * A browser that complains of every request for something else than the console.
 *
 * @param options offline: whether the console is stored for use without a connection; javaScript: whether pages run
 * scripts
 */
export async function consoleBrowser(
  of: Pick<RunningConsole, 'url'>,
  options: { offline?: boolean; javaScript?: boolean } = {},
): Promise<Browser> {
  const browser = await openBrowser(DESKTOP, options);
  browser.page.context().on('request', request => {
    const url = request.url();
    if (!url.startsWith(`${of.url}/`) && !/^(data|blob):/.test(url))
      browser.complaints.push(`${url} is not of the console`);
  });
  return browser;
}

/** Opens an address of the console as a user, who gets the session's cookies without the form. */
export async function logIn(page: Page, url: string, email: string, password = PASSWORD): Promise<void> {
  const { origin } = new URL(url);
  // The open page would notice the new cookies and load itself again. An address of the same origin keeps its process,
  // and with it the compiled scripts.
  await page.goto(`${origin}/health/live`);
  const data = { username: email, password };
  const answer = await page.request.post(`${origin}/trace/api/user/login`, { data, headers: { origin } });
  if (!answer.ok()) throw new Error(await answer.text());
  await page.goto(url);
  await page.getByRole('navigation').first().waitFor({ state: 'attached' });
}

/** Opens an address of the console and logs in with the form that is shown there. */
export async function logInByForm(
  page: Page,
  url: string,
  email: string,
  password = PASSWORD,
): Promise<void> {
  await page.goto(url);
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('navigation').first().waitFor({ state: 'attached' });
}

/** Opens the menu of the user who is logged in. */
export async function openOwnMenu(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Your menu' }).click();
}

/** Chooses a language in the menu of the user, whatever the language is now. */
export async function chooseLanguage(page: Page, language: string): Promise<void> {
  const menu = page.locator('#navigation [popover]');
  if (!(await menu.isVisible())) await page.locator('#navigation button[popovertarget]').click();
  await menu.locator('select').first().selectOption(language);
}

/** Logs out with the menu of the user. */
export async function logOut(page: Page): Promise<void> {
  await openOwnMenu(page);
  await page.getByRole('button', { name: 'Log out', exact: true }).click();
}

interface Finding {
  id: string;
  impact: string | null;
  nodes: { html: string; failureSummary?: string }[];
}

/** The serious and critical findings of axe-core on the page. */
export async function seriousFindings(page: Page): Promise<string[]> {
  if (!(await page.evaluate("typeof axe === 'object'"))) await page.evaluate(AXE);
  // Contrast in the middle of a transition is no finding, whenever the transition begins.
  await page.emulateMedia({ reducedMotion: 'reduce' });
  const violations = (await page.evaluate(
    "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)",
  )) as Finding[];
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary ?? ''}`),
    );
}

/** Looks at the page at both sizes: no serious finding, and nothing wider than the window. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const size of [PHONE, DESKTOP]) {
    await page.setViewportSize(size);
    expect(await seriousFindings(page), `${size.width} wide`).toEqual([]);
    const width = await page.evaluate('document.documentElement.scrollWidth');
    expect(width, 'the page is wider than the window').toBeLessThanOrEqual(size.width);
  }
}

/** Harmless messages: of answers such as 401, which reveal an ended session, of slow drawing, and of a slow start. */
const EXPECTED =
  /status of (401|400|403|404|409|412)|failed$|GL Driver Message|preloaded using link preload but not used/;

/** The browser messages that reveal a mistake. */
export function realComplaints({ complaints }: Browser): string[] {
  return complaints.filter(text => !EXPECTED.test(text));
}

/** Whether an element has the focus. */
export function isFocused(element: Locator): Promise<boolean> {
  return element.evaluate(node => node.ownerDocument.activeElement === node);
}
