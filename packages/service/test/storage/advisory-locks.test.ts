import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { advisoryLocks, importLockOf } from '../../storage/postgres/advisory-locks.ts';
import type { TenantId } from '../../storage/store.ts';

/**
 * Each use of an advisory lock in the sources, as the text of its argument. The lock of a sync is
 * in a reader's own database, and has two numbers, which no lock of one number equals.
 */
const uses = globSync('packages/**/*.{ts,sql}', { exclude: ['packages/cli/sync/**', 'packages/*/test/**'] }).flatMap(
  (file) =>
    [...readFileSync(file, 'utf8').matchAll(/pg_(?:try_)?advisory_\w+\(([^)]*)\)/g)].map(([, number = '']) => ({
      file,
      number,
    })),
);

test('no two advisory locks have the same number', () => {
  const numbers = Object.values(advisoryLocks).map(String);
  expect(new Set(numbers).size).toBe(numbers.length);
  expect(numbers).not.toContain(importLockOf('acme' as TenantId));
});

test('each number in SQL is in the table of locks, and each lock of the table is used', () => {
  const names = Object.keys(advisoryLocks).map((name) => `\${advisoryLocks.${name}}`);
  const numbers = Object.values(advisoryLocks).map(String);
  const nameOf = (number: string) => names[numbers.indexOf(number)];
  // a tenant's import lock is bound as a value
  const others = uses.filter(({ number }) => !names.includes(number) && number !== '$1');
  const written = others.filter(({ number }) => nameOf(number) === undefined);
  expect(written).toEqual([]);
  expect([...new Set(uses.map(({ number }) => nameOf(number) ?? number))].sort()).toEqual([...names, '$1'].sort());
  expect(uses.filter(({ number }) => number === '$1').map(({ file }) => file)).toEqual([
    'packages/service/storage/postgres/advisory-locks.ts',
  ]);
});

test('a number of an advisory lock is written in one file and in migrations only', () => {
  const files = globSync('packages/**/*.{ts,sql}', { exclude: ['packages/*/test/**'] }).filter((file) =>
    Object.values(advisoryLocks).some((number) => readFileSync(file, 'utf8').replaceAll('_', '').includes(`${number}`)),
  );
  expect(files.filter((file) => !/\.sql$/.test(file))).toEqual(['packages/service/storage/postgres/advisory-locks.ts']);
});
