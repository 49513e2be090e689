import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Locator } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { vectorTile } from '../../../src/packet-service/reading/tiles/vector-tile.ts';
import { type Browser, openBrowser } from '../../helpers/browser.ts';
import { type RunningConsole, runningConsole } from '../../helpers/console.ts';
import {
  consoleBrowser,
  DESKTOP,
  expectAccessible,
  logIn,
  PHONE,
  realComplaints,
} from '../../helpers/console-page.ts';
import { eventually } from '../../helpers/eventually.ts';
import type { Send } from '../../helpers/service.ts';
import { sumOf, tileAt } from '../../helpers/tiles.ts';

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

let observed = 0;
async function observe(lat: number, lon: number, message: string, more: object = {}): Promise<string> {
  const sent = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat, lon }, message, ...more };
  const { status, text, body } = await send('POST', '/packet/intake/scouting', sent);
  expect(status, text).toBe(201);
  observed++;
  return body.packet_uuid;
}

/** Waits until the tiles count every observation. */
const counted = () =>
  eventually(
    async () => sumOf(await tileAt({ url: pages.packetUrl }, 'observations', [0, 0, 0])) === observed,
  );

const canvas = () => browser.page.locator('canvas.maplibregl-canvas');
/** Waits until the map shows its tiles. */
const drawn = () => canvas().waitFor();

async function sizeOf(element: Locator) {
  const box = await element.boundingBox();
  if (!box) throw new Error('the element has no size');
  return box;
}

/** The observations of the list beside the map. */
const listed = () =>
  browser.page.getByRole('list', { name: 'Observations in this part of the map' }).getByRole('listitem');

/** Clicks on the middle of the map until something is there. */
async function pickMiddle(): Promise<void> {
  const { page } = browser;
  await eventually(async () => {
    await canvas().click();
    return page.getByRole('region', { name: 'Selection' }).isVisible();
  });
}

test('an empty map says what to do next, and loads nothing of another host', async () => {
  const { page, asked } = browser;
  await logIn(page, `${pages.url}/map`, email);
  await drawn();
  await page.getByText('No observations yet').waitFor();
  expect(await page.getByRole('button', { name: 'Remove filters' }).count()).toBe(0);
  await expectAccessible(page);
  expect(realComplaints(browser)).toEqual([]);
  for (const url of asked) expect(url).toMatch(new RegExp(`^(data:|blob:|${pages.url}/)`));
});

test('observations are requested once, before the map is loaded, and fields only if there are some', async () => {
  const { page, asked } = browser;
  await logIn(page, `${pages.url}/account`, email);
  asked.length = 0;
  await page.goto(`${pages.url}/map?at=6/10/20`);
  await drawn();
  await page.getByText('No observations yet').waitFor();
  const requests = asked.map(url => new URL(url).pathname);
  const tiles = requests.filter(name => name.startsWith('/packet/tiles/observations/6/'));
  expect(tiles.length).toBeGreaterThan(2);
  expect(new Set(tiles).size).toBe(tiles.length);
  const library = requests.findIndex(name => name.includes('/observation-map') && name.endsWith('.js'));
  expect(requests.indexOf(tiles[0] as string)).toBeLessThan(library);
  expect(requests.filter(name => name.startsWith('/packet/tiles/fields/'))).toEqual([
    '/packet/tiles/fields/0/0/0.mvt',
  ]);
});

