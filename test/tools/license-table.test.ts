import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { licenseTable } from '../../tools/license-table.ts';

const folder = mkdtempSync(join(tmpdir(), 'subreport-licenses-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The list of a lockfile with these packages. */
function tableOf(
  packages: Record<string, object>,
  imported: string[] = [],
  copied: { name: string; license?: string }[] = [],
): string {
  const lockfile = join(folder, 'package-lock.json');
  writeFileSync(lockfile, JSON.stringify({ packages: { '': {}, ...packages } }));
  return licenseTable(pathToFileURL(lockfile), imported, copied);
}

test('the list of licenses has runtime packages once, and no development packages', () => {
  const table = tableOf({
    'node_modules/a': { version: '1.0.0', license: 'MIT' },
    'node_modules/b/node_modules/a': { version: '1.0.0', license: 'MIT' },
    'node_modules/@scope/c': { version: '2.0.0', license: 'ISC' },
    'node_modules/d': { version: '3.0.0', license: 'GPL-3.0', dev: true },
  });
  expect(table).toBe('- **ISC**: @scope/c\n- **MIT**: a');
});

test('it lists packages of the console scripts with their dependencies, although they are development packages', () => {
  const packages = {
    'node_modules/chart': { version: '1.0.0', license: 'ISC', dev: true, dependencies: { colour: '1', scale: '2' } },
    'node_modules/colour': { version: '1.0.0', license: 'ISC', dev: true },
    'node_modules/chart/node_modules/scale': { version: '2.0.0', license: 'MIT', dev: true },
    'node_modules/scale': { version: '1.0.0', license: 'GPL-3.0', dev: true },
  };
  expect(tableOf(packages, ['chart'])).toBe('- **ISC**: chart, colour\n- **MIT**: scale');
});

test('it lists packages from which files of the consoles were copied', () => {
  expect(tableOf({}, [], [{ name: 'icons', license: 'ISC' }])).toBe('- **ISC**: icons');
  expect(licenseTable()).toMatch(/^- \*\*ISC\*\*: .*\blucide\b/m);
});

test.each(['GPL-3.0', undefined])('a runtime package with the license %s is rejected', (license) => {
  expect(() => tableOf({ 'node_modules/a': { version: '1.0.0', license } })).toThrow(/^Cannot use a: its license must/);
});
