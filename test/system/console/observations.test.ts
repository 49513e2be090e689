import type { Page, Route } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Browser } from '../../helpers/browser.ts';
import { type RunningConsole, runningConsole } from '../../helpers/console.ts';
import {
  chooseLanguage,
  consoleBrowser,
  DESKTOP,
  expectAccessible,
  logIn,
  logOut,
  PHONE,
  realComplaints,
} from '../../helpers/console-page.ts';
import { eventually } from '../../helpers/eventually.ts';
import type { Send } from '../../helpers/service.ts';

/** Busy machines have time. */
const SOON = { timeout: 60_000 };

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
beforeEach(async () => {
  await browser.page.context().clearCookies();
  await browser.page.setViewportSize(DESKTOP);
});

const leaf = async () => ({
  name: 'leaf.jpg',
  mimeType: 'image/jpeg',
  buffer: await sharp({ create: { width: 64, height: 48, channels: 3, background: 'green' } })
    .jpeg()
    .toBuffer(),
});

/** Fills in and sends the form of an observation. */
async function observe(page: Page, message: string): Promise<void> {
  await page.getByLabel('What do you see?').fill(message);
  await page.getByRole('button', { name: 'Use my position' }).click();
  await page.getByText('Found, within').waitFor();
  await page.getByLabel('Photos').setInputFiles(await leaf());
  await page.getByRole('img', { name: 'leaf.jpg' }).waitFor();
  await page.getByRole('button', { name: 'Send', exact: true }).click();
}

/** The packets of the service with a message. */
async function withMessage(message: string) {
  const { body } = await send('GET', '/packet/packets?limit=1000');
  return body.packets.filter(({ Body }: { Body: { message: string } }) => Body.message === message);
}

async function givePosition(page: Page): Promise<void> {
  await page.context().grantPermissions(['geolocation'], { origin: pages.url });
  await page.context().setGeolocation({ latitude: -1.95, longitude: 30.06, accuracy: 8 });
}

test('the time follows the clock until it is chosen, and an observation that says nothing is not sent', async () => {
  await logIn(browser.page, pages.url, email);
  const page = await browser.page.context().newPage();
  await page.clock.install({ time: '2026-03-01T08:15:30Z' });
  await page.goto(`${pages.url}/observations/new`);
  const time = page.getByLabel('Time');
  await time.waitFor();
  const begun = await time.inputValue();
  await page.clock.fastForward('10:00');
  await expect.poll(() => time.inputValue()).not.toBe(begun);
  await page.getByLabel('Latitude').fill('-1.95');
  await page.getByLabel('Longitude').fill('30.06');
  const sendIt = page.getByRole('button', { name: 'Send', exact: true });
  await sendIt.click();
  await page.getByText('Write what you see, or add a photo or a detail').waitFor();
  await time.fill('2026-02-28T07:00');
  await page.clock.fastForward('10:00');
  await page.getByLabel('What do you see?').fill('Chosen time');
  await sendIt.click();
  await expect.poll(() => withMessage('Chosen time')).toHaveLength(1);
  const [packet] = await withMessage('Chosen time');
  expect(packet.Header.timestamp).toMatch(/^2026-02-2[78]T/);
  // The next one is of the present moment again.
  await expect.poll(() => time.inputValue()).toMatch(/^2026-03-01T/);
  await page.close();
});

