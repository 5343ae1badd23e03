/** What `npm pack` reports about a tarball. */
export interface PackedPackage {
  readonly name: string;
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly unknown[];
}

/** Maximum relative difference between the table in the documentation and the packages. */
const tolerance = 0.25;

/** A row with files and kilobytes of each package. */
export function contentsTable(packages: readonly PackedPackage[]): string {
  const rows = packages.map(({ name, size, unpackedSize, files }) => {
    const kilobytes = [unpackedSize, size].map((bytes) => (bytes / 1000).toFixed(1));
    return `| ${[name, files.length, ...kilobytes].join(' | ')} |`;
  });
  return ['| package | files | kB unpacked | kB tarball |', '|---|---|---|---|', ...rows].join('\n');
}

/** The first row of a table that differs from an older table by more than the tolerance. */
export function staleRow(table: string, current: string): string | undefined {
  const known = new Map(table.split('\n').map((row) => [nameOf(row), numbersOf(row)]));
  return current.split('\n').find((row) => {
    const then = known.get(nameOf(row)) ?? [];
    return numbersOf(row).some(
      (number, index) => !(Math.abs(number - (then[index] ?? Number.NaN)) <= number * tolerance),
    );
  });
}

const cellsOf = (row: string): readonly string[] => row.split('|').map((cell) => cell.trim());
const nameOf = (row: string): string => cellsOf(row)[1] ?? '';
const numbersOf = (row: string): readonly number[] => cellsOf(row).slice(2, 5).map(Number).filter(Number.isFinite);