test('a click on an observation shows it, and leads to its packet; the list has what the map shows', async () => {
  const { page } = browser;
  const id = await observe(-1.95, 30.06, '<b>Leaf rust</b>', { crop: 'Maize' });
  await observe(40, -100, 'Elsewhere', { crop: 'Beans' });
  await counted();
  await logIn(page, `${pages.url}/map?at=16/-1.95/30.06`, email);
  await drawn();
  const rows = listed();
  await eventually(
    () => rows.count(),
    count => count === 1,
  );
  expect(await rows.first().innerText()).toContain('<b>Leaf rust</b>');
  await pickMiddle();
  const details = page.getByRole('region', { name: 'Selection' });
  await details.getByText('<b>Leaf rust</b>').waitFor();
  expect(await details.getByRole('link', { name: 'Open the packet' }).getAttribute('href')).toContain(id);
  await expectAccessible(page);

  await details.getByRole('heading', { name: 'Observation' }).and(page.locator(':focus')).waitFor();
  await expect.poll(async () => (await sizeOf(details)).y).toBeLessThan(DESKTOP.height - 50);

  await page.getByRole('button', { name: 'More filters' }).click();
  await page.getByLabel('Text in this detail').fill('leaf');
  await page.getByLabel('Text in this detail').press('Enter');
  await details.waitFor({ state: 'detached' });
  await eventually(
    () => rows.count(),
    count => count === 1,
  );
  await page.getByLabel('Text in this detail').fill('beans');
  await page.getByLabel('Text in this detail').press('Enter');
  await page.getByText('No observations match').waitFor();
  await page.goBack();
  await page.goBack();
  await page.getByLabel('Detail of an observation').fill('crop');
  await page.getByLabel('Detail of an observation').press('Enter');
  await page.getByLabel('Text in this detail').fill('beans');
  await page.getByLabel('Text in this detail').press('Enter');
  await page.getByText('No observations match').waitFor();
  expect(new URL(page.url()).searchParams.get('field')).toBe('crop');
  await page.goBack();
  await eventually(
    () => rows.count(),
    count => count === 1,
  );
  expect(realComplaints(browser)).toEqual([]);
});

test('without a place in the address the map opens where the observations are', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/map?field=crop&text=maize`, email);
  await drawn();
  await eventually(() => (new URL(page.url()).searchParams.get('at') ?? '').startsWith('11/'));
  await page.getByText(/^Middle of the map: -1\.9\d*°, 30\.\d*°, Rwanda$/).waitFor();
});

test('a map of several observations close together opens at the same close view each time, with all of them', async () => {
  const { page } = browser;
  const [lat, lon] = [-2.60286, 29.73999];
  for (const [north, east] of [
    [-0.0015, -0.0015],
    [0.0015, -0.0014],
    [0.0014, 0.0015],
    [0, 0],
  ] as const)
    await observe(lat + north, lon + east, 'Close together', { crop: 'Sorghum' });
  await counted();
  await logIn(page, `${pages.url}/account`, email);
  const found = new Set<string | null>();
  for (let time = 0; time < 3; time++) {
    await page.goto(`${pages.url}/map?field=crop&text=sorghum`);
    await eventually(() => new URL(page.url()).searchParams.has('at'));
    found.add(new URL(page.url()).searchParams.get('at'));
  }
  expect([...found].join()).toMatch(/^15\/-2\.6029?\d*\/29\.7[34]\d*$/);
  const rows = listed();
  await eventually(
    () => rows.count(),
    count => count === 4,
  );
});

test('the link in the navigation opens the map again: without filters, where the observations are', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/map?at=9/70/-150&type=weather`, email);
  await drawn();
  await page.getByText('matches the filters').waitFor();
  await page.getByRole('navigation').getByRole('link', { name: 'Map', exact: true }).click();
  const query = () => new URL(page.url()).searchParams;
  await eventually(() => !query().has('type') && /^[1-3]\b/.test(query().get('at') ?? ''));
  expect(await page.getByLabel('Type').inputValue()).toBe('');
  const rows = listed();
  await eventually(
    () => rows.count(),
    count => count === observed,
  );
  // What is left before is one step back.
  await page.goBack();
  await eventually(() => query().get('type') === 'weather' && query().get('at') === '9/70/-150');
});

