import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { ulidToUuid } from '../src/packet-service/core/packet-format/ulid.ts';
import { closeChromium, openBrowser } from '../test/helpers/browser.ts';
import { eventually } from '../test/helpers/eventually.ts';
import { connect, fillChat, join } from './chat-fill.ts';
import { type Context, median, type Row } from './context.ts';
import { counted, DAY, fillObservations, type Location, TEXT } from './tiles.ts';

/** Observations, unless CONSOLE_PACKETS says otherwise. */
const OBSERVATIONS = 100_000;
const MESSAGES = 200_000;
const ADMIN = { TRACE_ADMIN_EMAIL: 'admin@example.org', TRACE_ADMIN_PASSWORD: 'an administrator' };
/** Times that the table is opened. */
const OPENINGS = 11;
/** Pages of packets in the table that is scrolled. */
const PAGES = 40;
/** Frames of one measured scrolling, and pixels that each moves. */
const FRAMES = 600;
const STEP = 120;
/** Chromium gives up the drawing of the page before a second after it has left it, which takes long without a graphics card. */
const REST_MS = 2500;
/** Locations and zooms that the map is opened at. */
const LOCATIONS = 5;
const ZOOMS = [1, 4, 7, 10, 13, 15];
/** Times that an open map is moved by 100 pixels, and how long each takes. */
const MOVES = 6;
const MOVE_MS = 400;

/**
 * The console in Chromium, from a click to what one sees: the table of packets, tiles of the map, and frames while
 * scrolling. `CONSOLE_PACKETS=5000000 npm run bench console` has as many packets as the largest installation.
 */
