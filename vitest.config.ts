import { availableParallelism } from 'node:os';
import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { NotRunReporter } from './test/helpers/not-run.ts';

// Tests start hundreds of processes, and half of a start is compiling.
process.env.NODE_COMPILE_CACHE ??= path.resolve('node_modules/.cache/compiled');

export default defineConfig({
  test: {
    include: ['{src,test,console/src}/**/*.test.ts'],
    // Those need a cluster: vitest.citus.config.ts.
    exclude: ['**/node_modules/**', '**/*.citus.test.ts'],
    globalSetup: 'test/helpers/global-setup.ts',
    reporters: ['default', new NotRunReporter()],
    // Machines are busy with other tests.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // A second, the default, is too short for a page that loads on a busy machine.
    expect: { poll: { timeout: 30_000 } },
    // Many tests wait for processes and outside systems: on two cores, three files at a time take half as long as one.
    maxWorkers: Math.max(3, availableParallelism()),
  },
});
