import { basename, join } from 'node:path';
import { runTestFiles } from '../mutants/run-tests.ts';
import type { Outcome, TestedDrill } from './drill.ts';

/** Runs the tests of some drills, all in one run. */
export function runTested(drills: readonly TestedDrill[], root: string): readonly Outcome[] {
  if (drills.length === 0) return [];
  const files = new Set(drills.map(({ file }) => join(root, 'test', file)));
  const results = runTestFiles(root, [...files], drills.map(({ title }) => `^${escapePattern(title)}`).join('|'));
  return drills.map(({ name, fault, file, title }) => {
    const own = results.filter(({ path, fullName }) => path === join(root, 'test', file) && fullName.startsWith(title));
    const expected = `the tests of ${basename(file)} pass${title === '' ? '' : `: '${title} …'`}`;
    if (own.length === 0) return { name, fault, expected, observed: 'its tests were skipped', ok: 'NOT RUN' };
    const passed = own.filter((result) => result.passed).length;
    const observed = `${passed} of ${own.length} tests pass`;
    return { name, fault, expected, observed, ok: passed === own.length ? 'yes' : 'NO' };
  });
}

const escapePattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