export async function consoleRows(context: Context): Promise<Row[]> {
  const count = Number(process.env.CONSOLE_PACKETS ?? OBSERVATIONS);
  const folder = await mkdtemp(path.join(tmpdir(), 'fieldtrace-bench-console-'));
  const locations = await fillObservations(context, count);
  const thread = await fillThread(context);
  const service = await context.startConsole({ ...ADMIN, DATA_DIR: folder });
  await counted(context, count);
  const browser = await openBrowser();
  try {
    const { page } = browser;
    const url = `http://127.0.0.1:${service.port}`;
    await join(context, await logIn(page, url), [thread]);
    const among = `among ${count.toLocaleString('en')} packets`;
    return [
      ...(await tableRows(page, url, among)),
      await scrolledTableRow(page, url),
      await scrolledThreadRow(page, `${url}/threads/${thread}`),
      ...(await mapRows(page, url, { locations, among })),
      ...(await mapRows(page, url, { locations, among: `${among}, with a day`, filter: DAY })),
      ...(await mapRows(page, url, { locations, among: `${among}, with a text`, filter: TEXT })),
    ];
  } finally {
    await closeChromium();
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** A thread with many messages, which are older than the observations. */
async function fillThread(context: Context): Promise<string> {
  const [ids, times]: [string[], string[]] = [[], []];
  const filling = { languages: ['english' as const], threads: 1, messages: MESSAGES };
  const { threads } = await fillChat(context, filling, (ulid, ts) => {
    ids.push(ulid);
    times.push(ts);
  });
  const thread = threads[0] as string;
  const client = await connect(context.connection);
  await client.query(
    `INSERT INTO packets (id, ts, geoid, type, thread_id, header, body, footer)
     SELECT id, ts - interval '1 year', '', 'chat_message', $4,
       json_build_object('id', ulid, 'geoid', '', 'timestamp', ts, 'type', 'chat_message'), '{}', '{}'
     FROM unnest($1::uuid[], $2::text[], $3::timestamptz[]) AS made (id, ulid, ts)`,
    [ids.map(ulidToUuid), ids, times, ulidToUuid(thread)],
  );
  await client.query('VACUUM ANALYZE packets');
  await client.end();
  return thread;
}

/** Logs the administrator in; returns the user's id. */
async function logIn(page: Page, url: string): Promise<string> {
  await page.goto(url);
  await page.getByLabel('E-mail address').fill(ADMIN.TRACE_ADMIN_EMAIL);
  await page.getByLabel('Password').fill(ADMIN.TRACE_ADMIN_PASSWORD);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('navigation').first().waitFor();
  const profile = "fetch('/trace/api/user/profile').then(answer => answer.json())";
  return String(((await page.evaluate(profile)) as { data: { id: number } }).data.id);
}

/** Milliseconds from a click on the link of the table to the frame that shows its rows, and from a navigation to it. */
async function tableRows(page: Page, url: string, among: string): Promise<Row[]> {
  const clicked: number[] = [];
  const opened: number[] = [];
  for (let n = 0; n < OPENINGS; n++) {
    await page.goto(`${url}/account`);
    await page.locator('nav a[href="/packets"]').waitFor();
    await page.waitForLoadState('networkidle');
    clicked.push(
      (await page.evaluate(`new Promise(resolve => {
        const began = performance.now();
        document.querySelector('nav a[href="/packets"]').click();
        (${whenShown})(() => resolve(performance.now() - began));
      })`)) as number,
    );
  }
  await page.addInitScript(`(${whenShown})(() => { window.shownAfter = performance.now(); })`);
  for (let n = 0; n < OPENINGS; n++) {
    await page.goto(`${url}/packets`);
    await eventually(() => page.evaluate('window.shownAfter'));
    opened.push((await page.evaluate('window.shownAfter')) as number);
  }
  return [
    {
      name: `console: first table ${among}, after a click`,
      value: median(clicked),
      unit: 'ms',
      note: worst(clicked),
    },
    { name: 'the same, with the page itself', value: median(opened), unit: 'ms', note: worst(opened) },
  ];
}

/** In the page: calls back in the frame after rows are there. */
const whenShown = `done => {
  const look = () => requestAnimationFrame(document.querySelector('tbody tr') ? () => done() : look);
  look();
}`;

const worst = (values: number[]) => `worst of ${values.length}: ${Math.max(...values).toFixed(0)} ms`;

/** In the page: the requests for tiles since the last `clearResourceTimings`, without those that a cache answered. */
const TILES = `performance.getEntriesByType('resource').filter(({ name, transferSize }) => transferSize > 0 && name.includes('/packet/tiles/observations/'))`;

/**
 * Milliseconds from the request for a tile to its last byte, as the browser sees it: of a map that is opened, while the
 * page itself is still loading, and of one that is open and moved to the tiles next to it.
 */
async function mapRows(
  page: Page,
  url: string,
  { locations, among, filter = '' }: { locations: readonly Location[]; among: string; filter?: string },
): Promise<Row[]> {
  const opened: number[] = [];
  const moved: number[] = [];
  for (const [lat, lon] of locations.filter((_, n) => n % Math.ceil(locations.length / LOCATIONS) === 0)) {
    for (const zoom of ZOOMS) {
      await page.goto(`${url}/map?at=${zoom}/${lat.toFixed(4)}/${lon.toFixed(4)}&${filter}`);
      await page.locator('canvas.maplibregl-canvas').waitFor();
      await eventually(async () => (await page.evaluate(`${TILES}.length > 0`)) && (await isQuiet(page)));
      opened.push(...(await durations(page)));
      await page.evaluate('performance.clearResourceTimings()');
      await page.locator('canvas.maplibregl-canvas').focus();
      for (let n = 0; n < MOVES; n++) {
        await page.keyboard.press('ArrowRight');
        await page.waitForTimeout(MOVE_MS);
      }
      await eventually(() => isQuiet(page));
      moved.push(...(await durations(page)));
    }
  }
  return [
    tileRow(`console: tile of a map that is opened ${among}: p95`, opened),
    tileRow(`console: tile of an open map that is moved ${among}: p95`, moved),
  ];
}

/** Whether no tile has come for a second. */
async function isQuiet(page: Page): Promise<boolean> {
  const lastEnd = `Math.max(0, ...${TILES}.map(({ responseEnd }) => responseEnd))`;
  return (await page.evaluate(`${lastEnd} < performance.now() - 1000`)) as boolean;
}

const durations = (page: Page) =>
  page.evaluate(`${TILES}.map(({ duration }) => duration)`) as Promise<number[]>;

function tileRow(name: string, took: number[]): Row {
  const sorted = took.sort((a, b) => a - b);
  const p95 = sorted[Math.floor(sorted.length * 0.95)] as number;
  const note = `p50 ${median(took).toFixed(1)} ms, worst ${sorted.at(-1)?.toFixed(0)} ms, ${took.length} tiles`;
  return { name, value: p95, unit: 'ms', note };
}

async function scrolledTableRow(page: Page, url: string): Promise<Row> {
  await page.goto(`${url}/packets`);
  for (let loaded = 1; loaded < PAGES; loaded++) {
    await page.getByRole('button', { name: 'Show more' }).click();
    await eventually(() => page.evaluate(`document.querySelectorAll('tbody tr').length > ${loaded * 50}`));
  }
  const frames = await scroll(page, 'document.scrollingElement', STEP);
  return frameRow(`console: longest frame while scrolling ${PAGES * 50} packets`, frames);
}

async function scrolledThreadRow(page: Page, address: string): Promise<Row> {
  await page.goto(address);
  await page.locator('[role=log] article').first().waitFor();
  const frames = await scroll(page, "document.querySelector('[role=log]')", -STEP);
  return frameRow(`console: longest frame while scrolling up in a thread of ${MESSAGES} messages`, frames);
}

/** Scrolls by a step in each frame; returns the milliseconds of each frame. */
async function scroll(page: Page, element: string, step: number): Promise<number[]> {
  await page.waitForTimeout(REST_MS);
  return (await page.evaluate(`new Promise(resolve => {
    const element = ${element};
    const took = [];
    let before;
    const frame = now => {
      if (before !== undefined) took.push(now - before);
      before = now;
      element.scrollTop += ${step};
      if (took.length < ${FRAMES}) requestAnimationFrame(frame);
      else resolve(took);
    };
    requestAnimationFrame(frame);
  })`)) as number[];
}

function frameRow(name: string, frames: number[]): Row {
  const sorted = frames.sort((a, b) => a - b);
  const p99 = sorted[Math.floor(sorted.length * 0.99)] as number;
  const note = `p99 ${p99.toFixed(0)} ms, p50 ${median(frames).toFixed(0)} ms, ${frames.length} frames`;
  return { name, value: sorted.at(-1) as number, unit: 'ms', note };
}
