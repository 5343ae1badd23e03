import { join } from 'node:path';
import { runTestFiles } from '../support/run-test-files.ts';
import type { Outcome, TestedDrill } from './drill.ts';

/** Runs the tests of some drills, all in one run. */
export function runTested(drills: readonly TestedDrill[], root: string): readonly Outcome[] {
  if (drills.length === 0) return [];
  const files = new Set(drills.map(({ file }) => join(root, file)));
  const results = runTestFiles(root, [...files], drills.map(({ test }) => escapePattern(test)).join('|'));
  return drills.map(({ name, fault, file, test }) => {
    const own = results.filter(({ path, fullName }) => path === join(root, file) && fullName.includes(test));
    const expected = `${file} passes: ${test}`;
    if (own.length === 0) return { name, fault, expected, observed: 'its test was skipped', ok: 'NOT RUN' };
    const observed =
      own.flatMap(({ failures }) => failures)[0] ?? (own.length === 1 ? 'it passes' : `${own.length} such tests pass`);
    return { name, fault, expected, observed, ok: own.every(({ passed }) => passed) ? 'yes' : 'NO' };
  });
}

const escapePattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
