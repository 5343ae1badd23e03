import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { Mutant } from './mutant.ts';
import { findTestFile, readTestFiles } from './source-tree.ts';

/** One test that ran. */
export interface TestResult {
  /** Absolute path of its file. */
  readonly path: string;
  /** Titles of the suites around it and its own, separated by blanks. */
  readonly fullName: string;
  readonly passed: boolean;
  /** Why it failed. */
  readonly failures: readonly string[];
}

/** A run that is not over by then hangs. */
const runMsMax = 600_000;

/** Runs the tests of some mutants in a source tree. Returns nothing when Vitest could not run. */
export function runTests(root: string, mutants: readonly Mutant[]): readonly TestResult[] {
  const testFiles = readTestFiles(root);
  const files = new Set(mutants.map((mutant) => findTestFile(testFiles, mutant).path));
  return runTestFiles(root, [...files], mutants.map(namePattern).join('|'));
}

/** Runs the tests of some files whose full names match a pattern. */
export function runTestFiles(root: string, files: readonly string[], pattern: string): TestResult[] {
  const report = join(mkdtempSync(join(tmpdir(), 'subreport-tests-')), 'report.json');
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  // The suites of the store run once more on another PostgreSQL, which is not needed here.
  const options = ['--project=!postgres 15', '--reporter=json', `--outputFile=${report}`];
  spawnSync(process.execPath, [vitest, 'run', ...files, ...options, '-t', pattern], {
    cwd: root,
    env: environmentOfRun(),
    stdio: 'ignore',
    timeout: runMsMax,
  });
  const results = readReport(report);
  rmSync(dirname(report), { recursive: true });
  return results;
}

/**
 * This environment without what another run of Vitest put into it, such as the program to test. The
 * server of a database comes from who runs the tests.
 */
function environmentOfRun(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(?:VITEST|TEST_(?!DATABASE_URL$)|NODE_ENV$|DEV$|PROD$|MODE$)/.test(name),
  );
  return Object.fromEntries(kept);
}

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

function readReport(path: string): TestResult[] {
  let report: Report;
  try {
    report = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return [];
  }
  return report.testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'passed' || status === 'failed')
      .map(({ fullName, status, failureMessages }) => ({
        path: name,
        fullName,
        passed: status === 'passed',
        failures: failureMessages,
      })),
  );
}

/** The results of the tests that a mutant names. */
export function resultsOf(mutant: Mutant, results: readonly TestResult[]): readonly TestResult[] {
  const pattern = new RegExp(namePattern(mutant));
  return results.filter(({ path, fullName }) => basename(path) === mutant.file && pattern.test(fullName));
}

/** Matches the full names of the tests of a title; a placeholder of `test.each` is any text. */
function namePattern({ test, on = [] }: Mutant): string {
  const title = test
    .split(/%[sijdf]|\$\w+/)
    .map(escapePattern)
    .join('.*');
  return `^${on.map((word) => `(?=.*${escapePattern(word)})`).join('')}(?:.* )?${title}$`;
}

const escapePattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
