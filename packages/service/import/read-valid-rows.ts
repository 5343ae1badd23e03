import { setImmediate } from 'node:timers/promises';
import type { LoadCounts } from '../storage/store.ts';
import type { SubscriptionRow } from '../storage/subscription-row.ts';
import { checkRow, type RowFault, type SourceRow, type Spellings } from './check-row.ts';
import type { ColumnMapping } from './csv-layout.ts';
import { type DecompressionLimits, decompress, fileWindowBytesMax } from './decompress.ts';
import { toUtf8 } from './encoding.ts';
import { ImportError } from './error.ts';
import { readCsv } from './read-csv.ts';
import { readNdjson } from './read-ndjson.ts';
import { checkedText } from './source-head.ts';

export const importFormats = ['ndjson', 'csv'] as const;
export type ImportFormat = (typeof importFormats)[number];

/** A row that was not loaded, and why. */
export interface RejectedRow {
  readonly line: number;
  readonly errors: readonly RowFault[];
  /** The row as it appears in the source. */
  readonly raw: string;
}

/** Sources that decompress to more are rejected as a mistake. */
const decompressedMax = 64 * 2 ** 30;
export interface SourceOptions {
  readonly format: ImportFormat;
  /** Which columns of CSV are which fields; by default, those with their names. */
  readonly mapping?: ColumnMapping | undefined;
  /** The encoding of its text; by default, UTF-8. */
  readonly encoding?: string | undefined;
  /** Limits of a compressed source, by default those of a file. */
  readonly decompression?: Partial<DecompressionLimits>;
  /**
   * Called for each rejected row, in the order of the source. Later rows become durable only after
   * it resolves.
   */
  readonly onRejected: (row: RejectedRow) => Promise<void> | void;
  /** Maximum rejected rows; one more aborts the import. */
  readonly rejectedMax?: number;
  /** Called occasionally with the number of rows read. */
  readonly onProgress?: (read: number) => void;
  /** Id of this import, stored with each commit. */
  readonly importId?: string;
  /** Called under the tenant's import lock, before the first row is read. */
  readonly onStart?: () => Promise<void>;
  /** Called when reading ends, also with an error, with the counts so far. */
  readonly onCounts?: (counts: LoadCounts & Tally) => void;
}

/** Rows read so far. */
export interface Tally {
  read: number;
  rejected: number;
  /** Rows of CSV without a record, which `read` does not count. */
  skipped: number;
  /** The first valid records, as JSON. */
  readonly first: string[];
  /** Spellings of booleans other than `true` and `false`, and what each means. */
  readonly spellings: Spellings;
}

export const noRowsYet = (): Tally => ({ read: 0, rejected: 0, skipped: 0, first: [], spellings: new Map() });

/** Most records in `first`. */
const firstMax = 3;

export interface RowReading extends SourceOptions {
  /** Counts all rows while they are read. */
  readonly tally: Tally;
}

/** Reads the valid rows of a source, and reports the rejected ones. */
export async function* readValidRows(
  source: AsyncIterable<Buffer>,
  reading: RowReading,
): AsyncGenerator<SubscriptionRow> {
  for await (const sourceRow of readRows(source, reading)) {
    reading.tally.read += 1;
    const { content } = sourceRow;
    const checked = 'faults' in content ? content : checkRow(content.value, reading.tally.spellings);
    if ('row' in checked) {
      if (reading.tally.first.length < firstMax) reading.tally.first.push(checked.row.record);
      yield checked.row;
    } else await rejectRow(sourceRow, checked.faults, reading);
    const turn = endTurn();
    if (turn !== undefined) await turn;
  }
}

async function rejectRow(
  { line, raw }: SourceRow,
  errors: readonly RowFault[],
  { tally, onRejected, rejectedMax = Number.POSITIVE_INFINITY }: RowReading,
): Promise<void> {
  tally.rejected += 1;
  await onRejected({ line, errors, raw });
  if (tally.rejected <= rejectedMax) return;
  const rule = `at most ${rejectedMax} rows may be rejected; correct the source first`;
  throw new ImportError('BAD_ROWS', `Cannot continue past line ${line}: ${rule}`);
}

/** The text of a source in UTF-8. */
export const decompressed = (
  source: AsyncIterable<Buffer>,
  { decompression: { bytesMax = decompressedMax, windowBytesMax = fileWindowBytesMax } = {}, encoding }: SourceOptions,
): AsyncIterable<Buffer> => {
  const bytes = decompress(source, { bytesMax, windowBytesMax });
  return encoding === undefined ? bytes : toUtf8(bytes, encoding);
};

/** The rows of a source, valid or not. */
export function readRows(
  source: AsyncIterable<Buffer>,
  { format, mapping, tally }: RowReading,
): AsyncGenerator<SourceRow> {
  const text = checkedText(source);
  if (format === 'ndjson') return readNdjson(text);
  const onSkipped = (): void => {
    tally.skipped += 1;
  };
  return readCsv(text, { mapping, onSkipped });
}

/**
 * Longest time in milliseconds that rows are processed without yielding to the event loop, because
 * a service that imports must also serve other requests. One turn of the loop may contain it twice:
 * after bytes arrived, and after an import has waited.
 */
const turnMsMax = 5;

let began = performance.now();
let last: Promise<void> = Promise.resolve();

/**
 * Called between rows: a promise if it is time to yield to the event loop. All imports of a process
 * share the time of a turn: those that wait continue one after another, each in a turn of its own.
 */
export function endTurn(): Promise<void> | undefined {
  if (performance.now() - began <= turnMsMax) return undefined;
  last = last
    .then(() => setImmediate())
    .then(() => {
      began = performance.now();
    });
  return last;
}
