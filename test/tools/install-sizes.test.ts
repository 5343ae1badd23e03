import { expect, test } from 'vitest';
import { closureOf, describeInstallations } from '../../tools/packages/install-sizes.ts';

test('an installation has the nearest version of each dependency, and no optional peers', () => {
  const lock = {
    'node_modules/a': {
      dependencies: { b: '2' },
      peerDependencies: { p: '1', q: '1' },
      peerDependenciesMeta: { q: { optional: true } },
    },
    'node_modules/a/node_modules/b': { dependencies: { c: '1' } },
    'node_modules/b': {},
    'node_modules/c': { optionalDependencies: { d: '1' } },
    'node_modules/d': {},
    'node_modules/p': {},
    'node_modules/q': {},
  };
  const names = ['a', 'a/node_modules/b', 'c', 'd', 'p'].map((name) => `node_modules/${name}`);
  expect(closureOf(lock, ['a']).toSorted()).toEqual(names);
});

test('a number fails once it exceeds its limit by more than a tenth', () => {
  const faultsOf = (packages: number, megabytes: number) =>
    describeInstallations([{ name: 'a', packages, packagesMax: 20, bytes: megabytes * 1e6, megabytesMax: 10 }]).faults;
  expect(faultsOf(22, 11)).toEqual([]);
  expect(faultsOf(23, 11)).toEqual(['a: must install at most 20 packages: current number is 23']);
  expect(faultsOf(22, 11.1)).toEqual(['a: must install at most 10 MB: current size is 11.1 MB']);
});