test('a map without observations says so, and shows where there are some', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/map?at=9/70/-150`, email);
  await drawn();
  await page.getByText('Nothing observed in this part of the map').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Zoom out to the observations' }).click();
  await listed().getByText('Elsewhere').waitFor();
  await page.getByText('Nothing observed').waitFor({ state: 'detached' });
});

test('a map whose tiles are slow says that it is loading', async () => {
  const { page } = browser;
  let answer = () => {};
  const slow = new Promise<void>(resolve => (answer = resolve));
  await page.route('**/packet/tiles/observations/**', async route => {
    await slow;
    await route.continue();
  });
  await logIn(page, `${pages.url}/map?at=5/0/30`, email);
  const loading = page.getByRole('status').filter({ hasText: 'Loading the map' });
  await drawn();
  await loading.waitFor();
  answer();
  await loading.waitFor({ state: 'detached' });
  await page.unroute('**/packet/tiles/observations/**');
});

test('fields have another shape than observations, and a legend says which', async () => {
  const { page } = browser;
  const ring = [
    [20, 60],
    [20.001, 60],
    [20.001, 60.001],
    [20, 60],
  ];
  const field = { type: 'Feature', properties: {}, geometry: { type: 'Polygon', coordinates: [ring] } };
  const { status, text } = await send('PUT', '/packet/fields', {
    type: 'FeatureCollection',
    features: [field],
  });
  expect(status, text).toBe(200);
  await eventually(async () => sumOf(await tileAt({ url: pages.packetUrl }, 'fields', [0, 0, 0])) === 1);
  await logIn(page, `${pages.url}/map?at=3/60/20`, email);
  await drawn();
  const legend = page.getByRole('list', { name: 'Legend' });
  expect(await legend.getByRole('listitem').allInnerTexts()).toEqual([
    'Observations',
    'Fields',
    expect.stringMatching(/Place names$/),
    'Borders',
    expect.stringMatching(/Several close together$/),
  ]);
  // Only its square can be clicked at this zoom.
  await pickMiddle();
  const card = page.getByRole('region', { name: 'Selection' });
  await card.getByRole('heading', { name: 'Field' }).waitFor();
  // An earlier observation does not have the field's name.
  const which = 'Observations belong to the fields that were registered when they were made';
  await card.getByRole('button', { name: 'Observations of this field' }).click();
  await page.getByText('No observations match').waitFor();
  await page.getByText(which).waitFor();
  await page.goto(`${pages.url}/map?at=3/60/20&geoid=${'0'.repeat(64)}`);
  await page.getByText('No observations match').waitFor();
  expect(await page.getByText(which).count()).toBe(0);
});

/** How many pixels of the map have the colour of a sign. */
async function pixelsOf(colour: string): Promise<number> {
  const { page } = browser;
  const wanted = (await page.evaluate(`(() => {
    const probe = document.createElement('span');
    probe.style.color = 'var(--map-${colour})';
    document.body.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color.match(/\\d+/g).slice(0, 3).map(Number);
  })()`)) as number[];
  const taken = await canvas().screenshot({ type: 'png' });
  const { data, info } = await sharp(taken).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  let count = 0;
  for (let at = 0; at < data.length; at += info.channels)
    if (wanted.every((value, channel) => Math.abs((data[at + channel] as number) - value) < 8)) count++;
  return count;
}

test('layers are switched off and on in the legend, and the address keeps which', async () => {
  const { page } = browser;
  await observe(61, -40, 'Below the ice');
  await counted();
  await logIn(page, `${pages.url}/map?at=14/61/-40`, email);
  await drawn();
  const layer = (name: string) => page.getByRole('list', { name: 'Legend' }).getByLabel(name);
  // The legend, which has the same colour, floats on the map.
  const hideLegend = () => page.evaluate("document.querySelector('.panel').style.visibility = 'hidden'");
  await hideLegend();
  await eventually(
    () => pixelsOf('point'),
    count => count > 30,
  );
  await page.reload();
  await layer('Observations').uncheck();
  await layer('Place names').uncheck();
  expect(new URL(page.url()).searchParams.get('off')).toBe('names,observations');
  await page.reload();
  await drawn();
  expect(await layer('Observations').isChecked()).toBe(false);
  expect(await layer('Borders').isChecked()).toBe(true);
  await expectAccessible(page);
  await hideLegend();
  await eventually(
    () => pixelsOf('point'),
    count => count === 0,
  );
});

test('days limit the map and its list, and move to the days before', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/map?at=16/-1.95/30.06`, email);
  await drawn();
  await listed().getByText('Leaf rust').waitFor();
  const times = page.getByRole('group', { name: 'Time' });
  await times.getByRole('button', { name: 'Today' }).click();
  await page.getByText('No observations match').waitFor();
  expect(await times.getByRole('button', { name: 'Today' }).getAttribute('aria-pressed')).toBe('true');
  expect(new URL(page.url()).searchParams.get('from')).toMatch(/^\d{4}-\d\d-\d\d$/);
  expect(await times.getByRole('button', { name: 'Later' }).isDisabled()).toBe(true);
  await expectAccessible(page);
  // Right before the day after the observation is its own day.
  await page.goto(`${pages.url}/map?at=16/-1.95/30.06&from=2026-03-02&to=2026-03-02`);
  await page.getByText('No observations match').waitFor();
  await times.getByRole('button', { name: 'Earlier' }).click();
  await listed().getByText('Leaf rust').waitFor();
  expect(new URL(page.url()).search).toContain('from=2026-03-01&to=2026-03-01');
  await times.getByRole('button', { name: 'Any time' }).click();
  await expect.poll(() => new URL(page.url()).searchParams.has('from')).toBe(false);
});

