import { execFile } from 'node:child_process';
import path from 'node:path';
import { expect, test } from 'vitest';
import { testWith } from '../helpers/debian.ts';

const root = path.resolve(import.meta.dirname, '../..');
const testWithCurl = await testWith('curl');

/** Runs test/fixtures/needs-curl.story.ts in a vitest of its own. */
function run(environment: Record<string, string>): Promise<{ code: number; output: string }> {
  const words = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/fixtures/needs-curl.config.ts'];
  const env = { PATH: process.env.PATH, NO_COLOR: '1', ...environment };
  return new Promise(resolve => {
    execFile(process.execPath, words, { cwd: root, env }, (error, stdout) =>
      resolve({ code: error ? Number(error.code) : 0, output: stdout }),
    );
  });
}

// With this PATH there is neither curl nor a way to install it.
const WITHOUT_CURL = { PATH: '/nowhere' };

test('tests without their program are counted with the reason in the last lines', async () => {
  const { code, output } = await run(WITHOUT_CURL);
  expect(output).not.toContain('ran\n');
  expect(output.trim().split('\n').slice(-2)).toEqual([
    'Not run on this machine: 2 tests.',
    expect.stringMatching(
      /^ {2}2 tests of test\/fixtures\/needs-curl\.story\.ts: curl missing and not installable \(apt-get install curl\): \S+/,
    ),
  ]);
  expect(code).toBe(0);
});

test('in CI the same is a failure', async () => {
  const { code, output } = await run({ ...WITHOUT_CURL, CI: 'true' });
  expect(output).toContain('Not run on this machine: 2 tests.');
  expect(code).toBe(1);
});

testWithCurl('everything runs and nothing is listed if the program exists', async () => {
  const { code, output } = await run({ CI: 'true' });
  expect(output.match(/the test ran/g)?.length).toBe(2);
  expect(output).toContain('the hook ran');
  expect(output).not.toContain('Not run');
  expect(code).toBe(0);
});
