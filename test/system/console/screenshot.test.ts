import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser } from '../../helpers/browser.ts';
import { type RunningConsole, runningConsole } from '../../helpers/console.ts';
import { consoleBrowser, DESKTOP, logIn } from '../../helpers/console-page.ts';
import { eventually } from '../../helpers/eventually.ts';
import { sumOf, tileAt } from '../../helpers/tiles.ts';
import { ADMIN } from '../../helpers/trace.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const README_PICTURE = path.join(ROOT, 'docs/console.png');
const MAX_BYTES = 200_000;
/** For drawing a map without a graphics card on a busy machine, in milliseconds. */
const PATIENCE_MS = 300_000;
/** Pixels of the map that marks of observations take, at least. */
const MARKED = 500;

const COOPERATIVE = 'Ubumwe Coffee Cooperative';
/** Where its growers are: names, latitudes, longitudes, and how many observations there are. */
const PLACES = [
  ['Rutsiro', -1.94, 29.4, 34],
  ['Karongi', -2.12, 29.45, 27],
  ['Nyamasheke', -2.38, 29.25, 41],
  ['Huye', -2.55, 29.72, 22],
  ['Nyamagabe', -2.45, 29.5, 15],
  ['Gakenke', -1.7, 29.8, 19],
  ['Kayonza', -1.9, 30.5, 12],
  ['Kirehe', -2.25, 30.65, 8],
] as const;
/** Degrees around each place. */
const SPREAD = 0.22;
const MESSAGES = [
  'Leaf rust on the lower rows, about one plant in ten',
  'Cherries ripen evenly; first picking next week',
  'The terrace above the stream needs stones after the rain',
  'Mulch is down on all plots, soil is moist',
  'Antestia bugs on three trees, sprayed with pyrethrum',
  'Shade trees planted along the path: 40 Grevillea',
];
const AT = '7.7/-1.98/29.3';

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

/** Numbers from -1 to 1, more of them near 0, and always the same ones. */
function offsets(seed: number): () => number {
  let state = seed;
  const next = () => {
    state = (state * 16_807) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  return () => ((next() + next() + next()) * 2) / 3 - 1;
}

/** The observations of a season. */
async function observeSeason(email: string): Promise<number> {
  const { send } = await pages.login(email);
  const offset = offsets(2026);
  const items = PLACES.flatMap(([district, lat, lon, count]) =>
    Array.from({ length: count }, (_, n) => ({
      intake: 'scouting',
      body: {
        observed_at: new Date(Date.UTC(2026, 2, 2, 6) + (n * 9 + count) * 5_400_000).toISOString(),
        capture_point: { lat: lat + offset() * SPREAD, lon: lon + offset() * SPREAD },
        message: MESSAGES[(n + count) % MESSAGES.length],
        district,
      },
    })),
  );
  const { status, body } = await send('POST', '/packet/intake/batch', items);
  expect([200, 201, 207], JSON.stringify(body)).toContain(status);
  return items.length;
}

/** How many pixels of a picture are close to a colour. */
async function pixelsLike(picture: Buffer, wanted: readonly number[]): Promise<number> {
  const { data, info } = await sharp(picture).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  let count = 0;
  for (let at = 0; at < data.length; at += info.channels) {
    if (wanted.every((value, channel) => Math.abs((data[at + channel] as number) - value) < 12)) count++;
  }
  return count;
}

test(
  'the picture of the README shows the map of a cooperative',
  async () => {
    const { page } = browser;
    const admin = await pages.login(ADMIN.username, ADMIN.password);
    const named = await admin.send('POST', '/trace/api/common/globalSettings/INSTANCE_NAME', {
      value: COOPERATIVE,
      isPublic: true,
    });
    expect([200, 201], named.text).toContain(named.status);
    const { email } = await pages.newUser('USER', { name: 'Claudine', surname: 'Uwase' });
    const count = await observeSeason(email);
    await eventually(
      async () => sumOf(await tileAt({ url: pages.packetUrl }, 'observations', [0, 0, 0])) === count,
    );

    await page.setViewportSize(DESKTOP);
    await page.emulateMedia({ colorScheme: 'light' });
    await logIn(page, `${pages.url}/map?at=${AT}`, email);
    await page.getByText(COOPERATIVE).first().waitFor();
    await page.getByText('Claudine Uwase').waitFor();
    await page.getByRole('listitem').getByText('Cherries ripen evenly').first().waitFor();
    const canvas = page.locator('canvas.maplibregl-canvas');
    await canvas.waitFor();
    const mark = (await page.evaluate(`(() => {
    const probe = document.createElement('span');
    probe.style.color = 'var(--map-mark)';
    document.body.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color.match(/\\d+/g).slice(0, 3).map(Number);
  })()`)) as number[];
    expect(mark).toHaveLength(3);

    // The map is drawn when two pictures are the same and have the marks of the places.
    let before: Buffer = Buffer.alloc(0);
    const picture = await eventually(
      async () => {
        const taken = await page.screenshot({ type: 'png' });
        const isSame = taken.equals(before);
        before = taken;
        const map = await canvas.screenshot({ type: 'png' });
        return isSame && (await pixelsLike(map, mark)) > MARKED ? taken : undefined;
      },
      taken => taken !== undefined,
    );
    const small = await sharp(picture).png({ palette: true, effort: 10 }).toBuffer();
    expect(small.length).toBeLessThan(MAX_BYTES);
    expect(await sharp(small).metadata()).toMatchObject({ format: 'png', ...DESKTOP });

    const file = process.env.SCREENSHOT
      ? README_PICTURE
      : path.join(pages.folder, 'screenshot', 'console.png');
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, small);
    expect((await readFile(file)).length).toBe(small.length);
  },
  PATIENCE_MS,
);

test('the README opens with the picture that was taken', async () => {
  const readme = await readFile(path.join(ROOT, 'README.md'), 'utf8');
  expect(readme.slice(0, readme.indexOf('\n## '))).toContain('(docs/console.png)');
  const picture = await readFile(README_PICTURE);
  expect(picture.length).toBeLessThan(MAX_BYTES);
  expect(await sharp(picture).metadata()).toMatchObject({ format: 'png', width: DESKTOP.width });
});