test('the card of a field has its name, area, GeoID and the number of its observations', async () => {
  const { page } = browser;
  const ring = [
    [12, 47],
    [12.001, 47],
    [12.001, 47.001],
    [12, 47.001],
    [12, 47],
  ];
  const field = {
    type: 'Feature',
    properties: { name: 'Upper <b>terrace</b>' },
    geometry: { type: 'Polygon', coordinates: [ring] },
  };
  const { body } = await send('PUT', '/packet/fields', field);
  const { geoid } = body.fields[0];
  await observe(47.0009, 12.0009, 'First on the terrace');
  await observe(47.0001, 12.0001, 'Second on the terrace');
  await counted();
  await logIn(page, `${pages.url}/map?at=17/47.0005/12.0005`, email);
  await drawn();
  await pickMiddle();
  const card = page.getByRole('region', { name: 'Selection' });
  await card.getByRole('heading', { name: 'Upper <b>terrace</b>' }).waitFor();
  await card.getByText(/^0\.8\d ha$/).waitFor();
  await card.getByTitle(geoid).waitFor();
  await card.getByRole('definition').filter({ hasText: /^2$/ }).waitFor();
  await card.getByText('Second on the terrace').waitFor();
  expect(await card.getByRole('link', { name: 'All packets' }).getAttribute('href')).toBe(
    `/packets?geoid=${geoid}`,
  );
  await expectAccessible(page);
});

test('a click on a place with several observations lists them all', async () => {
  const { page } = browser;
  await observe(-20, 140, 'At noon');
  await observe(-20, 140, 'In the evening');
  await counted();
  await logIn(page, `${pages.url}/map?at=18/-20/140`, email);
  await drawn();
  await pickMiddle();
  const details = page.getByRole('region', { name: 'Selection' });
  await details.getByRole('heading', { name: '2 observations at this place' }).waitFor();
  for (const message of ['At noon', 'In the evening']) await details.getByText(message).waitFor();
  await details.getByRole('button', { name: 'Close' }).click();
  await page.locator('canvas:focus').waitFor();
});

test('the page of a packet has a map of where in its country it is, and a way to the large one', async () => {
  const { page, asked } = browser;
  const id = await observe(52.5, 13.4, 'On a small map');
  asked.length = 0;
  await logIn(page, `${pages.url}/packets`, email);
  await page.goto(`${pages.url}/packets/${id}`);
  await drawn();
  await eventually(() => asked.some(url => url.includes('/packet/tiles/fields/9/')));
  await expectAccessible(page);
  await page.getByRole('link', { name: 'Show on the map' }).click();
  await page.getByRole('heading', { name: 'Map', exact: true }).waitFor();
  expect(new URL(page.url()).searchParams.get('at')).toBe('11/52.5/13.4');
  await page.locator('.maplibregl-ctrl-scale', { hasText: /^\d+\skm$/ }).waitFor();
  await page.getByText('Middle of the map: 52.5°, 13.4°, Germany').click();
  await page.getByText('This map has no roads').waitFor();
  await expectAccessible(page);
});

