import { guardText, revealText, writeCsvLine, writeRecordLine } from '../../../contract/csv.ts';
import { linesOf } from '../source/read-source.ts';
import { type Cell, type ColumnType, columns, lineOf, type Row, rowOf } from '../source/record-row.ts';
import type { CsvValues } from './file-format.ts';

/** The line of the column names. */
export const csvHeader = columns.map(({ name }) => name).join(',');

/** Converts an NDJSON export to the content of a file of CSV. */
export async function* csvOfExport(
  bytes: AsyncIterable<Uint8Array>,
  values: CsvValues,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield Buffer.from(writeCsvLine(columns.map(({ name }) => name)));
  for await (const lines of linesOf(bytes))
    yield Buffer.from(lines.map((line) => csvLineOf(rowOf(line), values)).join(''));
}

function csvLineOf(row: Row, values: CsvValues): string {
  const cells = row.map((cell) => (cell === null ? undefined : String(cell)));
  return writeRecordLine(values === 'raw' ? cells : cells.map((cell) => cell && guardText(cell)));
}

/** The line of the NDJSON export that a line of CSV is made of; itself if it is made of none. */
export function exportLineOf(csvLine: string, values: CsvValues): string {
  const cells = cellsOf(csvLine);
  const texts = values === 'raw' ? cells : cells.map((cell) => cell && revealText(cell));
  const row = columns.map(({ type }, index) => cellOf(texts[index], type));
  return csvLineOf(row, values) === `${csvLine}\n` ? lineOf(row) : csvLine;
}

/** The cells of a line; `undefined` for one that is absent. No cell has a line break. */
export const cellsOf = (line: string): readonly (string | undefined)[] =>
  [...line.replace(/\r$/, '').matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
    ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? (plain === '' ? undefined : plain),
  );

function cellOf(text: string | undefined, type: ColumnType): Cell {
  if (text === undefined) return null;
  if (type === 'boolean') return text === 'true';
  return type === 'integer' ? Number(text) : text;
}
