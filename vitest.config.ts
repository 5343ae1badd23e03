import { availableParallelism } from 'node:os';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { drawPart } from './test/support/draw.ts';
import { hasOldestPostgres } from './test/support/oldest-postgres.ts';
import { cpuReporter } from './test/support/report-cpu.ts';
import { waitMsMax } from './test/support/wait-limit.ts';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 26) {
  throw new Error(
    `Cannot run the tests: Node must be 26 or later (.node-version): current version is ${major}.${minor}. 'npm test' uses the Node in node_modules/.bin; point your editor at it`,
  );
}

/** Suites that start programs or stores, or cross folders. */
const suites = ['packages/*/test/**/*.test.ts'];
/** Suites of the store: a third of them also runs on the oldest supported PostgreSQL. */
const storeSuites = ['store', 'counts', 'isolation', 'plans', 'change-mark', 'subscription-change', 'postgres-batch'];
const globalSetup = 'test/support/global-setup.ts';

const onOldestPostgres: TestProjectInlineConfiguration = {
  extends: true,
  test: {
    name: 'postgres 15',
    include: drawPart(storeSuites, 3).map((name) => `packages/service/test/storage/${name}.test.ts`),
    globalSetup,
    // A process of its own: modules shared with another project have the engines of that one.
    isolate: true,
  },
};

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: { name: 'unit', include: ['packages/**/*.test.{ts,tsx}'], exclude: suites } },
      { extends: true, test: { name: 'engines', include: ['test/**/*.test.ts', ...suites], globalSetup } },
      ...(hasOldestPostgres() ? [onOldestPostgres] : []),
    ],
    // Waits have a shorter limit (`waitMsMax`). A test's own work may take longer: some load many
    // records, and a machine may be many times slower than ours.
    testTimeout: 900_000,
    hookTimeout: 900_000,
    expect: { poll: { timeout: waitMsMax, interval: 20 } },
    setupFiles: 'test/support/measure-cpu.ts',
    reporters: ['default', cpuReporter],
    pool: 'forks',
    // The files of a process share its modules: importing them for each took most of the time.
    isolate: false,
    // Tests wait a quarter of their time for processes and disks; each worker loads all modules.
    maxWorkers: availableParallelism() + 1,
    typecheck: { enabled: false },
  },
});
