import { defineConfig } from 'vitest/config';
import { SYSTEM_TESTS, shared, wholeRun } from './vitest.config.ts';

/** `npm run test:system`: whole processes, other programs, faults and browsers, in an order that changes. */
export default defineConfig({
  test: {
    ...wholeRun,
    ...shared,
    include: SYSTEM_TESTS,
    sequence: { shuffle: { files: true } },
  },
});
