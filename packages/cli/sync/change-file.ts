import { guardText, revealText, writeCsvLine, writeRecordLine } from '../../contract/csv.ts';
import { type RecordField, recordFields } from '../../contract/record-fields.ts';
import { cellsOf } from './csv-file.ts';
import type { ChangedRows } from './destination.ts';
import { SyncError } from './error.ts';
import { type CsvValues, changeColumnsOf, describeColumns, type SnapshotFormat } from './file-format.ts';
import { linesOf } from './read-source.ts';
import { type Row, rowOf, valuesOf } from './record-row.ts';
import { gunzip } from './text-file.ts';

/** The format of a file, and how CSV has its values. */
interface FileKind {
  readonly format: SnapshotFormat;
  readonly values: CsvValues;
}

/** Converts lines of the change feed to the content of an increment, before compression. */
export async function* fileOfChanges(
  batches: AsyncIterable<readonly string[]>,
  { format, values }: FileKind,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (format === 'parquet') return yield* parquetOf(batches);
  const isCsv = format.startsWith('csv');
  if (isCsv) yield Buffer.from(writeCsvLine(changeColumnsOf(format).map(({ name }) => name)));
  const lineOf = isCsv ? (line: string) => csvLineOf(line, values) : (line: string) => `${line}\n`;
  for await (const lines of batches) if (lines.length > 0) yield Buffer.from(lines.map(lineOf).join(''));
}

async function* parquetOf(batches: AsyncIterable<readonly string[]>): AsyncGenerator<Uint8Array, void, undefined> {
  const { ParquetEncoder } = await import('../../contract/parquet.ts');
  const encoder = new ParquetEncoder('changes');
  for await (const lines of batches) {
    const bytes = lines.length > 0 ? encoder.add(Buffer.from(lines.join('\n'))) : undefined;
    if (bytes?.length) yield bytes;
  }
  yield encoder.end();
}

function csvLineOf(line: string, values: CsvValues): string {
  const change = changeOf(line);
  const found = typeof change === 'string' ? recordFields.map(({ name }) => idIn(name, change)) : valuesOf(change);
  const cells = found.map((value) => (value === undefined ? undefined : String(value)));
  const written = values === 'raw' ? cells : cells.map((cell) => cell && guardText(cell));
  return writeRecordLine([...written, String(typeof change === 'string')]);
}

const idIn = (name: string, id: string): string | undefined => (name === 'id' ? id : undefined);

/** The row of a line of the change feed, or the id of a removed record. */
function changeOf(line: string): Row | string {
  const [, quoted] = /^\{"id":("(?:[^"\\]|\\.)*"),"removed":true\}$/.exec(line) ?? [];
  return quoted === undefined ? rowOf(line) : JSON.parse(quoted);
}

/**
 * The rows of a file of records or of changes. Throws `SyncError` `NOT_EQUAL` if it has anything
 * else.
 *
 * @param onColumns called with the line of the column names of CSV, the columns of Parquet
 */
export async function* changesOfFile(
  bytes: AsyncIterable<Uint8Array>,
  { format, values }: FileKind,
  onColumns: (found: string) => void,
): AsyncGenerator<ChangedRows, void, undefined> {
  if (format === 'parquet') return yield* changesOfParquet(bytes, onColumns);
  const isCsv = format.startsWith('csv');
  const read = isCsv ? (line: string) => changeOfCells(cellsOf(line), values) : changeOf;
  let isFirst = isCsv;
  for await (const lines of linesOf(format.endsWith('.gz') ? gunzip(bytes) : bytes)) {
    if (isFirst) onColumns(lines[0]?.replace(/\r$/, '') ?? '');
    const found = (isFirst ? lines.slice(1) : lines).map((line) => readLine(line, read));
    isFirst = false;
    yield {
      rows: found.filter((change) => typeof change !== 'string'),
      removed: found.filter((change) => typeof change === 'string'),
    };
  }
}

async function* changesOfParquet(
  bytes: AsyncIterable<Uint8Array>,
  onColumns: (found: string) => void,
): AsyncGenerator<ChangedRows, void, undefined> {
  const { ParquetFile } = await import('./parquet-file.ts');
  const file = await ParquetFile.store(bytes);
  try {
    yield* file.changes();
    onColumns(describeColumns(file.columns));
  } finally {
    await file.remove();
  }
}

function readLine(line: string, read: (line: string) => Row | string): Row | string {
  try {
    return read(line);
  } catch (cause) {
    throw new SyncError('NOT_EQUAL', `it must have records, and no '${line.slice(0, 200)}'`, { cause });
  }
}

function changeOfCells(cells: readonly (string | undefined)[], values: CsvValues): Row | string {
  const more = cells.length - recordFields.length;
  const removed = cells[recordFields.length];
  if (more > 1 || more < 0 || (more === 1 && removed !== 'true' && removed !== 'false'))
    throw new TypeError('Cannot read the line: it must have the columns of the file');
  const texts = values === 'raw' ? cells : cells.map((cell) => cell && revealText(cell));
  const row = recordFields.map((field, index) => cellOf(field, texts[index])) as unknown as Row;
  return removed === 'true' ? row[0] : row;
}

function cellOf({ type }: RecordField, text: string | undefined): string | number | boolean | null {
  if (text === undefined) return null;
  if (type === 'integer') return Number(text);
  return type === 'boolean' ? text === 'true' : text;
}
