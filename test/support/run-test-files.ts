import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

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
