import { expect, test } from 'vitest';
import { exceededLimits } from '../../tools/size.ts';

const source = (lines: number): string => 'x\n'.repeat(lines);
const sizePage = '| walk | files | lines |\n|---|---|---|\n| A page | 2 | 1,000 |\n';

/** The sentences of a walk of two files of 400 lines and one with the other lines. */
function faultsOf(lines: number, walks = new Map([['A page', ['a', 'b', 'c']]])): readonly string[] {
  const sources = new Map([
    ['a', source(400)],
    ['b', source(400)],
    ['c', source(lines - 800)],
  ]);
  return exceededLimits(sources, walks, sizePage);
}

test('a walk may grow to 5 % over its row, and no further', () => {
  expect(faultsOf(1_050)).toEqual([]);
  expect(faultsOf(1_051)).toEqual([
    "A page: must have at most 3 files and 1,050 lines, 5 % over its row in docs/contributors/size.md: current row is '| A page | 3 | 1,051 |'",
  ]);
  expect(faultsOf(1_000, new Map([['A page', ['a', 'b', 'c', 'd']]]))).toHaveLength(1);
});

test('a walk without a row, and a row without a walk, are named', () => {
  expect(faultsOf(1_000, new Map([['A token', ['a']]]))).toEqual([
    "A token: must have a row in docs/contributors/size.md, such as '| A token | 1 | 400 |'",
    'A page: is a row in docs/contributors/size.md, but no walk of docs/contributors/walks.md',
  ]);
});

test('a file of more than 400 lines, and long functions, are named', () => {
  const long = `function f() {\n${source(30)}}\n`;
  const sources = new Map([
    ['packages/a.ts', source(401)],
    ['packages/b.ts', long],
  ]);
  expect(exceededLimits(sources, new Map(), '')).toEqual([
    'packages/a.ts: must have at most 400 lines: current number is 401',
    'functions: 9 of 10 must have at most 25 lines: current number is 32',
  ]);
});
