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

/** Packages of production with an install script, and why an installation works without it. */
const withScript: Readonly<Record<string, string>> = {
  'node_modules/ssh2': 'compiles faster ciphers, and uses those of Node.js without them',
  'node_modules/cpu-features': 'compiles a reader of the CPU, which ssh2 only asks which cipher is faster',
};

test('of the packages of production, only these have an install script, as .npmrc says', () => {
  const found = Object.entries(packages).filter(([, entry]) => entry.hasInstallScript === true && entry.dev !== true);
  expect(found.map(([name]) => name).sort()).toEqual(Object.keys(withScript).sort());
  const npmrc = readFileSync(fileURLToPath(new URL('../../.npmrc', import.meta.url)), 'utf8');
  for (const [name] of found) expect(npmrc).toContain(name.replace('node_modules/', ''));
});