test('an observation with photo, position and further fields is sent from a phone, and is shown as it was made', async () => {
  const { page } = browser;
  await givePosition(page);
  await logIn(page, `${pages.url}/observations/new`, email);
  await page.getByRole('heading', { name: 'New observation' }).waitFor();
  await expectAccessible(page);
  await page.setViewportSize(PHONE);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  expect(await page.getByText('Please fill this in').count()).toBe(2);
  await page.getByRole('button', { name: 'Use my position' }).click();
  await expect.poll(() => page.getByText('Please fill this in').count()).toBe(0);
  const notes = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no picture') };
  await page.getByLabel('Photos').setInputFiles([notes, { ...notes, name: 'x.jpg', mimeType: 'image/jpeg' }]);
  await page.getByText('This is not a photo: notes.txt, x.jpg').waitFor();
  expect(await page.locator('form img').count()).toBe(0);
  await page.getByRole('button', { name: 'Add a detail' }).click();
  await page.getByLabel('Detail', { exact: true }).fill('mistake');
  await page.getByRole('button', { name: 'Remove detail 1' }).click();
  expect(await page.getByLabel('Detail', { exact: true }).count()).toBe(0);
  await page.getByRole('button', { name: 'Add a detail' }).click();
  await page.getByLabel('Detail', { exact: true }).fill('severity');
  await page.getByLabel('Value', { exact: true }).fill('3');
  const message = '<img src=x onerror=alert(1)> rust';
  await observe(page, message);
  const [packet] = await eventually(
    () => withMessage(message),
    found => found.length === 1,
  );
  expect(packet.Body).toMatchObject({ severity: 3, capture_point: { lat: -1.95, lon: 30.06 } });

  const status = page.getByRole('status').filter({ hasText: 'Sent:' });
  await status.waitFor();
  expect(await page.getByText('will be sent as soon as').count()).toBe(0);
  await expectAccessible(page);
  await status.getByRole('link', { name: message }).click();
  expect(new URL(page.url()).pathname).toBe(`/packets/${packet.Header.id}`);
  await page.getByText(message).first().waitFor();
  const photo = page.getByRole('img', { name: 'leaf.jpg' });
  await expect.poll(() => photo.evaluate(image => image.naturalWidth), SOON).toBe(64);
  await page.getByText('severity').first().waitFor();
  await page.getByText('-1.95; 30.06').waitFor();
  await page.getByTitle(packet.Header.geoid).first().waitFor();
  await page.getByRole('button', { name: 'Check it here' }).click();
  await page.getByText('The hash matches').waitFor();
  await page.getByText('As JSON').click();
  await page.getByText(`"hash": "${packet.Footer.hash}"`).waitFor();
  await expectAccessible(page);
  expect(realComplaints(browser)).toEqual([]);
});

test('a form that was changed asks before it is left by a link, back or a reload, and not after it was sent', async () => {
  const { page } = browser;
  await givePosition(page);
  await logIn(page, `${pages.url}/packets`, email);
  await page.getByRole('heading', { name: 'Packets' }).waitFor();
  const opened = async () => {
    await page.getByRole('link', { name: 'New observation' }).first().click();
    await page.getByRole('heading', { name: 'New observation' }).waitFor();
  };
  const message = page.getByLabel('What do you see?');
  const packets = page.getByRole('link', { name: 'Packets', exact: true }).first();
  const question = page.getByRole('dialog', { name: 'Leave without saving?' });
  const isAt = (path: string) => expect.poll(() => new URL(page.url()).pathname).toBe(path);
  await opened();
  await packets.click();
  await isAt('/packets');
  await opened();
  await message.fill('emptied again');
  await message.fill('');
  await packets.click();
  await isAt('/packets');
  await opened();
  await message.fill('half an observation');
  await packets.click();
  await question.waitFor();
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  await question.waitFor({ state: 'hidden' });
  await page.evaluate('history.back()');
  await question.getByRole('button', { name: 'Stay' }).click();
  await question.waitFor({ state: 'hidden' });
  await isAt('/observations/new');
  expect(await message.inputValue()).toBe('half an observation');
  await page.evaluate('history.back()');
  await question.getByRole('button', { name: 'Leave' }).click();
  await isAt('/packets');

  const asked: string[] = [];
  page.on('dialog', dialog => {
    asked.push(dialog.type());
    void dialog.accept();
  });
  await opened();
  await message.pressSequentially('lost');
  await page.reload();
  expect(asked).toEqual(['beforeunload']);
  expect(await message.inputValue()).toBe('');
  await observe(page, 'all of it');
  await page.getByRole('status').filter({ hasText: 'Sent:' }).waitFor();
  await page.reload();
  await packets.click();
  await isAt('/packets');
  expect(asked).toEqual(['beforeunload']);
  page.removeAllListeners('dialog');
});

