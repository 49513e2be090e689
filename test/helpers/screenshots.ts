import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { DESKTOP, PHONE } from './console-page.ts';

/** The pictures that a test takes of pages. */
export interface Screenshots {
  /** Takes a page at the width of a phone and of a desktop, which it keeps. */
  take(page: Page, name: string): Promise<void>;
  close(): Promise<void>;
}

/** A folder for screenshots: that of FIELDTRACE_SCREENSHOTS, where people look at them, or one that is removed. */
export async function openScreenshots(): Promise<Screenshots> {
  const kept = process.env.FIELDTRACE_SCREENSHOTS;
  const folder = kept ?? (await mkdtemp(path.join(tmpdir(), 'fieldtrace-screenshots-')));
  return {
    async take(page, name) {
      for (const [size, viewport] of Object.entries({ phone: PHONE, desktop: DESKTOP })) {
        await page.setViewportSize(viewport);
        await page.screenshot({ path: path.join(folder, `${name}-${size}.png`), fullPage: true });
      }
    },
    async close() {
      if (kept === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}
