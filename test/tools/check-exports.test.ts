import { expect, test } from 'vitest';
import { unusedExports } from '../../tools/check-exports.ts';

const isUsed = (source: string, from = 'test/user.ts'): boolean =>
  unusedExports(
    new Map([
      ['packages/a/one.ts', 'export const one = 1;'],
      [from, source],
    ]),
  ).length === 0;

test.each([
  ['imports nothing', ''],
  ['imports another name of the file', "import { two } from '../packages/a/one.ts';"],
  ['imports the name from another file', "import { one } from '../packages/b/one.ts';"],
  ['gives another import that name', "import { two as one } from '../packages/a/one.ts';"],
  ['destructures another name from a dynamic import', "const { two } = await import('../packages/a/one.ts');"],
])('an export is refused when the only other file %s', (_, source) => {
  expect(isUsed(source)).toBe(false);
});

test.each([
  ['imports it', "import {\n  one,\n  type Two,\n} from '../packages/a/one.ts';"],
  ['imports it under another name', "import { one as first } from '../packages/a/one.ts';"],
  ['imports its type', "import type { one } from '../packages/a/one.ts';"],
  ['imports the whole file', "import * as all from '../packages/a/one.ts';"],
  ['exports it again', "export { one } from '../packages/a/one.ts';"],
  ['destructures it from a dynamic import', "const { one } = await import('../packages/a/one.ts');"],
  ['imports the file dynamically', "void import('../packages/a/one.ts');"],
])('an export is accepted when another file %s', (_, source) => {
  expect(isUsed(source)).toBe(true);
});

test.each([
  'export async function one() {}',
  'export function* one() {}',
  'export abstract class one {}',
  'export interface one {}',
  'export type one = 1;',
  'const two = 1;\nexport { two as one };',
])('%s is an export', (source) => {
  expect(unusedExports(new Map([['packages/a/one.ts', source]]))).toEqual(['packages/a/one.ts#one']);
});

test('exports of the client library are public, and those outside packages/ are free', () => {
  const sources = ['packages/client/index.ts', 'test/support/one.ts'].map(
    (file) => [file, 'export const one = 1;'] as const,
  );
  expect(unusedExports(new Map(sources))).toEqual([]);
});