/** Pastes into the field that has the focus. */
const PASTE_PAIR = `(() => {
  const clipboardData = new DataTransfer();
  clipboardData.setData('text', '-1,9441; 30,0619');
  const paste = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
  document.activeElement.dispatchEvent(paste);
})()`;

test('coordinates are typed or pasted in degrees, in the language of the page, within their bounds', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/observations/new`, email);
  await chooseLanguage(page, 'de');
  const [lat, lon] = [page.getByLabel('Breite'), page.getByLabel('Länge')];
  await lat.fill('90,5');
  await lon.fill('-180.125');
  await page.getByRole('button', { name: 'Senden', exact: true }).click();
  await page.getByText('Höchstens 90').waitFor();
  await page.getByText('Mindestens -180').waitFor();
  await expectAccessible(page);
  await lat.focus();
  await page.evaluate(PASTE_PAIR);
  await expect.poll(() => lat.inputValue()).toBe('-1,9441');
  expect(await lon.inputValue()).toBe('30,0619');
  await lon.fill('30.125');
  await page.getByRole('textbox', { name: 'Was siehst du?' }).fill('von einer Liste');
  await page.getByRole('button', { name: 'Senden', exact: true }).click();
  const [packet] = await eventually(
    () => withMessage('von einer Liste'),
    found => found.length === 1,
  );
  expect(packet.Body.capture_point).toEqual({ lat: -1.9441, lon: 30.125 });
  await chooseLanguage(page, 'en');
});

test('a packet that was changed on its way does not fit its hash', async () => {
  const body = {
    observed_at: '2026-03-01T08:15:00Z',
    capture_point: { lat: 1, lon: 2 },
    message: 'as it was',
  };
  const id = (await send('POST', '/packet/intake/scouting', body)).body.packet_uuid;
  const { page } = browser;
  await logIn(page, `${pages.url}/packets`, email);
  const address = `${pages.url}/packet/packets/${id}`;
  await page.route(address, async route => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, body: (await answer.text()).replace('as it was', 'as it is') });
  });
  await page.goto(`${pages.url}/packets/${id}`);
  await page.getByText('as it is').first().waitFor();
  await page.getByRole('button', { name: 'Check it here' }).click();
  await page.getByText('The hash does not match').waitFor();
  await page.unroute(address);
});

test('observations without a connection are kept, survive a reload, and are sent once when it is back', async () => {
  const { page } = browser;
  await givePosition(page);
  await logIn(page, `${pages.url}/observations/new`, email);
  await page.getByRole('heading', { name: 'New observation' }).waitFor();
  await page.context().setOffline(true);
  await observe(page, 'offline one');
  await page.getByText('1 observation is waiting to be sent').waitFor();
  await observe(page, 'offline two');
  await page.getByText('2 observations are waiting to be sent').waitFor();
  await expectAccessible(page);
  expect(await withMessage('offline one')).toEqual([]);
  await page.context().setOffline(false);
  await expect.poll(async () => (await withMessage('offline two')).length, SOON).toBe(1);
  await page.getByText('observations are waiting to be sent').waitFor({ state: 'detached' });
  await expect.poll(() => page.getByText('waiting to be sent').count(), SOON).toBe(0);

  // The answer is lost, not the request.
  await page.route('**/packet/intake/scouting', async route => {
    await route.fetch();
    await route.abort().catch(() => {});
  });
  await observe(page, 'answer lost');
  await page.getByText('1 observation is waiting to be sent').waitFor();
  await page.unroute('**/packet/intake/scouting');
  await page.reload();
  await expect.poll(async () => (await withMessage('answer lost'))[0]?.Body.attachments.length, SOON).toBe(1);
  await expect.poll(() => page.getByText('waiting to be sent').count(), SOON).toBe(0);
  for (const message of ['offline one', 'offline two', 'answer lost']) {
    const [packet, ...more] = await withMessage(message);
    expect(more).toEqual([]);
    const files = async () =>
      (await send('GET', `/packet/packets/${packet.Header.id}/attachments`)).body.attachments;
    const stored = expect.objectContaining({ status: 'stored', content_type: 'image/jpeg' });
    await expect.poll(files, SOON).toEqual([stored]);
  }
  await expect.poll(() => page.getByText('waiting to be sent').count(), SOON).toBe(0);
});

test('an observation that was not sent survives a logout, and is sent after the next login', async () => {
  const { page } = browser;
  await givePosition(page);
  await logIn(page, `${pages.url}/observations/new`, email);
  await page.getByRole('heading', { name: 'New observation' }).waitFor();
  await page.route('**/packet/intake/scouting', route => route.abort());
  await observe(page, 'before the logout');
  await page.getByText('1 observation is waiting to be sent').waitFor();
  const answered = page.waitForResponse(/\/api\/user\/logout/);
  await logOut(page);
  expect(await (await answered).headerValue('clear-site-data')).toBe('"cache"');
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  await logIn(page, pages.url, email);
  await page.getByText('1 observation in this browser is waiting to be sent').waitFor();
  expect(await withMessage('before the logout')).toEqual([]);
  await page.unroute('**/packet/intake/scouting');
  await page.reload();
  await expect.poll(async () => (await withMessage('before the logout')).length, SOON).toBe(1);
});

test('on a phone, unsent observations are below the bar, and the notice leaves the buttons free', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/observations/new`, email);
  await page.getByRole('heading', { name: 'New observation' }).waitFor();
  await page.setViewportSize(PHONE);
  await page.getByLabel('What do you see?').fill('kept on a phone');
  await page.getByLabel('Latitude').fill('1');
  await page.getByLabel('Longitude').fill('2');
  await page.context().setOffline(true);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  const waiting = page.getByText('1 observation is waiting to be sent');
  const notice = page.locator('.toast');
  await notice.waitFor();
  const [bar, said, told] = await Promise.all([
    page.getByRole('banner').boundingBox(),
    waiting.boundingBox(),
    notice.boundingBox(),
  ]);
  const bottomOf = (box: typeof bar) => (box?.y ?? 0) + (box?.height ?? 0);
  expect(said?.y).toBeGreaterThanOrEqual(bottomOf(bar));
  expect(said?.y).toBeGreaterThanOrEqual(bottomOf(told));
  expect(told?.y).toBeGreaterThanOrEqual(bottomOf(bar));
  await page.context().setOffline(false);
  await expect.poll(async () => (await withMessage('kept on a phone')).length, SOON).toBe(1);
});

