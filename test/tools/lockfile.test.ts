import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

interface LockedPackage {
  readonly deprecated?: string;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
}

function packagesOf(lockfile: string): Record<string, LockedPackage> {
  const file = fileURLToPath(new URL(`../../${lockfile}`, import.meta.url));
  return JSON.parse(readFileSync(file, 'utf8')).packages;
}

test.each(['package-lock.json', 'tools/checkers/package-lock.json'])(
  'no dependency in %s is deprecated; .npmrc hides the warning of npm',
  (lockfile) => {
    const deprecated = Object.entries(packagesOf(lockfile)).filter(([, entry]) => entry.deprecated !== undefined);
    expect(Object.fromEntries(deprecated)).toEqual({});
  },
);

test('no package of production has an install script, as .npmrc says', () => {
  const found = Object.entries(packagesOf('package-lock.json')).filter(
    ([, entry]) => entry.hasInstallScript === true && entry.dev !== true,
  );
  expect(found.map(([name]) => name)).toEqual([]);
});
