import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

interface LockedPackage {
  readonly deprecated?: string;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
}

const file = fileURLToPath(new URL('../../package-lock.json', import.meta.url));
const { packages } = JSON.parse(readFileSync(file, 'utf8')) as { packages: Record<string, LockedPackage> };

test('no dependency is deprecated; .npmrc hides the warning of npm', () => {
  const deprecated = Object.entries(packages).filter(([, entry]) => entry.deprecated !== undefined);
  expect(Object.fromEntries(deprecated)).toEqual({});
});

test('no package of production has an install script, as .npmrc says', () => {
  const found = Object.entries(packages).filter(([, entry]) => entry.hasInstallScript === true && entry.dev !== true);
  expect(found.map(([name]) => name)).toEqual([]);
});
