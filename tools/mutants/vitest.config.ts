import { defineConfig } from 'vitest/config';

// Stryker runs the tests beside the code that it changes, in threads: no database, no processes.
export default defineConfig({
  test: {
    include: ['packages/**/*.test.{ts,tsx}'],
    exclude: ['packages/*/test/**'],
    pool: 'threads',
    testTimeout: 300_000,
  },
});
