import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { build } from '../helpers/build.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

beforeAll(() => build('console'));

test('the console is well typed, with the types of the two definitions, and has no accessibility warning', async () => {
  await run(process.execPath, ['scripts/console-types.ts'], { cwd: ROOT });
  const check = path.join(ROOT, 'console/node_modules/svelte-check/bin/svelte-check');
  const words = [
    '--workspace',
    'console',
    '--tsconfig',
    './tsconfig.json',
    '--fail-on-warnings',
    '--output',
    'human',
  ];
  const { stdout } = await run(process.execPath, [check, ...words], { cwd: ROOT, maxBuffer: 2 ** 24 }).catch(
    error => error as { stdout: string },
  );
  expect(stdout).toMatch(/found 0 errors and 0 warnings/);
}, 300_000);
