import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { whileLocked } from '../../src/platform/embedded-postgres/file-lock.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const BUILD: string = path.join(ROOT, 'scripts/setup/build.mjs');

/** Builds one of the parts unless that is done already; runs of tests at the same time share one build. */
export async function build(part: 'services' | 'console'): Promise<void> {
  const { build: buildParts } = await import(BUILD);
  const cache = path.join(ROOT, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const lock = path.join(cache, 'build.lock');
  writeFileSync(lock, '', { flag: 'a' });
  await whileLocked(
    lock,
    () => {},
    () => buildParts({ parts: [part], runtime: process.execPath, development: true }),
  );
}