test('without locks in the browser, an observation that two tabs send is stored once, and shown once in each', async () => {
  const { page } = browser;
  const context = page.context();
  await logIn(page, `${pages.url}/observations/new`, email);
  const tabs = [await context.newPage(), await context.newPage()] as const;
  const released = Promise.withResolvers<void>();
  for (const tab of tabs) {
    // As on http, except on localhost.
    await tab.addInitScript("Object.defineProperty(navigator, 'locks', { value: undefined })");
  }
  const [first, second] = tabs;
  await first.goto(`${pages.url}/observations/new`);
  const holding = { times: 1 };
  const hold = (route: Route) => released.promise.then(() => route.continue());
  await first.route('**/packet/intake/scouting', hold, holding);
  const write = async (message: string) => {
    await first.getByLabel('What do you see?').fill(message);
    await first.getByLabel('Latitude').fill('-1.95');
    await first.getByLabel('Longitude').fill('30.06');
    await first.getByRole('button', { name: 'Send', exact: true }).click();
  };
  await write('sent by two');
  await first.getByText('1 observation is waiting to be sent').waitFor();
  await second.goto(`${pages.url}/observations/new`);
  const link = (tab: Page, name: string) => tab.getByRole('link', { name });
  await link(second, 'sent by two').waitFor();
  await link(first, 'sent by two').waitFor();
  released.resolve();
  await first.getByText('waiting to be sent').waitFor({ state: 'detached' });
  await write('sent after it');
  for (const tab of tabs) {
    await link(tab, 'sent after it').waitFor();
    expect(await link(tab, 'sent by two').count()).toBe(1);
    await tab.close();
  }
  expect(await withMessage('sent by two')).toHaveLength(1);
});