test('the controls of the map have the colours of the theme', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/map`, email);
  const zoom = page.locator('.maplibregl-ctrl-group');
  const attribution = page.locator('.maplibregl-ctrl-attrib');
  for (const [colorScheme, colour] of [
    ['light', 'rgb(255, 255, 255)'],
    ['dark', 'rgb(23, 29, 25)'],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    for (const control of [zoom, attribution]) {
      const style = () =>
        control.evaluate(node => node.ownerDocument.defaultView?.getComputedStyle(node).backgroundColor);
      await expect.poll(style).toBe(colour);
    }
  }
  await expectAccessible(page);
  await page.emulateMedia({ colorScheme: null });
});

test('the keyboard moves the map, and the address keeps where it is', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/map?at=5/0/0`, email);
  await drawn();
  await canvas().focus();
  await page.keyboard.press('ArrowRight');
  await eventually(() => Number(new URL(page.url()).searchParams.get('at')?.split('/')[2]) > 0.5);
  await page.keyboard.press('=');
  await eventually(() => Number(new URL(page.url()).searchParams.get('at')?.split('/')[0]) > 5.5);
});

test('new observations appear on an open map', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/map?at=15/10.5/20.5`, email);
  await drawn();
  await page.getByText('No observations here').waitFor();
  await observe(10.5, 20.5, 'Just now');
  await listed().getByText('Just now').waitFor();
  await pickMiddle();
  await page.getByRole('region', { name: 'Selection' }).getByText('Just now').waitFor();
});

test('a field is drawn with the mouse, with the keyboard, or from a file, and is on the map then', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/map?at=17/45.001/5.001`, email);
  await drawn();
  const wide = await sizeOf(canvas());
  await page.getByRole('button', { name: 'Register a field' }).click();
  // The form is next to the map, which becomes narrower.
  await eventually(async () => (await sizeOf(canvas())).width < wide.width - 200);
  const box = await sizeOf(canvas());
  const corners = page.getByLabel('Corners');
  expect((await sizeOf(corners)).x).toBeGreaterThan(box.x + box.width);
  for (const [dx, dy] of [
    [-60, -60],
    [60, -60],
    [60, 60],
    [-60, 60],
  ] as const) {
    await canvas().scrollIntoViewIfNeeded();
    await canvas().click({ position: { x: box.width / 2 + dx, y: box.height / 2 + dy } });
  }
  await eventually(async () => (await corners.inputValue()).split('\n').length === 4);
  await expectAccessible(page);
  await page.getByLabel('Name', { exact: true }).fill('Drawn field');
  await page.getByRole('button', { name: 'Register', exact: true }).click();
  await page.getByText('1 field registered').waitFor();
  // What was registered is shown without a click, and is there for one.
  const card = page.getByRole('region', { name: 'Selection' });
  await card.getByText('Drawn field').waitFor();
  await card.getByRole('button', { name: 'Close' }).click();
  await card.waitFor({ state: 'detached' });
  await pickMiddle();
  await card.getByText('Drawn field').waitFor();

  await page.getByRole('button', { name: 'Register a field' }).click();
  await page.getByRole('button', { name: 'Register', exact: true }).click();
  await page.getByText('A field has at least three corners').waitFor();
  await corners.fill('50, 6\n50, 6.002\nhere');
  await page.getByRole('button', { name: 'Register', exact: true }).click();
  await page.getByText('Line 3 is not a latitude and a longitude').waitFor();
  await corners.fill('50, 6\n50, 6.002\n50.002, 6.001');
  await page.getByRole('button', { name: 'Register', exact: true }).click();
  await page.getByText('1 field registered').first().waitFor();
  await eventually(() => /^50\.00/.test(new URL(page.url()).searchParams.get('at')?.split('/')[1] ?? ''));

  const file = path.join(pages.folder, 'fields.geojson');
  const ring = [
    [7, 51],
    [7.002, 51],
    [7.002, 51.002],
    [7, 51],
  ];
  await writeFile(file, 'no fields');
  await page.getByRole('button', { name: 'Register a field' }).click();
  const chooseFile = page.getByLabel('Use a GeoJSON file instead');
  await chooseFile.setInputFiles(file);
  await page.getByRole('button', { name: 'Register', exact: true }).click();
  const complaint = page.getByText('The file contains no GeoJSON polygons');
  await complaint.waitFor();
  await writeFile(file, JSON.stringify({ type: 'Polygon', coordinates: [ring] }));
  await chooseFile.setInputFiles([]);
  await chooseFile.setInputFiles(file);
  await complaint.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Register', exact: true }).click();
  await eventually(() => /^51\.00/.test(new URL(page.url()).searchParams.get('at')?.split('/')[1] ?? ''));
  expect(sumOf(await tileAt({ url: pages.packetUrl }, 'fields', [0, 0, 0]))).toBe(5);
});

