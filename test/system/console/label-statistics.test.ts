import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser } from '../../helpers/browser.ts';
import { type RunningConsole, runningConsole } from '../../helpers/console.ts';
import { consoleBrowser, expectAccessible, logIn, realComplaints } from '../../helpers/console-page.ts';

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

test('a label shows how often it was visited and checked, and what consumers wrote; a stranger sees none of it', async () => {
  const { page } = browser;
  const owner = await pages.newUser();
  const { send } = await pages.login(owner.email);
  const create = async (path: string, body: object) => {
    const answer = await send('POST', `/trace/api/${path}`, body);
    expect(answer.status, answer.text).toBe(200);
    return answer.body.data;
  };
  await create('company/create', { name: 'Station' });
  const { id: productId } = await create('product/create', { name: 'Washed Bourbon' });
  const { id } = await create('product/label/create', { productId, title: 'Spring' });
  const { uuid } = (await send('GET', `/trace/api/product/label/${id}`)).body.data;
  await create('product/label/execute/PUBLISH_LABEL', { id });
  await create('product/label_batch/create', { labelId: id, number: 'A', checkAuthenticity: true });

  await logIn(page, `${pages.url}/labels/${id}`, owner.email);
  await page.getByRole('link', { name: 'Statistics' }).click();
  const numbers = async () => {
    await page.locator('dl').waitFor();
    return page.locator('dd').allInnerTexts();
  };
  expect(await numbers()).toEqual(['0', '0', '0', '0', '0', '0']);

  const label = `/trace/api/public/product/label/${uuid}`;
  for (const path of [
    label,
    `${label}/verify_batch_authenticity?number=A`,
    `${label}/verify_batch_authenticity?number=X`,
    `${label}/verify_batch_origin?number=A`,
  ]) {
    expect((await pages.send('GET', path)).status, path).toBe(200);
  }
  for (const feedback of ['Very good', 'More of it']) {
    await create(`public/product/label/feedback/${uuid}`, {
      type: 'PRAISE',
      feedback,
      privacyPolicyConsent: true,
    });
  }
  await page.reload();
  expect(await numbers()).toEqual(['1', '1', '1', '0', '1', '2']);
  await expectAccessible(page);
  expect(realComplaints(browser)).toEqual([]);

  await page.context().clearCookies();
  const stranger = await pages.newUser();
  await logIn(page, `${pages.url}/labels/${id}/statistics`, stranger.email);
  await page.getByText('there is no such label').waitFor();
  expect(await page.locator('dd').count()).toBe(0);
});
