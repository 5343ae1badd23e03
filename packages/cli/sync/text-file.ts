import { DecompressionStream, ReadableStream, type ReadableWritablePair } from 'node:stream/web';
import { revealText } from '../../contract/csv.ts';
import { recordFields } from '../../contract/record-fields.ts';
import { batchOf, type RecordBatch, valuesOfJson } from './compare-records.ts';
import { cellsOf } from './csv-file.ts';
import { SyncError } from './error.ts';
import { linesOf } from './read-source.ts';

/** The records of a file or an export of lines. */
export class RecordLines {
  readonly #bytes: AsyncIterable<Uint8Array>;
  readonly #isCsv: boolean;
  /** The line of the column names, once it was read; none in NDJSON. */
  header: string | undefined;

  constructor(bytes: AsyncIterable<Uint8Array>, format: 'csv' | 'ndjson') {
    this.#bytes = bytes;
    this.#isCsv = format === 'csv';
  }

  async *batches(): AsyncGenerator<RecordBatch, void, undefined> {
    const valuesOf = this.#isCsv ? valuesOfCsv : valuesOfJson;
    for await (const lines of linesOf(this.#bytes)) {
      const hasHeader = this.#isCsv && this.header === undefined;
      if (hasHeader) this.header = lines[0] ?? '';
      yield batchOf(hasHeader ? lines.slice(1) : lines, valuesOf);
    }
  }
}

/** The values of a line of CSV; `undefined` if it has another number of cells than a record. */
function valuesOfCsv(line: string): readonly unknown[] | undefined {
  const cells = cellsOf(line);
  if (cells.length !== recordFields.length) return undefined;
  return cells.map((cell) => (cell === undefined ? undefined : revealText(cell)));
}

/** Decompresses a stream. Throws `SyncError` `NOT_EQUAL` if it is no gzip, or not all of it. */
export async function* gunzip(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const whole = new DecompressionStream('gzip') as ReadableWritablePair<Uint8Array, Uint8Array>;
  try {
    yield* ReadableStream.from(chunks).pipeThrough(whole);
  } catch (error) {
    const { code = '' } = error as { code?: string };
    if (!(error instanceof TypeError) && !/^(Z_|ERR_TRAILING)/.test(code)) throw error;
    throw new SyncError('NOT_EQUAL', 'it must be gzip from its first to its last byte', { cause: error });
  }
}
