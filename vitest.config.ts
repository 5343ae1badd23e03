import { defineConfig } from 'vitest/config';

/** Suites of the store that run once more, on the oldest PostgreSQL that is supported. */
const storeSuites = ['store', 'counts', 'isolation', 'plans', 'change-mark', 'subscription-change', 'postgres-batch'];

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: { name: 'all', include: ['src/**/*.test.ts', 'test/**/*.test.ts'] } },
      {
        extends: true,
        test: { name: 'postgres 15', include: storeSuites.map((name) => `test/storage/${name}.test.ts`) },
      },
    ],
    globalSetup: 'test/support/global-setup.ts',
    // Only a test that hangs reaches these limits; a machine may be many times slower than ours.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 240_000, interval: 20 } },
    pool: 'forks',
    // the files of a process share its modules: importing them for each took most of the time
    isolate: false,
    maxWorkers: '100%', // else a machine with two cores has one
    typecheck: { enabled: false },
  },
});