test('without a connection, the form shows the last known readers of an observation, or that they are unknown', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/observations/new`, email);
  await page.getByText('Everyone with an account here will be able to read it').waitFor();
  const foreign = { contentType: 'text/html', body: '<title>Log in to this network</title>' };
  await page.route('**/instance.json', route => route.fulfill(foreign));
  await page.reload();
  await page.getByText('Everyone with an account here will be able to read it').waitFor();
  await page.evaluate("localStorage.removeItem('installation')");
  await page.reload();
  await page.getByText('You need a connection to see who will be able to read it').waitFor();
  await page.unroute('**/instance.json');
});

test('refused observations are kept with the reason, and can be discarded', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/observations/new`, email);
  await page.getByLabel('What do you see?').fill('from a wrong clock');
  await page.getByLabel('Latitude').fill('1');
  await page.getByLabel('Longitude').fill('2');
  await page.route('**/packet/intake/scouting', route =>
    route.fulfill({ status: 400, json: { error: 'observed_at is in the future' } }),
  );
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByText('Refused: observed_at is in the future').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Discard' }).click();
  await page.getByText('Refused:').waitFor({ state: 'detached' });
  await page.unroute('**/packet/intake/scouting');
  expect(await withMessage('from a wrong clock')).toEqual([]);
});

test('additional fields become columns of the list and of its CSV file; the filters are those of the service', async () => {
  const base = { observed_at: '2026-02-01T08:15:00Z', capture_point: { lat: 10, lon: 20 } };
  for (const [crop, hour] of [
    ['bean', 8],
    ['maize', 9],
  ] as const) {
    const body = { ...base, observed_at: `2026-02-01T0${hour}:15:00Z`, message: `of ${crop}`, crop };
    expect((await send('POST', '/packet/intake/scouting', body)).status).toBe(201);
  }
  const { page } = browser;
  await logIn(page, `${pages.url}/packets?near=10,20,1000`, email);
  const rows = page.getByRole('table').locator('tbody tr');
  await expect.poll(() => rows.count(), SOON).toBe(2);
  expect(await rows.first().innerText()).toContain('of maize');
  await page.getByText('Columns').click();
  await page.getByLabel('crop').check();
  await page.getByRole('columnheader', { name: 'crop' }).waitFor();
  expect(new URL(page.url()).searchParams.get('columns')).toBe('crop');
  await page.getByLabel('Order').selectOption('asc');
  await expect.poll(() => rows.first().innerText(), SOON).toContain('of bean');
  await expectAccessible(page);
  const address = await page.getByRole('link', { name: 'Download CSV' }).getAttribute('href');
  const csv = (await send('GET', address as string)).text.trim().split(/\r?\n/);
  expect(csv).toHaveLength(3);
  expect(csv[0]).toMatch(/,crop$/);
  await rows.first().getByRole('link').click();
  await page.getByRole('link', { name: 'Open packet' }).click();
  await page.getByRole('heading', { name: 'Observation', exact: true, level: 1 }).waitFor();
  // The other packet is at the same place.
  await page.getByText('Also from this field:').waitFor();
  await page.goBack();
  await page.goBack();
  await expect.poll(() => rows.count(), SOON).toBe(2);
});
