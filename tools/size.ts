import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { fileURLToPath } from 'node:url';
import { readWalks } from './walks.ts';

// `npm run size` prints the files and lines of each package and walk beside their limits in
// docs/contributors/size.md, and the folders of packages/. With --check, which `npm run ok` uses,
// it prints only what exceeds a limit, and fails. Biome checks imports and circles.

const linesOfFileMax = 400;
const linesOfFunctionMax = 25;
const pagePath = 'docs/contributors/size.md';

/** Texts of source files by path from the root, such as `packages/service/report/plan.ts`. */
type Sources = ReadonlyMap<string, string>;

/** A number that may only fall, and the files that it counts. */
export interface Measure {
  readonly value: number;
  readonly files: readonly string[];
}

const linesOf = (source: string): number => source.split('\n').length - 1;

/** The value at or below which this share of the values is. */
function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? 0;
}

/** Lines of the functions and methods of a formatted source, from the first to the last brace. */
function functionLines(source: string): number[] {
  const lines = source.split('\n');
  const starts =
    /^(?:export )?(?:async )?function\b|^ {2}(?:(?:static|async|get|set) )*[*#]?\w+(?:<.*>)?\(|^(?:export )?const \w+ = (?:async )?(?:<.*>)?\(/;
  return lines.flatMap((line, at) => {
    if (!starts.test(line) || /^ {2}(?:if|for|while|switch|return|await)\b/.test(line)) return [];
    const indent = /^ */.exec(line)?.[0] ?? '';
    if (!/\{$/.test(line) && !/\($/.test(line)) return [];
    const end = lines.findIndex(
      (other, index) => index > at && new RegExp(`^${indent}\\}`).test(other) && !other.endsWith('{'),
    );
    return end < 0 ? [] : [end - at + 1];
  });
}

/** The files that a source imports for more than types, or starts as a thread. */
function importsOf(sources: Sources, file: string): readonly string[] {
  const statements = (sources.get(file) ?? '').matchAll(
    /^(?:import|export) (?!type\b)[^;']*?from '(\.[^']+)'|new URL\('(\.[^']+)'/gm,
  );
  return [...statements]
    .map(([, imported, thread]) => join(dirname(file), imported ?? thread ?? ''))
    .filter((path) => sources.has(path));
}

/** Files that walks.md omits, and that a reader of a walk must know all the same. */
const isVocabulary = (file: string): boolean =>
  file.startsWith('packages/contract/') ||
  /^packages\/service\/storage\/[^/]+$/.test(file) ||
  /(?:thread|worker)/.test(file);

/** The files, and the vocabulary that they import, also through each other. */
export function withVocabulary(sources: Sources, files: readonly string[]): readonly string[] {
  const found = new Set(files);
  for (const file of found) {
    for (const path of importsOf(sources, file)) if (isVocabulary(path)) found.add(path);
  }
  return [...found];
}

/** The walks of a page and of a load on PostgreSQL, by the sections of walks.md that they pass. */
const walks = {
  'a page on PostgreSQL': ['Every request', 'The store', 'The access token', 'A page'],
  'a load on PostgreSQL': ['Every request', 'The store', 'Loading records'],
};

/** Counts the lines of each package, of walks and of the tests, and casts past the compiler. */
export function measure(product: Sources, tests: Sources, walksPage: string): ReadonlyMap<string, Measure> {
  const linesIn = (sources: Sources, files: readonly string[]): Measure => ({
    value: files.reduce((sum, file) => sum + linesOf(sources.get(file) ?? ''), 0),
    files,
  });
  const packages = Map.groupBy(product.keys(), (file) => file.split('/')[1] ?? '');
  const sections = readWalks(walksPage);
  const passed = (titles: readonly string[]): readonly string[] => {
    const names = titles.flatMap((title) => [
      ...(sections.get(title)?.both ?? []),
      ...(sections.get(title)?.postgres ?? []),
    ]);
    const files = names.flatMap((name) => [`packages/service/${name}.ts`, `packages/${name}.ts`]);
    return withVocabulary(product, [...new Set(files.filter((file) => product.has(file)))]);
  };
  const casting = [...product].filter(([, source]) => /\bas unknown as\b/.test(source));
  return new Map([
    ...[...packages].map(([name, files]): [string, Measure] => [`packages/${name}`, linesIn(product, files)]),
    ['all packages', linesIn(product, [...product.keys()])],
    ['tests, tools and bench', linesIn(tests, [...tests.keys()])],
    ...Object.entries(walks).map(([walk, titles]): [string, Measure] => [walk, linesIn(product, passed(titles))]),
    [
      '`as unknown as`',
      {
        value: casting.reduce((sum, [, source]) => sum + source.split(/\bas unknown as\b/).length - 1, 0),
        files: casting.map(([file]) => file),
      },
    ],
  ]);
}

/** The rows of the table in docs/contributors/size.md. */
function readLimits(page: string): ReadonlyMap<string, number> {
  const table = page.split('| what | at most |')[1] ?? '';
  const rows = table.matchAll(/^\| (?<what>[^|]+) \| (?<most>[\d,]+) \|$/gm);
  return new Map([...rows].map(({ groups }) => [groups?.what ?? '', Number(groups?.most?.replaceAll(',', ''))]));
}

const shown = (value: number): string => value.toLocaleString('en');

/** A sentence for each measure above its limit, and each limit that a former page had lower. */
export function exceededLimits(
  measures: ReadonlyMap<string, Measure>,
  page: string,
  formerPages: readonly string[] = [],
): readonly string[] {
  const limits = readLimits(page);
  const former = formerPages.map(readLimits);
  return [
    ...[...measures].flatMap(([what, { value }]) => {
      const most = limits.get(what);
      if (most === undefined)
        return [`${what}: must have a row in ${pagePath}, such as '| ${what} | ${shown(value)} |'`];
      return value <= most ? [] : [`${what}: must be at most ${shown(most)}: current number is ${shown(value)}`];
    }),
    ...[...limits].flatMap(([what, most]) => {
      if (!measures.has(what)) return [`${what}: is a row in ${pagePath}, but nothing is measured by this name`];
      const lowest = Math.min(...former.map((rows) => rows.get(what) ?? most));
      return most <= lowest
        ? []
        : [
            `${what}: the limit may only fall, and was ${shown(lowest)} in a former commit: current limit is ${shown(most)}`,
          ];
    }),
  ];
}

/** A sentence for each file that is too long, and one if too many functions are. */
export function longParts(sources: Sources): readonly string[] {
  const long = [...sources].filter(([, source]) => linesOf(source) > linesOfFileMax);
  const ninth = quantile([...sources.values()].flatMap(functionLines), 0.9);
  return [
    ...long.map(
      ([file, source]) => `${file}: must have at most ${linesOfFileMax} lines: current number is ${linesOf(source)}`,
    ),
    ...(ninth > linesOfFunctionMax
      ? [`functions: 9 of 10 must have at most ${linesOfFunctionMax} lines: current number is ${ninth}`]
      : []),
  ];
}

/** The page as of each former commit, as far as the history is there. */
function readFormerPages(root: string): readonly string[] {
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    const commits = git('log', '--format=%H', '--', pagePath).trim().split('\n').filter(Boolean);
    return commits.map((commit) => git('show', `${commit}:${pagePath}`));
  } catch {
    return []; // no git, or no repository: a tarball has no history
  }
}

if (import.meta.main) {
  const root = fileURLToPath(new URL('../', import.meta.url));
  const read = (file: string): string => readFileSync(join(root, file), 'utf8');
  const readAll = (patterns: readonly string[], isWanted: (file: string) => boolean): Sources =>
    new Map(
      globSync([...patterns], { cwd: root, exclude: (name) => name === 'node_modules' || name === 'dist' })
        .map((file) => file.replaceAll('\\', '/'))
        .filter(isWanted)
        .toSorted()
        .map((file) => [file, read(file)]),
    );
  const extensions = '{ts,tsx,mjs,css,sql}';
  const isTest = (file: string): boolean => /\.test\.tsx?$|^packages\/[^/]+\/test\//.test(file);
  const product = readAll([`packages/**/*.${extensions}`], (file) => !isTest(file));
  const tests = readAll(
    [`packages/**/*.${extensions}`, `{test,tools,bench}/**/*.${extensions}`],
    (file) => isTest(file) || !file.startsWith('packages/'),
  );
  const measures = measure(product, tests, read('docs/contributors/walks.md'));
  const limits = readLimits(read(pagePath));
  if (!process.argv.includes('--check')) {
    const row = (cells: readonly (number | string)[], name: string): void =>
      console.log(`${cells.map((cell) => String(cell).padStart(8)).join('')}  ${name}`);
    row(['files', 'lines', 'median', 'largest'], '');
    const folders = Map.groupBy(product.keys(), (file) => dirname(file));
    for (const [folder, inside] of folders) {
      const lines = inside.map((file) => linesOf(product.get(file) ?? ''));
      row(
        [inside.length, lines.reduce((sum, each) => sum + each, 0), quantile(lines, 0.5), Math.max(...lines)],
        folder,
      );
    }
    console.log('\n   files  number at most');
    for (const [what, { value, files }] of measures) row([files.length, value, limits.get(what) ?? '-'], what);
  }
  const withoutConsole = new Map([...product].filter(([file]) => !file.startsWith('packages/console/')));
  const exceeded = [
    ...exceededLimits(measures, read(pagePath), readFormerPages(root)),
    ...longParts(new Map([...withoutConsole].filter(([file]) => /\.(?:ts|mjs)$/.test(file)))),
  ];
  for (const sentence of exceeded) console.log(sentence);
  if (process.argv.includes('--check') && exceeded.length > 0) process.exitCode = 1;
}
