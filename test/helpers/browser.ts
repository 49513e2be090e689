import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { findChromium } from './chromium.ts';

export interface Browser {
  page: Page;
  /** what the page's console and its failed requests complained of */
  complaints: string[];
  /** every address that was asked for */
  asked: string[];
  close(): Promise<void>;
}

/**
 * Chromium without a window, with a profile of its own. It reaches nothing but this machine.
 *
 * @param viewport in CSS pixels
 * @param options webgl: whether it draws WebGL; offline: whether pages may have service workers, whose requests no
 * route of a test sees; javaScript: whether pages run scripts
 * @throws Error that says what to install where there is no browser
 */
export async function openBrowser(
  viewport = { width: 1280, height: 800 },
  { webgl = false, offline = false, javaScript = true } = {},
): Promise<Browser> {
  const { executablePath, env } = await findChromium();
  const profile = await mkdtemp(path.join(tmpdir(), 'fieldtrace-browser-'));
  const context: BrowserContext = await chromium.launchPersistentContext(profile, {
    executablePath,
    env: { ...process.env, ...env },
    headless: true,
    viewport,
    javaScriptEnabled: javaScript,
    serviceWorkers: offline ? 'allow' : 'block',
    args: [
      '--no-sandbox',
      // WebGL without a graphics card is computed, which takes memory and time; the rest of the page need not be.
      ...(webgl
        ? [
            '--use-angle=swiftshader',
            '--enable-unsafe-swiftshader',
            '--disable-gpu-compositing',
            '--disable-gpu-rasterization',
          ]
        : ['--disable-gpu']),
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      // Pages reach this machine alone. Routes of a test would do it too, but turn the browser's cache off.
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
    ],
  });
  const page = context.pages()[0] ?? (await context.newPage());
  const complaints: string[] = [];
  const asked: string[] = [];
  page.on('console', message => {
    if (message.text() === 'Service Worker registration blocked by Playwright') return;
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', error => complaints.push(error.message));
  page.on('request', request => asked.push(request.url()));
  page.on('requestfailed', request => complaints.push(`${request.url()} failed`));
  return {
    page,
    complaints,
    asked,
    async close() {
      await context.close();
      await rm(profile, { recursive: true, force: true });
    },
  };
}
