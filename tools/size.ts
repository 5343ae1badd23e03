import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readWalks } from './walks.ts';

// `npm run size`: files, lines and quantiles of each folder of packages/ without tests and
// consoles, lengths of functions, and files and lines of the walks in docs/contributors/walks.md.
// With --check, which `npm run ok` uses, it prints only what exceeds a limit, and fails. Biome
// checks imports and circles.

const linesOfFileMax = 400;
const linesOfFunctionMax = 25;
/** How far a walk may grow over its row of docs/contributors/size.md. */
const room = 1.05;

/** Texts of source files by path from the root, such as `packages/service/report/plan.ts`. */
type Sources = ReadonlyMap<string, string>;
/** Paths of source files by the walk that passes them. */
type Walks = ReadonlyMap<string, readonly string[]>;

const linesOf = (source: string): number => source.split('\n').length - 1;

function linesOfAll(sources: Sources, files: readonly string[]): number {
  return files.reduce((sum, file) => sum + linesOf(sources.get(file) ?? ''), 0);
}

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

/** The files of each walk on PostgreSQL, and of a page with what every report request passes. */
export function walksOnPostgres(sources: Sources, page: string): Walks {
  const walks = new Map(
    [...readWalks(page)].map(([walk, { both, postgres }]) => [
      walk,
      [...both, ...postgres]
        .flatMap((file) => [`packages/service/${file}.ts`, `packages/${file}.ts`])
        .filter((file) => sources.has(file)),
    ]),
  );
  const ofPage = ['Every request', 'The store', 'The access token', 'A page'];
  return walks.set('A page on PostgreSQL', [...new Set(ofPage.flatMap((walk) => walks.get(walk) ?? []))]);
}

/** The rows of the table in docs/contributors/size.md: files and lines by walk. */
function readLimits(page: string): ReadonlyMap<string, { files: number; lines: number }> {
  const rows = page.matchAll(/^\| (?<walk>[^|]+) \| (?<files>[\d,]+) \| (?<lines>[\d,]+) \|$/gm);
  const count = (text = ''): number => Number(text.replaceAll(',', ''));
  return new Map(
    [...rows].map(({ groups }) => [groups?.walk ?? '', { files: count(groups?.files), lines: count(groups?.lines) }]),
  );
}

/** Every exceeded limit in a sentence; `sizePage` is the text of docs/contributors/size.md. */
export function exceededLimits(sources: Sources, walks: Walks, sizePage: string): readonly string[] {
  const limits = readLimits(sizePage);
  const long = [...sources]
    .filter(([, source]) => linesOf(source) > linesOfFileMax)
    .map(
      ([file, source]) => `${file}: must have at most ${linesOfFileMax} lines: current number is ${linesOf(source)}`,
    );
  const ninth = quantile([...sources.values()].flatMap(functionLines), 0.9);
  const functions =
    ninth > linesOfFunctionMax
      ? [`functions: 9 of 10 must have at most ${linesOfFunctionMax} lines: current number is ${ninth}`]
      : [];
  const grown = [...walks].flatMap(([walk, files]) => {
    const row = limits.get(walk);
    const lines = linesOfAll(sources, files);
    const is = `| ${walk} | ${files.length} | ${lines.toLocaleString('en')} |`;
    if (row === undefined) return [`${walk}: must have a row in docs/contributors/size.md, such as '${is}'`];
    const most = { files: Math.ceil(row.files * room), lines: Math.ceil(row.lines * room) };
    if (files.length <= most.files && lines <= most.lines) return [];
    return [
      `${walk}: must have at most ${most.files} files and ${most.lines.toLocaleString('en')} lines, 5 % over its row in docs/contributors/size.md: current row is '${is}'`,
    ];
  });
  const gone = [...limits.keys()]
    .filter((walk) => !walks.has(walk))
    .map((walk) => `${walk}: is a row in docs/contributors/size.md, but no walk of docs/contributors/walks.md`);
  return [...long, ...functions, ...grown, ...gone];
}

function print(sources: Sources, name: string, files: readonly string[]): void {
  const lines = files.map((file) => linesOf(sources.get(file) ?? ''));
  const cells = [
    files.length,
    linesOfAll(sources, files),
    quantile(lines, 0.5),
    quantile(lines, 0.9),
    Math.max(...lines, 0),
  ];
  console.log(`${cells.map((cell) => String(cell).padStart(8)).join('')}  ${name}`);
}

if (import.meta.main) {
  const root = fileURLToPath(new URL('../', import.meta.url));
  const read = (file: string): string => readFileSync(`${root}/${file}`, 'utf8');
  const files = globSync('packages/**/*.{ts,mjs}', {
    cwd: root,
    exclude: ['packages/console/**', 'packages/*/test/**'],
  })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !file.includes('.test.'));
  const sources: Sources = new Map(files.toSorted().map((file) => [file, read(file)]));
  const walks = walksOnPostgres(sources, read('docs/contributors/walks.md'));
  if (!process.argv.includes('--check')) {
    console.log('   files   lines  median     p90 largest');
    const folders = Map.groupBy(sources.keys(), (file) => file.split('/').slice(0, -1).join('/'));
    for (const [folder, inside] of folders) print(sources, folder, inside);
    console.log('\npackages');
    const packages = Map.groupBy(sources.keys(), (file) => file.split('/')[1] ?? '');
    for (const [name, inside] of packages) print(sources, name, inside);
    console.log('\nwalks on PostgreSQL');
    for (const [walk, passed] of walks) print(sources, walk, passed);
    const functions = [...sources.values()].flatMap(functionLines);
    console.log(
      `\nfunctions: ${functions.length}, median ${quantile(functions, 0.5)} lines, 9 of 10 within ${quantile(functions, 0.9)}`,
    );
  }
  const exceeded = exceededLimits(sources, walks, read('docs/contributors/size.md'));
  for (const sentence of exceeded) console.log(sentence);
  if (process.argv.includes('--check') && exceeded.length > 0) process.exitCode = 1;
}
