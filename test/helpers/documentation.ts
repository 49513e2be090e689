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
 * Opens an operation on the documentation page, and its group, where both are closed at first.
 *
 * @param method in lower case
 * @param route as in the definition: `/packets/{id}`
 * @returns the operation, with its parameters and body filled in
 */
export async function openOperation(page: Page, method: string, route: string): Promise<Locator> {
  const [tag] = (packets?.paths[route] ?? trace?.paths[route])?.[method]?.tags ?? [];
  const name = page.locator(`.opblock-tag[data-tag="${tag}"]`);
  await name.waitFor();
  const open = page.locator('.opblock-tag-section.is-open', { has: name });
  if ((await open.count()) === 0) await name.click();
  const operation = page.locator(`.opblock-${method}`, { has: page.locator(`[data-path="${route}"]`) });
  await operation.locator('.opblock-summary').first().click();
  // The button to execute it is there earlier, and sends nothing that is filled in then.
  await operation.locator('.opblock-section').first().waitFor();
  return operation;
}
