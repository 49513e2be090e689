import { availableParallelism } from 'node:os';
import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { CostlyFilesReporter } from './test/helpers/costly-files.ts';
import { NotRunReporter } from './test/helpers/not-run.ts';

// Tests start hundreds of processes, and half of a start is compiling.
process.env.NODE_COMPILE_CACHE ??= path.resolve('node_modules/.cache/compiled');

/** What a test file belongs to is said by its place or its ending, never by a list. */
export const SYSTEM_TESTS = ['test/system/**/*.test.ts', '{src,test}/**/*.system.test.ts'];
const ISOLATED_TESTS = ['**/*.isolated.test.ts'];
// Those need a cluster: vitest.citus.config.ts.
export const CLUSTER_TESTS = ['**/*.citus.test.ts'];

export const shared = {
  setupFiles: ['test/helpers/file-cost.ts'],
  // Machines are busy with other tests.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // A second, the default, is too short for a page that loads on a busy machine.
  expect: { poll: { timeout: 30_000 } },
};
export const wholeRun = {
  globalSetup: 'test/helpers/global-setup.ts',
  reporters: ['default', new NotRunReporter(), new CostlyFilesReporter()],
  // Many tests wait for processes and outside systems: on two cores, three files at a time take half as long as one.
  maxWorkers: Math.max(3, availableParallelism()),
};

/** `npm test`: files of one worker share its modules, except those that say at their top why they cannot. */
export default defineConfig({
  test: {
    ...wholeRun,
    projects: [
      {
        test: {
          ...shared,
          name: 'features',
          include: ['{src,test,console/src}/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...SYSTEM_TESTS, ...ISOLATED_TESTS, ...CLUSTER_TESTS],
          isolate: false,
        },
      },
      {
        test: {
          ...shared,
          name: 'isolated',
          include: ISOLATED_TESTS,
          exclude: ['**/node_modules/**', ...SYSTEM_TESTS],
        },
      },
    ],
  },
});
