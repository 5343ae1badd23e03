import { expect, test } from 'vitest';
import { exceededLimits, longParts, type Measure, measure, withVocabulary } from '../../tools/size.ts';

const source = (lines: number): string => 'x\n'.repeat(lines);
const pageWith = (rows: string): string => `| walk | files |\n\n| what | at most |\n|---|---|\n${rows}\n`;
const ofValue = (value: number): ReadonlyMap<string, Measure> => new Map([['packages/cli', { value, files: [] }]]);

test('a measure may be as large as its limit, and no larger', () => {
  const page = pageWith('| packages/cli | 1,000 |');
  expect(exceededLimits(ofValue(1_000), page)).toEqual([]);
  expect(exceededLimits(ofValue(1_001), page)).toEqual([
    'packages/cli: must be at most 1,000: current number is 1,001',
  ]);
});

test('a limit that a former commit had lower is named', () => {
  const [now, lower, higher] = ['1,000', '999', '1,001'].map((most) => pageWith(`| packages/cli | ${most} |`));
  expect(exceededLimits(ofValue(900), now ?? '', ['no table', higher ?? ''])).toEqual([]);
  expect(exceededLimits(ofValue(900), now ?? '', [lower ?? '', higher ?? ''])).toEqual([
    'packages/cli: the limit may only fall, and was 999 in a former commit: current limit is 1,000',
  ]);
});

test('a measure without a row, and a row without a measure, are named', () => {
  expect(exceededLimits(ofValue(1_400), pageWith('| packages/gone | 5 |'))).toEqual([
    "packages/cli: must have a row in docs/contributors/size.md, such as '| packages/cli | 1,400 |'",
    'packages/gone: is a row in docs/contributors/size.md, but nothing is measured by this name',
  ]);
});

test('a walk has the contract, the files directly in storage/, and the threads that its files import', () => {
  const report = 'packages/service/report';
  const product = new Map([
    [
      `${report}/run.ts`,
      "import { a } from '../../contract/a.ts';\nimport type { T } from '../../contract/types.ts';\n" +
        "import { p } from './plan.ts';\nimport {\n  s,\n} from '../storage/store.ts';\n",
    ],
    [`${report}/plan.ts`, source(7)],
    ['packages/contract/a.ts', "export { b } from './b.ts';\n"],
    ['packages/contract/b.ts', source(3)],
    ['packages/contract/types.ts', source(5)],
    ['packages/service/storage/store.ts', "new Worker(new URL('./sqlite/thread.ts', import.meta.url));\n"],
    ['packages/service/storage/sqlite/thread.ts', source(11)],
  ]);
  expect(withVocabulary(product, [`${report}/run.ts`])).toEqual([
    `${report}/run.ts`,
    'packages/contract/a.ts',
    'packages/service/storage/store.ts',
    'packages/contract/b.ts',
    'packages/service/storage/sqlite/thread.ts',
  ]);
  const walksPage = '# Walks\n\n## A page\n\n- on both engines 1: `report/run`\n';
  expect(measure(product, new Map(), walksPage).get('a page on PostgreSQL')?.value).toBe(6 + 1 + 1 + 3 + 11);
});

test('lines of packages and tests, and casts past the compiler, are counted', () => {
  const product = new Map([
    ['packages/cli/a.ts', 'x as unknown as string;\ny as unknown as number;\n'],
    ['packages/cli/b.css', source(3)],
    ['packages/mcp/c.ts', source(2)],
  ]);
  const measures = measure(product, new Map([['test/a.test.ts', source(9)]]), '');
  expect([...measures].map(([what, { value }]) => [what, value])).toEqual([
    ['packages/cli', 5],
    ['packages/mcp', 2],
    ['all packages', 7],
    ['tests, tools and bench', 9],
    ['a page on PostgreSQL', 0],
    ['a load on PostgreSQL', 0],
    ['`as unknown as`', 2],
  ]);
});

test('a file of more than 400 lines, and long functions, are named', () => {
  const sources = new Map([
    ['packages/a.ts', source(401)],
    ['packages/b.ts', `function f() {\n${source(30)}}\n`],
  ]);
  expect(longParts(sources)).toEqual([
    'packages/a.ts: must have at most 400 lines: current number is 401',
    'functions: 9 of 10 must have at most 25 lines: current number is 32',
  ]);
});
