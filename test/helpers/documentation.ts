import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Locator, Page } from 'playwright-core';

interface Definition {
  paths: Record<string, Record<string, { tags?: string[] }>>;
}

const [packets, trace] = ['packet-service', 'trace-backend'].map(
  (name): Definition =>
    JSON.parse(readFileSync(path.resolve(import.meta.dirname, `../../openapi/${name}.json`), 'utf8')),
);

/**
 * Opens the group of an operation on the documentation page, where groups are closed at first.
 *
 * @param method in lower case
 * @param route as in the definition: `/packets/{id}`
 * @returns the operation, itself still closed
 */
export async function operationOf(page: Page, method: string, route: string): Promise<Locator> {
  const [tag] = (packets?.paths[route] ?? trace?.paths[route])?.[method]?.tags ?? [];
  const name = page.locator(`.opblock-tag[data-tag="${tag}"]`);
  await name.waitFor();
  const open = page.locator('.opblock-tag-section.is-open', { has: name });
  if ((await open.count()) === 0) await name.click();
  return page.locator(`.opblock-${method}`, { has: page.locator(`[data-path="${route}"]`) });
}
