import { setImmediate } from 'node:timers/promises';
import type { LoadCounts } from '../storage/store.ts';
import type { SubscriptionRow } from '../storage/subscription-row.ts';
import { checkRow } from './check-row.ts';
import { decompress } from './decompress.ts';
import { ImportError } from './error.ts';
import { readCsv } from './read-csv.ts';
import { readNdjson } from './read-ndjson.ts';
import type { Resumption } from './resume-import.ts';
import type { RowFault, SourceRow } from './source-row.ts';

/** The formats that can be imported. */
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
export const decompressedGibMax = 64;
const gib = 2 ** 30;
/**
 * Longest time in milliseconds that rows are processed without yielding to the event loop, because
 * a service that imports must also serve other requests.
 */
const turnMsMax = 10;

export interface SourceOptions {
  readonly format: ImportFormat;
  /** Maximum bytes that a compressed source may decompress to. */
  readonly decompressedBytesMax?: number;
  /**
   * Called for each rejected row, in the order of the source. Later rows become durable only after
   * it resolves.
   */
  readonly onRejected: (row: RejectedRow) => Promise<void> | void;
  /** Maximum rejected rows; one more aborts the import. */
  readonly rejectedMax?: number;
  /** Called occasionally with the number of rows read. */
  readonly onProgress?: (read: number) => void;
  /** Called under the tenant's import lock, before the first row is read. */
  readonly onStart?: () => Promise<void>;
  /** Called when reading ends, also with an error, with the counts so far. */
  readonly onCounts?: (counts: LoadCounts & Tally) => void;
}

/** Rows read so far. */
export interface Tally {
  read: number;
  rejected: number;
}

/** A row that can be loaded. */
export interface ValidRow {
  readonly row: SubscriptionRow;
  /** The progress before this row. */
  readonly before: { readonly read: number; readonly rejected: number; readonly bytes: number };
}

/** How to read the rows of a source. */
interface RowReading extends SourceOptions {
  /** Counts all rows while they are read. */
  readonly tally: Tally;
  /** Skips the rows that a resumed import has passed already. */
  readonly resumption?: Resumption;
  /** Called after each checked row with the bytes of the source before it. */
  readonly onRow?: (bytesBefore: number) => void;
}

/** Reads the valid rows of a source, and reports the rejected ones. */
export async function* readValidRows(
  source: AsyncIterable<Buffer>,
  { format, onRejected, rejectedMax = Number.POSITIVE_INFINITY, tally, resumption, onRow }: RowReading,
): AsyncGenerator<ValidRow> {
  let before = { read: 0, rejected: 0, bytes: 0 };
  let turnBegan = performance.now();
  for await (const sourceRow of readRows(source, format, resumption?.rows ?? 0)) {
    tally.read += 1;
    if (resumption?.isPast(tally.read, sourceRow.end) !== true) {
      const checked = checkSourceRow(sourceRow);
      if ('row' in checked) {
        yield { row: checked.row, before };
      } else {
        tally.rejected += 1;
        await onRejected({ line: sourceRow.line, errors: checked.faults, raw: sourceRow.raw });
        if (tally.rejected > rejectedMax) throw tooManyRejected(sourceRow.line, rejectedMax);
      }
      onRow?.(before.bytes);
    }
    before = { read: tally.read, rejected: tally.rejected, bytes: sourceRow.end };
    if (performance.now() - turnBegan > turnMsMax) {
      // without it, the rows of one chunk would follow each other without yielding to the event
      // loop
      await setImmediate();
      turnBegan = performance.now();
    }
  }
}

const tooManyRejected = (line: number, max: number): ImportError =>
  new ImportError(
    'BAD_ROWS',
    `Cannot continue past line ${line}: at most ${max} rows may be rejected; correct the source first`,
  );

/** The decompressed bytes of a source. */
export const decompressed = (
  source: AsyncIterable<Buffer>,
  { decompressedBytesMax = decompressedGibMax * gib }: SourceOptions,
) => decompress(source, decompressedBytesMax);

function readRows(source: AsyncIterable<Buffer>, format: ImportFormat, skip: number): AsyncGenerator<SourceRow> {
  return format === 'csv' ? readCsv(source) : readNdjson(source, skip);
}

function checkSourceRow({ content }: SourceRow) {
  return 'faults' in content ? content : checkRow(content.value);
}
