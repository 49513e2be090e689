import { globSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { CLUSTER_TESTS, SYSTEM_TESTS, shared, wholeRun } from './vitest.config.ts';

// Property tests run in both commands, here with all of their cases.
process.env.PROPERTY_SHARE ??= '1';
const propertyTests = globSync('{src,test,console/src}/**/*.test.ts', {
  exclude: name => name.endsWith('.citus.test.ts'),
}).filter(file => readFileSync(file, 'utf8').includes('/helpers/property.ts'));

/** `npm run test:system`: whole processes, other programs, faults and browsers, in an order that changes. */
export default defineConfig({
  test: {
    ...wholeRun,
    ...shared,
    include: [...SYSTEM_TESTS, ...propertyTests],
    exclude: ['**/node_modules/**', ...CLUSTER_TESTS],
    sequence: { shuffle: { files: true } },
  },
});
