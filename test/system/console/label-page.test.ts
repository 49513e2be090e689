import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Browser, openBrowser } from '../../helpers/browser.ts';
import { type RunningConsole, runningConsole } from '../../helpers/console.ts';
import {
  consoleBrowser,
  DESKTOP,
  expectAccessible,
  isFocused,
  logIn,
  PHONE,
  realComplaints,
} from '../../helpers/console-page.ts';
import { labelFields } from '../../helpers/product-forms.ts';

const XSS = `"'><img src=x onerror="window.hacked=1"><svg/onload=window.hacked=2></textarea>`;

let pages: RunningConsole;
let visitor: Browser;
let producer: Browser;
let checker: Browser;
let folder: string;
beforeAll(async () => {
  pages = await runningConsole();
  visitor = await openBrowser(PHONE, { javaScript: false });
  producer = await consoleBrowser(pages);
  checker = await openBrowser();
  // Kept where FIELDTRACE_SCREENSHOTS says, for people to look at.
  folder = process.env.FIELDTRACE_SCREENSHOTS ?? (await mkdtemp(path.join(tmpdir(), 'fieldtrace-label-')));
});
afterAll(async () => {
  await checker.close();
  await producer.close();
  await visitor.close();
  await pages.stop();
  if (!process.env.FIELDTRACE_SCREENSHOTS) await rm(folder, { recursive: true, force: true });
});

/** A published label, of a user of its own, with batches to check and to trace. */
async function published(settings: object) {
  const owner = await pages.newUser();
  const { send } = await pages.login(owner.email);
  const done = async (method: string, address: string, body: object) => {
    const answer = await send(method, `/trace/api/${address}`, body);
    expect(answer.status, answer.text).toBe(200);
    return answer.body.data;
  };
  await done('POST', 'company/create', { name: 'Station' });
  const product = {
    name: 'Washed Bourbon',
    description: 'From the hills',
    businessToCustomerSettings: settings,
  };
  const { id: productId } = await done('POST', 'product/create', product);
  const sent = { productId, title: 'Spring', language: 'EN', fields: labelFields(['name', 'description']) };
  const { id, uuid } = await done('POST', 'product/label/create', sent);
  await done('POST', 'product/label/execute/PUBLISH_LABEL', { id });
  const locations = [{ latitude: -1.95, longitude: 30.06, pinName: XSS }];
  const dates = { productionDate: '2026-03-01', expiryDate: '2026-04-01' };
  const batch = {
    labelId: id,
    number: 'A-1',
    ...dates,
    locations,
    checkAuthenticity: true,
    traceOrigin: true,
  };
  await done('POST', 'product/label_batch/create', batch);
  return { owner, id, uuid };
}

const answer = () => visitor.page.locator('#answer');
const field = (name: string) => visitor.page.getByLabel(name);
const press = (name: string) => visitor.page.getByRole('button', { name }).click();
/** Looks at the page that the visitor sees, in a browser that runs axe-core: their own runs no scripts. */
async function look(name: string): Promise<void> {
  await checker.page.setContent(await visitor.page.content());
  await expectAccessible(checker.page);
  await visitor.page.setViewportSize(DESKTOP);
  await visitor.page.screenshot({ path: path.join(folder, `${name}-desktop.png`), fullPage: true });
  await visitor.page.setViewportSize(PHONE);
  await visitor.page.screenshot({ path: path.join(folder, `${name}-phone.png`), fullPage: true });
}

test('without JavaScript, a package is checked and feedback is sent; the console shows both', async () => {
  const { owner, id, uuid } = await published({ primaryColor: '#ffd000', tabFeedback: true });
  const { page } = visitor;
  await page.goto(`${pages.traceUrl}/api/public/product/label/${uuid}`);
  await look('label');
  await field('Number of the batch').fill('A-1');
  await field('Produced on').fill('2026-03-01');
  await press('Is it authentic?');
  await answer().getByText('Not confirmed').waitFor();
  await look('label-unconfirmed');
  expect(await field('Number of the batch').inputValue()).toBe('A-1');
  await field('Expires on').fill('2026-04-01');
  await press('Is it authentic?');
  await answer().getByText('Confirmed').waitFor();
  await answer().getByText('Its expiry date has passed.').waitFor();
  expect(await isFocused(answer())).toBe(true);
  await look('label-checked');
  await press('Where is it from?');
  await answer().getByRole('listitem').getByText(XSS).waitFor();
  expect(await answer().getByRole('img', { name: 'Map of the origin' }).count()).toBe(1);
  await look('label-origin');

  await field('Kind').selectOption({ label: 'Complaint' });
  await field('Message').fill(`${XSS}\nBitter`);
  await field('E-mail address, if').fill('joy@example.org');
  await press('Send');
  await page.getByRole('alert').getByText('Agree to this').waitFor();
  expect(await isFocused(answer())).toBe(true);
  expect(await field('Message').inputValue()).toBe(`${XSS}\nBitter`);
  expect(await field('E-mail address, if').inputValue()).toBe('joy@example.org');
  await look('label-wrong');
  await field('The producer may store').check();
  await press('Send');
  await answer().getByText('Thank you').waitFor();
  expect(page.url()).toBe(`${pages.traceUrl}/api/public/product/label/${uuid}?feedback=sent#answer`);
  await look('label-thanks');
  await page.goto(`${pages.url}/trace/api/public/product/label/${uuid}`);
  await field('Message').fill('Again');
  await press('Send');
  await answer().getByText('Thank you').waitFor();
  expect(await page.locator('img, script, [onerror], [onload]').count()).toBe(0);
  expect(realComplaints(visitor)).toEqual([]);

  await logIn(producer.page, `${pages.url}/labels/${id}/statistics`, owner.email);
  await producer.page.locator('dl').waitFor();
  expect(await producer.page.locator('dd').allInnerTexts()).toEqual(['1', '1', '1', '1', '0', '2']);
  await producer.page.goto(`${pages.url}/labels/${id}`);
  await producer.page.getByRole('link', { name: 'Feedback' }).click();
  await producer.page.getByText('Bitter').waitFor();
  await producer.page.getByText('joy@example.org').waitFor();
  expect(await producer.page.evaluate('window.hacked')).toBeUndefined();
});

test('the form for feedback appears when it is ticked in the console', async () => {
  const { owner, id, uuid } = await published({});
  const address = `${pages.traceUrl}/api/public/product/label/${uuid}`;
  await visitor.page.goto(address);
  expect(await visitor.page.getByRole('button', { name: 'Send' }).count()).toBe(0);
  await producer.page.context().clearCookies();
  await logIn(producer.page, `${pages.url}/labels/${id}/consumer-page`, owner.email);
  await producer.page.locator('[name="businessToCustomerSettings.tabFeedback"]').check();
  await expectAccessible(producer.page);
  await producer.page.getByRole('button', { name: 'Save' }).first().click();
  await producer.page.getByText('The label is saved').waitFor();
  await visitor.page.goto(address);
  expect(await visitor.page.getByRole('button', { name: 'Send' }).count()).toBe(1);
  expect(realComplaints(producer)).toEqual([]);
});
