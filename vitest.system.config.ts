import { globSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { CLUSTER_TESTS, SYSTEM_TESTS, shared, wholeRun } from './vitest.config.ts';

// Property tests run in both commands, here with all of their cases.
process.env.PROPERTY_SHARE ??= '1';
const propertyTests = globSync('{src,test,console/src}/**/*.test.ts', {
  exclude: name => name.endsWith('.citus.test.ts'),
}).filter(file => readFileSync(file, 'utf8').includes('/helpers/property.ts'));

/** Files of one worker share its Chromium. */
const CONSOLE_TESTS = 'test/system/console/**/*.test.ts';

/** `npm run test:system`: whole processes, other programs, faults and browsers, in an order that changes. */
export default defineConfig({
  test: {
    ...wholeRun,
    sequence: { shuffle: { files: true } },
    projects: [
      {
        test: {
          ...shared,
          name: 'system',
          include: [...SYSTEM_TESTS, ...propertyTests],
          exclude: ['**/node_modules/**', CONSOLE_TESTS, ...CLUSTER_TESTS],
        },
      },
      { test: { ...shared, name: 'console', include: [CONSOLE_TESTS], isolate: false } },
    ],
  },
});
