import { CompressionStream, DecompressionStream, ReadableStream, type ReadableWritablePair } from 'node:stream/web';
import { writeCsvLine, writeRecordLine } from '../../../contract/csv.ts';
import { SyncError } from '../source/error.ts';
import { linesOf } from '../source/read-source.ts';
import { type Cell, type ColumnType, columns, lineOf, type Row, rowOf } from '../source/record-row.ts';
import { differ, type Manifest } from './manifest.ts';

/** The line of the column names. */
export const csvHeader = columns.map(({ name }) => name).join(',');

/** Converts an NDJSON export to the content of a file of CSV. */
export async function* csvOfExport(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  yield Buffer.from(writeCsvLine(columns.map(({ name }) => name)));
  for await (const lines of linesOf(bytes)) yield Buffer.from(lines.map((line) => csvLineOf(rowOf(line))).join(''));
}

const csvLineOf = (row: Row): string => writeRecordLine(row.map((cell) => (cell === null ? undefined : String(cell))));

/**
 * Returns the NDJSON line from which this CSV line was written, or the CSV line unchanged if no
 * NDJSON line gives it.
 */
export function exportLineOf(csvLine: string): string {
  const cells = cellsOf(csvLine);
  const row = columns.map(({ type }, index) => cellOf(cells[index], type));
  return csvLineOf(row) === `${csvLine}\n` ? lineOf(row) : csvLine;
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

/** Yields the NDJSON lines from which a file of CSV or NDJSON was written. */
export async function* linesOfText(
  bytes: AsyncIterable<Uint8Array>,
  { format }: Pick<Manifest, 'format'>,
  faults: string[],
): AsyncGenerator<readonly string[], void, undefined> {
  const content = withEnd(format.endsWith('.gz') ? gunzip(bytes) : bytes, faults);
  if (!format.startsWith('csv')) return yield* linesOf(content);
  let header: string | undefined;
  for await (const lines of linesOf(content)) {
    const records = header === undefined ? lines.slice(1) : lines;
    header ??= lines[0];
    yield records.map(exportLineOf);
  }
  faults.push(...differ('columns', header?.replace(/\r$/, '') ?? '', csvHeader));
}

const lineFeed = 10;

/** Passes the bytes on; the last one must be a line feed. */
async function* withEnd(
  bytes: AsyncIterable<Uint8Array>,
  faults: string[],
): AsyncGenerator<Uint8Array, void, undefined> {
  let last: number | undefined = lineFeed;
  for await (const chunk of bytes) {
    last = chunk.at(-1) ?? last;
    yield chunk;
  }
  if (last !== lineFeed) faults.push('it must end with a line feed');
}

/** Compresses a stream; an error of the source is the error of the result. */
export const gzip = (chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> =>
  ReadableStream.from(chunks).pipeThrough(
    new CompressionStream('gzip') as ReadableWritablePair<Uint8Array, Uint8Array>,
  );

/** Decompresses a stream. Throws `SyncError` `NOT_EQUAL` if it is not gzip, or truncated. */
async function* gunzip(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const whole = new DecompressionStream('gzip') as ReadableWritablePair<Uint8Array, Uint8Array>;
  try {
    yield* ReadableStream.from(chunks).pipeThrough(whole);
  } catch (error) {
    const { code = '' } = error as { code?: string };
    if (!(error instanceof TypeError) && !/^(Z_|ERR_TRAILING)/.test(code)) throw error;
    throw new SyncError('NOT_EQUAL', 'it must be gzip from its first to its last byte', { cause: error });
  }
}
