import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Browser, openBrowser } from '../helpers/browser.ts';
import { openOperation } from '../helpers/documentation.ts';
import { ADMIN, type RunningTrace, runningTrace } from '../helpers/trace.ts';

let trace: RunningTrace;
let browser: Browser;
let folder: string;
beforeAll(async () => {
  trace = await runningTrace();
  browser = await openBrowser();
  // Kept where FIELDTRACE_SCREENSHOTS says, for people to look at.
  folder = process.env.FIELDTRACE_SCREENSHOTS ?? (await mkdtemp(path.join(tmpdir(), 'fieldtrace-page-')));
});
afterAll(async () => {
  await browser.close();
  await trace.stop();
  if (!process.env.FIELDTRACE_SCREENSHOTS) await rm(folder, { recursive: true, force: true });
});

/** Opens an operation of the page, sends it, and gives the status that the page shows. */
async function call(page: Page, operation: string, body?: object): Promise<string> {
  const block = await openOperation(page, 'post', operation);
  if (body) await block.locator('textarea').first().fill(JSON.stringify(body));
  await block.locator('button.execute').click();
  return (await block.locator('.live-responses-table .response-col_status').last().innerText()).trim();
}

test('the page at the root logs in by "Try it out" and calls an operation that needs a login, and loads nothing from other hosts', async () => {
  const { page, complaints, asked } = browser;
  await page.goto(`${trace.url}/`);
  await page.getByText('fieldtrace trace backend').first().waitFor();
  expect(await call(page, '/api/user/login', ADMIN)).toMatch(/^200/);
  const profile = await openOperation(page, 'get', '/api/user/profile');
  await profile.locator('button.execute').click();
  const answer = profile.locator('.live-responses-table');
  expect((await answer.locator('.response-col_status').last().innerText()).trim()).toMatch(/^200/);
  expect(await answer.innerText()).toContain(ADMIN.username);
  await answer.scrollIntoViewIfNeeded();
  await page.screenshot({ path: path.join(folder, 'trace-page.png') });

  expect(complaints).toEqual([]);
  for (const url of asked) expect(url, url).toMatch(new RegExp(`^(data:|${trace.url}/)`));
}, 240_000);

test('the page behind a mailed link confirms only when its button is pressed', async () => {
  const { page } = browser;
  await page.goto(`${trace.url}/api/user/confirm_email/${'x'.repeat(43)}`);
  await page.getByLabel('Password of the account').fill('a password');
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.getByText('token is unknown, used or older').waitFor();
  await page.screenshot({ path: path.join(folder, 'confirm.png') });
});
