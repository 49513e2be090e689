import { defineConfig } from 'vitest/config';
import { NotRunReporter } from './test/helpers/not-run.ts';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: 'test/helpers/global-setup.ts',
    reporters: ['default', new NotRunReporter()],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
