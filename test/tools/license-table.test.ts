import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { licenseTable } from '../../tools/license-table.ts';

const folder = mkdtempSync(join(tmpdir(), 'subreport-licenses-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The table of a lockfile with these packages. */
function tableOf(packages: Record<string, object>): string {
  const lockfile = join(folder, 'package-lock.json');
  writeFileSync(lockfile, JSON.stringify({ packages: { '': {}, ...packages } }));
  return licenseTable(pathToFileURL(lockfile));
}

test('the table of licenses lists runtime packages once, and no development packages', () => {
  const table = tableOf({
    'node_modules/a': { version: '1.0.0', license: 'MIT' },
    'node_modules/b/node_modules/a': { version: '1.0.0', license: 'MIT' },
    'node_modules/@scope/c': { version: '2.0.0', license: 'ISC' },
    'node_modules/d': { version: '3.0.0', license: 'GPL-3.0', dev: true },
  });
  expect(table.split('\n').slice(2)).toEqual(['| @scope/c | 2.0.0 | ISC |', '| a | 1.0.0 | MIT |']);
});

test.each(['GPL-3.0', undefined])('a runtime package with the license %s is rejected', (license) => {
  expect(() => tableOf({ 'node_modules/a': { version: '1.0.0', license } })).toThrow(/^Cannot use a: its license must/);
});
