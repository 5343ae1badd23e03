import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from '../support/chromium.ts';
import { copyTree } from '../support/copy-tree.ts';
import { isThorough } from '../support/draw.ts';
import { runTestFiles } from '../support/run-test-files.ts';

// docs/contributors/ says how to add a filter, a column and so on. Each of these recipes is a patch
// here, with one line of context. All are applied to one copy of the tree, where what
// the page says must be generated is generated, and the compiler, the rules of style and the suites
// must pass. If a patch no longer applies, change it by hand, or make the change in a checkout and
// write it with `git diff -U1`.

/** Of a test here, which runs the compiler or Vitest: some minutes on a busy machine. */
const timeout = 1_200_000;

interface Recipe {
  /** The page of docs/contributors/ that has its section; without it, `how-to-change.md`. */
  readonly page?: string;
  /** The heading of its section. */
  readonly heading: string;
  readonly generated: readonly string[];
  /** Suites that must pass. */
  readonly suites: readonly string[];
  /** Suites of which the tests with such a title must pass: the others do not know the change. */
  readonly parts?: readonly [title: string, ...suites: string[]];
}

const recipes: Readonly<Record<string, Recipe>> = {
  filter: {
    heading: 'Add a filter',
    generated: ['openapi.json', 'docs/readers/report.md'],
    suites: [
      ...[
        'packages/service/report/plan',
        'packages/service/report/filters',
        'packages/service/report/parse',
        'packages/contract/schema',
      ],
      ...['packages/contract/test/openapi', 'test/docs/docs', 'test/simulation/simulation'],
      'packages/console/report/filters/suggest-filters',
      'packages/console/report/link/report-state',
      'packages/cli/commands/link-query',
      'packages/mcp/arguments',
    ],
    parts: [
      'activated-from|all faults of a request',
      ...[
        'packages/service/test/http/hostile',
        'packages/service/test/http/search',
        'packages/service/test/report/walk',
      ],
    ],
  },
  column: {
    heading: 'Add a column',
    generated: ['packages/service/test/storage/schema.sqlite.sql', 'packages/service/test/storage/schema.postgres.sql'],
    suites: [
      'packages/service/import/check-row',
      'packages/service/test/storage/columns',
      'packages/service/test/storage/schema',
      'packages/service/test/storage/migration-rule',
    ],
    parts: ['fill each column', 'packages/service/test/storage/migration'],
  },
  field: {
    heading: 'Add a field of the record',
    generated: ['openapi.json', 'openapi-operator.json', 'docs/operators/import.md'],
    suites: [
      ...[
        'packages/contract/record-fields',
        'packages/contract/csv',
        'packages/client/records',
        'packages/cli/workbook/workbook',
      ],
      ...[
        'packages/service/import/read-ndjson',
        'packages/service/import/check-row',
        'packages/service/report/csv-lines',
        'packages/service/report/select-fields',
        'packages/service/test/report/findings',
        'packages/contract/test/openapi',
        'test/docs/docs',
      ],
      'packages/console/report/history/describe-differences',
    ],
    parts: ['the subscription of a SIM', 'test/examples/programs'],
  },
  operation: {
    heading: 'Add an operation of the operator, or an action of the audit log',
    generated: ['openapi-operator.json'],
    suites: [
      ...[
        'packages/service/test/audit/every-action',
        'test/docs/audit',
        'packages/contract/test/openapi-operator',
        'test/docs/docs',
      ],
      'packages/console/operator/audit/audit-actions',
    ],
  },
  page: {
    heading: 'Add a page of a console',
    generated: [],
    suites: ['test/docs/docs', ...(hasChromium ? ['packages/console/test/statuses'] : [])],
  },
  destination: {
    page: 'destinations.md',
    heading: 'Example',
    generated: ['docs/readers/sync.md'],
    suites: ['packages/cli/sync/table/append-file', 'packages/cli/commands/sync-options', 'test/docs/docs'],
  },
};

const root = process.cwd();
const all = Object.entries(recipes);

