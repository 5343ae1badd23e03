import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readWalks } from './walks.ts';

// `npm run size`: files, lines and medians of src/ without tests, lengths of functions, and the
// files and lines of the walks in docs/contributing/walks.md. With --check, exceeded limits fail;
// `npm run ok` does that.

const root = fileURLToPath(new URL('../', import.meta.url));

/**
 * The most files and lines of each part, and the 9th decile of the lengths of functions. Each is
 * what held in November 2026, when records had got a history, with 2 % of room, or the goal where
 * that holds. Delete something before you raise one (docs/decisions/speed.md#size). src has 51
 * files and 7,170 lines more for the programs of readers, src/sync (with 5 and 930 for syncs of a
 * file on a schedule, 7 and 1,300 for webhooks, Singer and Airbyte, 9 and 1,470 for files in
 * folders, S3 and SFTP), src/mcp and src/conform (15 and 1,660), which the service does not know,
 * and 11 files and 1,570 lines for src/mirror with the operations of its tenant. 120 lines are for
 * the progress of the doctor and the comparison of records in SQL, and for the counts of a plan;
 * 80 for the size of the history and its sweeps in the metrics. A page passes 40 of the lines that
 * read a plan from its products, and late pages from their end.
 * The findings have 4 files and 520 lines, of which a page passes the routes and the senders (50).
 * A load reads whether its tenant is a mirror, in one more file. 3 files and 500 lines more are for
 * the status and the check of webhooks, the timeout of a run, receivers of files that fail, and
 * what the pages say of a subscriber without subscriptions.
 */
const limits = {
  src: { files: 447, lines: 51_980 },
  'A page on PostgreSQL': { files: 64, lines: 7_490 },
  'A token': { files: 20 },
  'Loading records': { files: 36 },
  'An action of the operator': { files: 22 },
  linesOfFile: 400,
  linesOfFunction: 25,
};

const sources = new Map(
  globSync('src/**/*.{ts,mjs}', { cwd: root })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !file.includes('.test.'))
    .toSorted()
    .map((file) => [file, readFileSync(`${root}/${file}`, 'utf8')]),
);
const linesOf = (file: string): number => (sources.get(file)?.split('\n').length ?? 1) - 1;
const linesOfAll = (files: readonly string[]): number => files.reduce((sum, file) => sum + linesOf(file), 0);

/** The value below or at which this share of the values is. */
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

let exceeded = 0;

function print(name: string, files: readonly string[], limit: { files?: number; lines?: number } = {}): void {
  const lines = linesOfAll(files);
  const over =
    files.length > (limit.files ?? Number.POSITIVE_INFINITY) || lines > (limit.lines ?? Number.POSITIVE_INFINITY);
  if (over) exceeded += 1;
  const cells = [files.length, lines, quantile(files.map(linesOf), 0.5), Math.max(...files.map(linesOf), 0)];
  const bounds = Object.entries(limit).map(([unit, most]) => `${most.toLocaleString('en')} ${unit}`);
  const note = bounds.length === 0 ? '' : `  ${over ? 'EXCEEDS' : 'within'} ${bounds.join(', ')}`;
  console.log(`${cells.map((cell) => String(cell).padStart(8)).join('')}  ${name}${note}`);
}

console.log('   files   lines  median largest');
const folders = Map.groupBy(sources.keys(), (file) => file.split('/').slice(0, -1).join('/'));
for (const [folder, files] of folders) print(folder, files);
print('src', [...sources.keys()], limits.src);

const walks = readWalks(readFileSync(`${root}/docs/contributing/walks.md`, 'utf8'));
const filesOf = (walk: string): readonly string[] => {
  const { both = [], postgres = [] } = walks.get(walk) ?? {};
  return [...both, ...postgres].map((file) => `src/${file}.ts`).filter((file) => sources.has(file));
};
const missing = [...walks.values()]
  .flatMap(({ both, sqlite, postgres }) => [...both, ...sqlite, ...postgres])
  .filter((file) => !sources.has(`src/${file}.ts`));
const ofPage = ['Every request', 'The store', 'The access token', 'A page'].flatMap(filesOf);
console.log(
  `\nwalks on PostgreSQL${missing.length === 0 ? '' : ` (${new Set(missing).size} files are gone: npm run walks)`}`,
);
for (const walk of walks.keys()) {
  const limit = walk in limits ? limits[walk as 'A token'] : {};
  print(walk, filesOf(walk), limit);
}
print('A page on PostgreSQL', [...new Set(ofPage)], limits['A page on PostgreSQL']);

const functions = [...sources.values()].flatMap(functionLines);
const longFiles = [...sources.keys()].filter((file) => linesOf(file) > limits.linesOfFile);
const ninth = quantile(functions, 0.9);
if (ninth > limits.linesOfFunction) exceeded += 1;
exceeded += longFiles.length;
console.log(
  `\nfunctions: ${functions.length}, median ${quantile(functions, 0.5)} lines, 9 of 10 within ${ninth} (${limits.linesOfFunction})`,
);
console.log(`files of more than ${limits.linesOfFile} lines: ${longFiles.join(', ') || 'none'}`);
console.log(exceeded === 0 ? 'size: every limit is met' : `size: ${exceeded} limits are exceeded`);
if (process.argv.includes('--check') && exceeded > 0) process.exitCode = 1;