test('a drawn field is not dropped without a question, and a click on the map keeps typed text', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/map?at=17/46.001/5.001`, email);
  await drawn();
  const register = page.getByRole('button', { name: 'Register a field' });
  const corners = page.getByLabel('Corners');
  await register.click();
  await register.click();
  await corners.waitFor({ state: 'detached' });
  await register.click();
  await corners.fill('beside the road');
  await canvas().click();
  await eventually(async () => (await corners.inputValue()).split('\n').length === 2);
  expect(await corners.inputValue()).toMatch(/^beside the road\n46\.00/);
  const question = page.getByRole('dialog', { name: 'Leave without saving?' });
  await register.click();
  await question.getByRole('button', { name: 'Stay' }).click();
  expect(await corners.inputValue()).toContain('beside the road');
  await corners.fill('');
  await canvas().click();
  await eventually(async () => (await corners.inputValue()).startsWith('46.00'));
  await page.getByRole('button', { name: 'Close', exact: true }).click();
  await question.getByRole('button', { name: 'Leave' }).click();
  await corners.waitFor({ state: 'detached' });
});

test('people who walk along the edge add their position as corners; without a position, the form says so', async () => {
  const { page } = browser;
  await logIn(page, `${pages.url}/map?at=17/46.001/5.001`, email);
  await page.setViewportSize(PHONE);
  await page.getByRole('button', { name: 'Register a field' }).click();
  const here = page.getByRole('button', { name: 'Add my position as a corner' });
  await here.click();
  await page.getByText('The browser can’t find your position').waitFor();
  await page.context().grantPermissions(['geolocation'], { origin: pages.url });
  await page.context().setGeolocation({ latitude: 46, longitude: 5, accuracy: 8 });
  await here.click();
  const corners = page.getByLabel('Corners');
  await expect.poll(() => corners.inputValue()).toBe('46, 5');
  expect((await sizeOf(corners)).y).toBeGreaterThan((await sizeOf(canvas())).y);
  await page.context().clearPermissions();
  await page.setViewportSize(DESKTOP);
});

test('after a change, tiles are requested with the position of the answer, which replicas need', async () => {
  const { page } = browser;
  const changes = '**/packet/**';
  await page.route(changes, async route => {
    if (route.request().method() !== 'PUT') return route.fallback();
    const response = await route.fetch();
    await route.fulfill({ response, headers: { ...response.headers(), 'fieldtrace-position': '0/1' } });
  });
  await logIn(page, `${pages.url}/map?at=17/45.001/5.001`, email);
  await drawn();
  const told = page.waitForRequest(
    request => request.url().includes('/packet/tiles/') && request.headers()['fieldtrace-position'] === '0/1',
  );
  await page.getByRole('button', { name: 'Register a field' }).click();
  await page.getByLabel('Corners').fill('52, 6\n52, 6.002\n52.002, 6.001');
  await page.getByRole('button', { name: 'Register', exact: true }).click();
  await told;
  await page.unroute(changes);
});

test('without WebGL the screen says so, and has the list', async () => {
  const without = await openBrowser(DESKTOP);
  const { page } = without;
  await page.addInitScript('HTMLCanvasElement.prototype.getContext = () => null');
  await logIn(page, `${pages.url}/map`, email);
  await page.getByText('it doesn’t support WebGL').waitFor();
  await page.getByRole('listitem').getByText('Leaf rust').waitFor();
  await expectAccessible(page);
  await without.close();
});

/** A PMTiles archive (github.com/protomaps/PMTiles, version 3) of one tile, not compressed. */
function archiveOf(tile: Buffer, metadata: object): Buffer {
  const described = Buffer.from(JSON.stringify(metadata));
  // One entry: tile 0, once, so many bytes, at the beginning of the tiles.
  const directory = Buffer.from([1, 0, 1, (tile.length % 128) | 128, Math.floor(tile.length / 128), 1]);
  const header = Buffer.alloc(127);
  header.write('PMTiles');
  header[7] = 3;
  const metadataAt = header.length + directory.length;
  const tilesAt = metadataAt + described.length;
  const numbers = [
    header.length,
    directory.length,
    metadataAt,
    described.length,
    tilesAt,
    0,
    tilesAt,
    tile.length,
  ];
  for (const [index, value] of [...numbers, 1, 1, 1].entries())
    header.writeBigUInt64LE(BigInt(value), 8 + 8 * index);
  // Clustered, no compression inside and of tiles, vector tiles, zooms 0 to 0.
  header.set([1, 1, 1, 1, 0, 0], 96);
  for (const [index, degrees] of [-180, -85, 180, 85].entries())
    header.writeInt32LE(degrees * 1e7, 102 + 4 * index);
  return Buffer.concat([header, directory, described, tile]);
}

test("an operator's base map is found in DATA_DIR and served in ranges, and nothing else of it is", async () => {
  const ask = (route: string, headers: Record<string, string> = {}) =>
    fetch(`${pages.url}${route}`, { headers });
  expect(await (await ask('/basemap')).json()).toEqual({ url: null });
  await writeFile(path.join(pages.folder, 'country.pmtiles'), 'PMTiles and so on');
  expect(await (await ask('/basemap')).json()).toEqual({ url: '/basemap/country.pmtiles' });
  const part = await ask('/basemap/country.pmtiles', { range: 'bytes=0-6' });
  expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([
    206,
    'bytes 0-6/17',
    'PMTiles',
  ]);
  for (const other of ['fields.geojson', '..%2Fpackage.json', 'other.pmtiles', '.hidden.pmtiles']) {
    expect((await ask(`/basemap/${other}`)).status, other).toBe(404);
  }
});

test('the map draws the base map of the operator', async () => {
  const ring = [
    [100, 100],
    [4000, 100],
    [4000, 4000],
    [100, 4000],
  ] as const;
  const tile = vectorTile({
    water: [{ geometry: { rings: [ring] }, properties: {} }],
    places: [{ geometry: { point: [2048, 2048] }, properties: { name: 'Nowhere' } }],
  });
  const metadata = {
    vector_layers: [{ id: 'water' }, { id: 'places' }],
    attribution: '<a href="x">Made here</a>',
  };
  await writeFile(path.join(pages.folder, 'country.pmtiles'), archiveOf(tile, metadata));
  const { page, asked } = browser;
  asked.length = 0;
  browser.complaints.length = 0;
  await logIn(page, `${pages.url}/map?at=1/0/0`, email);
  await drawn();
  await page.getByText('Made here').waitFor({ state: 'attached' });
  await eventually(() => asked.filter(url => url.endsWith('/basemap/country.pmtiles')).length > 1);
  expect(realComplaints(browser)).toEqual([]);
});
