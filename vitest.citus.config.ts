import { defineConfig, mergeConfig } from 'vitest/config';
import plain from './vitest.config.ts';

/** The packet service's suite on a Citus cluster: see test/helpers/citus-setup.ts. */
// A statement has up to three servers to go to.
const config = mergeConfig(plain, defineConfig({ test: { maxWorkers: 2, testTimeout: 300_000 } }));
config.test.include = [
  'src/packet-service/**/*.test.ts',
  'src/platform/**/*.citus.test.ts',
  'test/{api-key-scopes,authorisation,authors,bodies,errors,health,limits,next-links,optional-mode,pages,personal-data}.test.ts',
  'test/fuzz/fuzz.test.ts',
];
// Which statements a search runs on one server; on a cluster they are others, and find the same (search.test.ts).
config.test.exclude = [
  '**/node_modules/**',
  'src/packet-service/collaboration/chat/search/search-steps.test.ts',
];
config.test.globalSetup = 'test/helpers/citus-setup.ts';
export default config;