/** The text of a recipe; the number of its migration is the next one. */
function patchOf(name: string): string {
  const last = readdirSync('packages/service/storage/migrations/sqlite').sort().at(-1)?.slice(0, 4);
  const next = String(Number(last) + 1).padStart(4, '0');
  return readFileSync(`test/recipes/${name}.patch`, 'utf8').replaceAll('NNNN', next);
}

const patchedFiles = (patch: string): string[] =>
  [...patch.matchAll(/^\+\+\+ b\/(.+)$/gm)].map(([, file = '']) => file);

/** How the names of all tests of a suite begin. */
const beginsOf = (suite: string): string[] =>
  [...readFileSync(`${suite}.test.ts`, 'utf8').matchAll(/^describe.*?\('([^'$]+)/gm)].map(([, begin = '']) => begin);

/** Whether a recipe was changed in the tree, or in the last ten commits. */
function areRecipesChanged(): boolean {
  const git = (...args: readonly string[]): string => execFileSync('git', args, { encoding: 'utf8', stdio: 'pipe' });
  try {
    return git('diff', '--name-only', 'HEAD~10', '--', 'test/recipes', 'docs/contributors/how-to-change.md') !== '';
  } catch {
    return true; // no history
  }
}

/** Compiling and testing the changed tree takes 45 CPU seconds. */
const isTaken = isThorough || areRecipesChanged();

describe('the recipes of docs/contributors', () => {
  let copy: string;
  const run = (...args: readonly string[]): void => {
    execFileSync(process.execPath, args, { cwd: copy, encoding: 'utf8', stdio: 'pipe' });
  };

  beforeAll(() => {
    copy = realpathSync(mkdtempSync(join(tmpdir(), 'subreport-recipes-')));
    copyTree(root, copy);
    for (const [name] of all)
      execFileSync('git', ['apply', '-C1', '-'], { cwd: copy, input: patchOf(name), stdio: ['pipe', 'pipe', 'pipe'] });
    for (const tool of ['contract', 'schema', 'arrows', 'docs']) run(`tools/write-${tool}.ts`);
  });
  afterAll(() => rmSync(copy, { recursive: true }));

  test.each(all)(
    '%s: the page names each file that changes, and no other',
    (name, { page = 'how-to-change.md', heading, generated }) => {
      const section =
        readFileSync(`docs/contributors/${page}`, 'utf8').split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
      const named = [...section.matchAll(/^\|(.+?)\|/gm)]
        .flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+\.\w+)`/g)])
        .map(([, file = '']) => file);
      const patched = patchedFiles(patchOf(name)).map((file) => file.replace(/\/\d{4}-[\w-]+\.sql$/, '/NNNN-….sql'));
      expect(named.sort()).toEqual([...patched, ...generated].sort());
      for (const file of generated)
        expect([file, readFileSync(join(copy, file), 'utf8') === readFileSync(file, 'utf8')]).toEqual([file, false]);
    },
  );

  test.runIf(isTaken)('the changed tree compiles and keeps the rules of style', { timeout }, () => {
    const files = all.flatMap(([name]) => patchedFiles(patchOf(name))).filter((file) => /\.tsx?$/.test(file));
    expect(() => run('node_modules/typescript/bin/tsc', '--noEmit', '--checkers', '1')).not.toThrow();
    expect(() => run('node_modules/@biomejs/biome/bin/biome', 'check', ...new Set(files))).not.toThrow();
  });

  test.runIf(isTaken)('the suites that the recipes name pass in the changed tree', { timeout }, () => {
    const wholes = all.flatMap(([, { suites }]) => suites);
    const titles: string[] = [];
    const parts: string[] = [];
    for (const [, { parts: [title = '', ...suites] = [] }] of all) {
      if (title !== '') titles.push(title);
      parts.push(...suites);
    }
    const asked = [...new Set([...wholes, ...parts])].map((suite) => join(copy, `${suite}.test.ts`));
    const results = runTestFiles(copy, asked, `^(?!${parts.flatMap(beginsOf).join('|')})|${titles.join('|')}`);
    const ran = new Set(results.map(({ path }) => path));
    expect(asked.filter((path) => !ran.has(path)).map((path) => relative(copy, path))).toEqual([]);
    expect(results.filter(({ passed }) => !passed)).toEqual([]);
  });
});
