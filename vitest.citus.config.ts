import { defineConfig } from 'vitest/config';
import { shared, wholeRun } from './vitest.config.ts';

/** The packet service's suite on a Citus cluster: see test/helpers/citus-setup.ts. */
export default defineConfig({
  test: {
    ...wholeRun,
    ...shared,
    globalSetup: 'test/helpers/citus-setup.ts',
    include: [
      'src/packet-service/**/*.test.ts',
      'src/platform/**/*.citus.test.ts',
      'test/{api-key-scopes,authorisation,authors,bodies,errors,health,limits,next-links,optional-mode,pages,personal-data}.test.ts',
      'test/fuzz/fuzz.test.ts',
    ],
    exclude: [
      '**/node_modules/**',
      // Which statements a search runs on one server; on a cluster they are others, and find the same (search.test.ts).
      'src/packet-service/collaboration/chat/search/search-steps.test.ts',
    ],
    // A statement has up to three servers to go to.
    maxWorkers: 2,
    testTimeout: 300_000,
  },
});
