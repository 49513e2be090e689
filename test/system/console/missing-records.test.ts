import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser } from '../../helpers/browser.ts';
import { type RunningConsole, runningConsole } from '../../helpers/console.ts';
import { consoleBrowser, expectAccessible, logIn } from '../../helpers/console-page.ts';

let pages: RunningConsole;
let browser: Browser;
beforeAll(async () => {
  pages = await runningConsole();
  browser = await consoleBrowser(pages);
});
afterAll(async () => {
  await browser.close();
  await pages.stop();
});

test('a record of others, or one that there is not, is said to be missing, with the way to the list', async () => {
  const { page } = browser;
  const [ana, ben] = [await pages.newUser(), await pages.newUser()];
  const { send } = await pages.login(ana.email);
  const company = (await send('POST', '/trace/api/company/create', { name: 'Kopanyi' })).body.data.id;
  const thread = (await send('POST', '/packet/chat/threads', { name: 'Lot 7' })).body.thread_id;
  await logIn(page, pages.url, ben.email);
  await page.getByRole('heading', { name: 'What needs you' }).waitFor();
  for (const [path, sentence, list] of [
    [`/companies/${company}`, 'There is no such company, or you may not see it.', 'Companies'],
    ['/companies/999999', 'There is no such company, or you may not see it.', 'Companies'],
    [`/companies/${company}/members`, 'There is no such company, or you may not see it.', 'Companies'],
    [`/threads/${thread}`, 'There is no such thread, or you may not see it.', 'Threads'],
    ['/products/999999', 'There is no such product, or you may not see it.', 'Products'],
    ['/labels/999999', 'There is no such label, or you may not see it.', 'Products'],
    ['/packets/01JD7QZ0000000000000000000', 'There is no such packet, or you may not see it.', 'Packets'],
  ] as const) {
    await page.goto(`${pages.url}${path}`);
    await page.getByRole('alert').getByText(sentence).waitFor();
    expect(await page.getByRole('button', { name: 'Try again' }).count(), path).toBe(0);
    await page.getByRole('main').getByRole('link', { name: list, exact: true }).click();
    await page.getByRole('heading', { name: list, exact: true }).waitFor();
  }
  await page.goto(`${pages.url}/companies/999999`);
  await page.getByRole('alert').waitFor();
  await expectAccessible(page);
});
