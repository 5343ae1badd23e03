/** Changes six folders; `npm run mutants -- --mutate FILES` others. */
export default {
  testRunner: 'vitest',
  plugins: ['./tools/mutants/node_modules/@stryker-mutator/vitest-runner/dist/src/index.js'],
  vitest: { configFile: 'tools/mutants/vitest.config.ts' },
  mutate: [
    'packages/service/{report,import,auth}/**/*.ts',
    'packages/service/storage/{read,counts}/**/*.ts',
    'packages/cli/sync/**/*.ts',
    '!**/*.test.ts',
  ],
  ignorePatterns: ['/data', '/dist'],
  // Stryker rewrites this file with an API that TypeScript 7 does not have.
  tsconfigFile: 'no-tsconfig.json',
  reporters: ['clear-text', 'json'],
  clearTextReporter: { logTests: false },
  jsonReporter: { fileName: 'dist/mutants.json' },
  tempDirName: 'dist/mutants',
};
