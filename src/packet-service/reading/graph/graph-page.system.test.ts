import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Browser, openBrowser } from '../../../../test/helpers/browser.ts';
import { type RunningService, runningService } from '../../../../test/helpers/service.ts';
import { JWT_SECRET, secretToken } from '../../../../test/helpers/user-registry.ts';

let service: RunningService;
let browser: Browser;
let folder: string;
beforeAll(async () => {
  service = await runningService();
  browser = await openBrowser();
  // Kept where FIELDTRACE_SCREENSHOTS says, for people to look at.
  folder = process.env.FIELDTRACE_SCREENSHOTS ?? (await mkdtemp(path.join(tmpdir(), 'fieldtrace-page-')));
});
afterAll(async () => {
  await browser.close();
  await service.stop();
  if (!process.env.FIELDTRACE_SCREENSHOTS) await rm(folder, { recursive: true, force: true });
});

async function fillWorld(): Promise<{ packets: string[]; geoid: string }> {
  const packets: string[] = [];
  for (let n = 0; n < 8; n++) {
    const answer = await service.send('POST', '/intake/scouting', {
      observed_at: `2026-03-0${n + 1}T08:15:00Z`,
      capture_point: { lat: n < 5 ? 1 : 3, lon: 2 },
      message: 'Leaf rust',
      ...(n === 4 && { prev: packets[0], attachments: ['att_01JD7Q2M8XW3N5R6T8V9Y0Z1A2'] }),
    });
    packets.push(answer.body.packet_uuid);
  }
  const { geoid } = (await service.send('GET', `/packets/${packets[0]}`)).body.Header;
  const { thread_id } = (await service.send('POST', '/chat/threads', { name: 'Coffee', created_by: 'amina' }))
    .body;
  for (let n = 0; n < 5; n++) {
    const said = { thread_id, text: `Rust ${n}`, from_user: 'amina', geoids: [geoid] };
    await service.send('POST', '/intake/chat-message', said);
  }
  return { packets, geoid };
}

const LIST = '#packets button';

async function packetsListed(page: Page, count: number): Promise<void> {
  await expect.poll(() => page.locator(LIST).count(), { timeout: 20_000 }).toBe(count);
}

test('the page draws the surroundings of a GeoID or packet, and the newest packets, and loads nothing from other hosts', async () => {
  const { packets, geoid } = await fillWorld();
  const { page, complaints, asked } = browser;
  await page.goto(`${service.url}/graph?around=${geoid}`);
  await packetsListed(page, 10);
  expect(await page.textContent('[role=status]')).toBe('10 packets.');

  await page.locator(LIST).last().click();
  expect(await page.textContent('#chosen')).toContain(packets[0]);
  expect(await page.getAttribute('#chosen a', 'href')).toBe(`packets/${packets[0]}`);
  const picture = path.join(folder, 'graph.png');
  await page.screenshot({ path: picture });
  const { channels } = await sharp(await readFile(picture))
    .extract({ left: 20, top: 200, width: 900, height: 560 })
    .stats();
  // Something is drawn: an empty area has one colour.
  expect(Math.max(...channels.map(({ stdev }) => stdev))).toBeGreaterThan(3);

  await page.goto(`${service.url}/graph?packet=${packets[4]}`);
  await packetsListed(page, 10);
  await page.goto(`${service.url}/graph`);
  await packetsListed(page, 13);

  await page.fill('input[name=around]', 'nothing is here');
  await page.keyboard.press('Enter');
  await page.getByText('There are no packets here.').waitFor();

  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`${service.url}/graph?around=${geoid}`);
  await packetsListed(page, 10);
  await page.screenshot({ path: path.join(folder, 'graph-phone.png') });

  expect(complaints).toEqual([]);
  for (const url of asked) expect(url.startsWith(`${service.url}/`), url).toBe(true);
});

test('the page says if it needs a token, and draws with one', async () => {
  await service.send('POST', '/intake/scouting', {
    observed_at: '2026-03-09T08:15:00Z',
    capture_point: { lat: 5, lon: 5 },
    message: 'Leaf rust',
  });
  const closed = await runningService(
    { AUTH_MODE: 'required', USER_REGISTRY_JWT_SECRET: JWT_SECRET },
    service,
  );
  const { page } = browser;
  await page.goto(`${closed.url}/graph`);
  await page.waitForSelector('[role=status].wrong');
  expect(await page.textContent('[role=status]')).toContain('a token is required');

  await page.fill('input[name=token]', await secretToken('amina'));
  await page.keyboard.press('Enter');
  await page.waitForSelector('[role=status]:not(.wrong)');
  await expect.poll(() => page.locator(LIST).count(), { timeout: 20_000 }).toBeGreaterThan(0);
  // A token is never put where a history or a log keeps it.
  expect(page.url()).not.toContain('ey');
  await closed.stop();
});
