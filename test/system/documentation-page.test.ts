import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Browser, openBrowser } from '../helpers/browser.ts';
import { openOperation } from '../helpers/documentation.ts';
import { type RunningService, runningService } from '../helpers/service.ts';
import { ADMIN, type RunningTrace, runningTrace } from '../helpers/trace.ts';

let service: RunningService;
let trace: RunningTrace;
let browser: Browser;
beforeAll(async () => {
  service = await runningService();
  trace = await runningTrace();
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
  await trace.stop();
  await service.stop();
});

/**
 * Opens an operation of the page and presses Execute.
 *
 * @param body instead of the one that is filled in
 * @returns the status and the answer that the page shows
 */
async function execute(page: Page, method: string, path: string, body?: object): Promise<[string, string]> {
  const block = await openOperation(page, method, path);
  if (body) await block.locator('textarea').first().fill(JSON.stringify(body));
  await block.locator('button.execute').click();
  const live = block.locator('.live-responses-table');
  const status = (await live.locator('.response-col_status').last().innerText()).trim();
  const answer = await live.locator('.response-col_description').last().innerText();
  await block.locator('.opblock-summary').first().click();
  return [status.split(/\s/)[0] as string, answer];
}

test('the most used requests of the packet service succeed as they are filled in', async () => {
  const { page } = browser;
  await page.goto(`${service.url}/docs`);
  await page.getByText('fieldtrace packet service').first().waitFor();
  const requests: [string, string, string, RegExp][] = [
    ['post', '/intake/scouting', '201', /packet_uuid/],
    ['get', '/packets/{id}', '200', /Leaf rust on the lower leaves/],
    ['get', '/packets', '200', /packets/],
    ['get', '/packets/{id}/verify', '200', /"valid": true/],
    ['post', '/intake/batch', '200', /packet_uuid/],
    ['post', '/chat/threads', '201', /thread_id/],
    ['post', '/chat/threads/{thread_id}/participants', '200', /added/],
    ['post', '/intake/chat-message', '201', /packet_uuid/],
    ['get', '/chat/threads/{thread_id}/messages', '200', /Rust on lot 7/],
    ['post', '/chat/query', '200', /Rust on lot 7/],
    ['post', '/shares', '201', /invitation_sent/],
    ['get', '/shares/inbox', '200', /shares/],
    ['put', '/directory/users/{user_id}', '200', /discoverable/],
    ['put', '/fields', '200', /registered/],
    ['get', '/sync/packets', '200', /position/],
    ['post', '/graph/materialize', '200', /./],
  ];
  for (const [method, path, status, answer] of requests) {
    const label = `${method} ${path}`;
    expect(await execute(page, method, path), label).toEqual([status, expect.stringMatching(answer)]);
  }
}, 240_000);

test('the most used requests of the trace backend succeed as they are filled in, after a login', async () => {
  const { page } = browser;
  await page.goto(`${trace.url}/`);
  await page.getByText('fieldtrace trace backend').first().waitFor();
  expect(await execute(page, 'post', '/api/user/login', ADMIN)).toEqual([
    '200',
    expect.stringContaining('OK'),
  ]);
  const requests: [string, string, RegExp][] = [
    ['post', '/api/user/register', /ana@example\.org/],
    ['get', '/api/user/profile', new RegExp(ADMIN.username)],
    ['post', '/api/company/create', /"id"/],
    ['post', '/api/product/create', /"id"/],
    ['get', '/api/company/list', /Growers of Kibogora/],
    ['get', '/api/product/list', /"count"/],
    ['get', '/api/common/countries', /Rwanda/],
  ];
  for (const [method, path, answer] of requests) {
    const label = `${method} ${path}`;
    expect(await execute(page, method, path), label).toEqual(['200', expect.stringMatching(answer)]);
  }
}, 240_000);
