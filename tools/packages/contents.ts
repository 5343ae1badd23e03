/** A file of a package and its size in bytes. */
export interface PackedFile {
  readonly path: string;
  readonly size: number;
}

/** What `npm pack` reports about a tarball. */
export interface PackedPackage {
  readonly name: string;
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly PackedFile[];
}

/** The parts of a package; a file belongs to the first one that matches. */
const parts: readonly (readonly [part: string, files: RegExp])[] = [
  ['source maps, with the sources', /\.map$/],
  ['type declarations', /\.d\.ts$/],
  ['migrations, `lib/service/storage/migrations/`', /^lib\/service\/storage\/migrations\//],
  ['modules, `lib/`', /^lib\//],
  ['consoles, `dist/console/`', /^dist\/console\//],
  ['OpenAPI documents', /^openapi/],
  ['manual page, `man/`', /^man\//],
  ['package.json, README, LICENSE, changelog', /./],
];

/** Maximum relative difference between the table in the documentation and the packages. */
const tolerance = 0.25;

/** The rows of a table of files and kilobytes, for each part of each package. */
export function contentsTable(packages: readonly PackedPackage[]): string {
  const rows = packages.flatMap(({ name, size, unpackedSize, files }) => [
    ...parts.flatMap(([part], index) => {
      const members = files.filter(({ path }) => parts.findIndex(([, pattern]) => pattern.test(path)) === index);
      return members.length === 0 ? [] : [rowOf(name, part, members.length, sum(members))];
    }),
    rowOf(name, '**unpacked**', files.length, unpackedSize),
    rowOf(name, '**tarball**', 1, size),
  ]);
  return ['| package | part | files | kB |', '|---|---|---|---|', ...rows].join('\n');
}

/** The first row of a table that differs from an older table by more than the tolerance. */
export function staleRow(table: string, current: string): string | undefined {
  const known = new Map(table.split('\n').map((row) => [labelOf(row), numbersOf(row)]));
  return current.split('\n').find((row) => {
    const then = known.get(labelOf(row)) ?? [];
    return numbersOf(row).some(
      (number, index) => !(Math.abs(number - (then[index] ?? Number.NaN)) <= number * tolerance),
    );
  });
}

const rowOf = (name: string, part: string, count: number, bytes: number): string =>
  `| ${name} | ${part} | ${count} | ${(bytes / 1000).toFixed(1)} |`;
const sum = (files: readonly PackedFile[]): number => files.reduce((total, { size }) => total + size, 0);
const cellsOf = (row: string): readonly string[] => row.split('|').map((cell) => cell.trim());
const labelOf = (row: string): string => cellsOf(row).slice(1, 3).join(': ');
const numbersOf = (row: string): readonly number[] => cellsOf(row).slice(3, 5).map(Number).filter(Number.isFinite);
