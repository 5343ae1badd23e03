import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { fileURLToPath } from 'node:url';

const source = fileURLToPath(new URL('../packages/', import.meta.url));

/** The files of packages/, without `.ts`, that ran for the requests of each walk. */
type Trace = ReadonlyMap<string, readonly string[]>;

export interface WalkTraces {
  readonly sqlite: Trace;
  readonly postgres: Trace;
}

/** The walks of requests to the public listener, in which the files of every request run. */
const publicWalks = ['A page', 'The whole report', 'A summary', 'Changes', 'A token'];
const reportWalks = publicWalks.slice(0, -1);
/** Walks that list their files for tokens themselves: they do not check an access token. */
const withoutAccessToken = ['A token', 'An action of the operator', 'A session of the console'];

/** Files of one engine, and those that run on both. */
interface Section {
  readonly both: readonly string[];
  readonly sqlite: readonly string[];
  readonly postgres: readonly string[];
}

/** The sections of docs/contributors/walks.md, by title. */
function sectionsOf(traces: WalkTraces): Map<string, Section> {
  const both = [traces.sqlite, traces.postgres];
  const every = [
    ...new Set([...filesOfAll(both, publicWalks), ...both.flatMap((trace) => ofSeveral(trace, /^metrics\//))]),
  ];
  const checks = [
    ...filesOfAll(both, reportWalks).filter((file) => file.startsWith('http/listener/')),
    ...reportWalks
      .flatMap((walk) => filesOf(traces, walk))
      .filter((file) => /^auth\/|^storage\/tables\/(?:auth-key|client)$/.test(file)),
  ];
  const token = [...new Set(checks)].filter((file) => !every.includes(file));
  const store = { sqlite: ofSeveral(traces.sqlite, ofEngine), postgres: ofSeveral(traces.postgres, ofEngine) };
  const sections = new Map<string, Section>([
    ['Every request', { both: every, sqlite: [], postgres: [] }],
    ['The store', { both: [], ...store }],
    ['The access token', { both: token, sqlite: [], postgres: [] }],
  ]);
  for (const walk of traces.sqlite.keys()) {
    const known = [...every, ...store.sqlite, ...store.postgres, ...(withoutAccessToken.includes(walk) ? [] : token)];
    const ofLoading = walk === 'A replacement' ? filesOf(traces, 'Loading records') : [];
    const own = filesOf(traces, walk).filter((file) => !known.includes(file) && !ofLoading.includes(file));
    sections.set(walk, {
      both: own.filter((file) => !ofEngine.test(file)),
      sqlite: own.filter((file) => file.startsWith('storage/sqlite/')),
      postgres: own.filter((file) => file.startsWith('storage/postgres/')),
    });
  }
  return sections;
}

/** The files that run on any engine. */
const filesOf = (traces: WalkTraces, walk: string): readonly string[] => [
  ...new Set([...(traces.sqlite.get(walk) ?? []), ...(traces.postgres.get(walk) ?? [])]),
];

/** The files that run for each of the walks in each of the traces. */
function filesOfAll(traces: readonly Trace[], walks: readonly string[]): readonly string[] {
  const [first = [], ...others] = traces.flatMap((trace) => walks.map((walk) => trace.get(walk) ?? []));
  return first.filter((file) => others.every((files) => files.includes(file)));
}

const ofEngine = /^storage\/(?:sqlite|postgres)\//;

/** The files with such a path that run for at least two of the public walks. */
function ofSeveral(trace: Trace, path: RegExp): readonly string[] {
  const ran = publicWalks.flatMap((walk) => [...new Set(trace.get(walk) ?? [])]).filter((file) => path.test(file));
  return [...new Set(ran)].filter((file) => ran.filter((each) => each === file).length > 1);
}

/** The files that each source file imports or starts as a thread, in the order of its text. */
function readImports(): ReadonlyMap<string, readonly string[]> {
  return new Map(
    globSync('**/*.ts', { cwd: source, exclude: ['*/test/**'] }).map((file) => {
      const paths = readFileSync(join(source, file), 'utf8').matchAll(/(?:from|import\(|new URL\()\s*'(\.[^']+)'/g);
      return [shortName(file), [...paths].map(([, path = '']) => shortName(join(dirname(file), path)))];
    }),
  );
}

const shortName = (file: string): string => file.replaceAll('\\', '/').replace(/^service\/|\.ts$/g, '');

/** Sorts files as a reader meets them: each after a file that imports it, depth first. */
function inReadingOrder(files: readonly string[], imports: ReadonlyMap<string, readonly string[]>): string[] {
  // routes first
  const left = new Set(
    files.toSorted((a, b) => Number(b.startsWith('http/')) - Number(a.startsWith('http/')) || (a < b ? -1 : 1)),
  );
  const sorted: string[] = [];
  const visit = (file: string): void => {
    if (!left.delete(file)) return;
    sorted.push(file);
    for (const next of imports.get(file) ?? []) visit(next);
  };
  const imported = new Set([...left].flatMap((file) => imports.get(file) ?? []));
  for (const file of [...left].filter((each) => !imported.has(each))) visit(file);
  for (const file of left) visit(file);
  return sorted;
}

/** The generated part of docs/contributors/walks.md. */
export function walksPart(traces: WalkTraces): string {
  const imports = readImports();
  const listOf = (files: readonly string[]): string =>
    inReadingOrder(files, imports)
      .map((file) => `\`${file}\``)
      .join(', ');
  return [...sectionsOf(traces)]
    .map(([title, { both, sqlite, postgres }]) => {
      const lines = [
        ...(both.length > 0 ? [`- on both engines ${both.length}: ${listOf(both)}`] : []),
        ...(sqlite.length > 0 ? [`- on SQLite ${sqlite.length}: ${listOf(sqlite)}`] : []),
        ...(postgres.length > 0 ? [`- on PostgreSQL ${postgres.length}: ${listOf(postgres)}`] : []),
      ];
      return `## ${title}\n\n${lines.join('\n')}`;
    })
    .join('\n\n');
}

/** Reads the generated part back: the files of each walk. */
export function readWalks(page: string): ReadonlyMap<string, Section> {
  const filesOf = (section: string, line: RegExp): string[] =>
    [...(line.exec(section)?.[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, file = '']) => file);
  return new Map(
    page
      .split('\n## ')
      .slice(1)
      .filter((section) => /^- on /m.test(section))
      .map((section) => [
        section.split('\n')[0] ?? '',
        {
          both: filesOf(section, /^- on both engines \d+: (.+)$/m),
          sqlite: filesOf(section, /^- on SQLite \d+: (.+)$/m),
          postgres: filesOf(section, /^- on PostgreSQL \d+: (.+)$/m),
        },
      ]),
  );
}
