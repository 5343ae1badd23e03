import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

interface LockedPackage {
  readonly deprecated?: string;
}

test('no dependency is deprecated; .npmrc hides the warning of npm', () => {
  const file = fileURLToPath(new URL('../../package-lock.json', import.meta.url));
  const { packages } = JSON.parse(readFileSync(file, 'utf8')) as { packages: Record<string, LockedPackage> };
  const deprecated = Object.entries(packages).filter(([, entry]) => entry.deprecated !== undefined);
  expect(Object.fromEntries(deprecated)).toEqual({});
});
