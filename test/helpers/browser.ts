import * as playwright from 'playwright-core';
import { findChromium } from './chromium.ts';

export interface Browser {
  page: playwright.Page;
  /** what the page's console and its failed requests complained of */
  complaints: string[];
  /** every address that was asked for */
  asked: string[];
  /** Removes the page with its cookies, storage, service workers and cache. */
  close(): Promise<void>;
}

/** The Chromium of this process. */
let chromium: Promise<playwright.Browser> | undefined;

/**
 * A page in a context of its own: it shares the Chromium of this process with other pages, but neither cookies, storage,
 * service workers nor cache. It reaches nothing but this machine, and draws WebGL. Chromium starts with the first page,
 * and ends with the process or at `closeChromium`.
 *
 * @param viewport in CSS pixels
 * @param options offline: whether pages may have service workers, whose requests no route of a test sees; javaScript:
 * whether pages run scripts
 * @throws Error that says what to install if this machine has no browser
 */
export async function openBrowser(
  viewport = { width: 1280, height: 800 },
  { offline = false, javaScript = true } = {},
): Promise<Browser> {
  chromium ??= startChromium();
  const context = await (await chromium).newContext({
    viewport,
    javaScriptEnabled: javaScript,
    serviceWorkers: offline ? 'allow' : 'block',
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  const asked: string[] = [];
  page.on('console', message => {
    if (message.text() === 'Service Worker registration blocked by Playwright') return;
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', error => complaints.push(error.message));
  page.on('request', request => asked.push(request.url()));
  page.on('requestfailed', request => complaints.push(`${request.url()} failed`));
  return { page, complaints, asked, close: () => context.close() };
}

/** Ends the Chromium of this process, which programs other than tests do themselves. */
export async function closeChromium(): Promise<void> {
  await (await chromium)?.close();
}

async function startChromium(): Promise<playwright.Browser> {
  const { executablePath, env } = await findChromium();
  // Vitest ends its workers with this signal. When the process exits, Playwright ends Chromium and removes its files.
  process.once('SIGTERM', () => process.exit());
  const started = await playwright.chromium.launch({
    executablePath,
    env: { ...process.env, ...env },
    headless: true,
    handleSIGTERM: false,
    args: [
      '--no-sandbox',
      // WebGL without a graphics card is computed, which takes memory and time; the rest of the page need not be.
      '--use-angle=swiftshader',
      '--enable-unsafe-swiftshader',
      '--disable-gpu-compositing',
      '--disable-gpu-rasterization',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      // Pages reach this machine alone. Routes of a test would do it too, but turn the browser's cache off.
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
    ],
  });
  // The next test gets another one.
  started.on('disconnected', () => {
    chromium = undefined;
  });
  return started;
}
