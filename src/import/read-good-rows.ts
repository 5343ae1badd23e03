import { setImmediate } from 'node:timers/promises';
import type { SubscriptionRow } from '../storage/subscription-row.ts';
import { checkRow } from './check-row.ts';
import { ImportError } from './error.ts';
import { readCsv } from './read-csv.ts';
import { readNdjson } from './read-ndjson.ts';
import type { Resumption } from './resume-import.ts';
import type { RowFault, SourceRow } from './source-row.ts';
import { unpack } from './unpack.ts';

/** The formats that can be imported. */
export const importFormats = ['ndjson', 'csv'] as const;
export type ImportFormat = (typeof importFormats)[number];

/** A row that was not loaded, and why. */
export interface RejectedRow {
  readonly line: number;
  readonly errors: readonly RowFault[];
  /** The row as it stands in the source. */
  readonly raw: string;
}

/** A source that unpacks to more is not what somebody meant to import. */
export const unpackedGibMax = 64;
const gib = 2 ** 30;
/**
 * Longest time in milliseconds that rows are read for at a stretch; a service that loads them has
 * others to answer.
 */
const turnMsMax = 10;

/** How to read a source. */
export interface SourceOptions {
  readonly format: ImportFormat;
  /** Most bytes that a packed source may unpack to. */
  readonly unpackedBytesMax?: number;
  /**
   * Told of each row that is rejected, in the order of the source; rows behind it are durable only
   * when it has resolved.
   */
  readonly onRejected: (row: RejectedRow) => Promise<void> | void;
  /** Most rows that may be rejected; one more ends the reading. */
  readonly rejectedMax?: number;
  /** Told now and then how many rows have been read. */
  readonly onProgress?: (read: number) => void;
}

/** What was read so far. */
export interface Tally {
  read: number;
  rejected: number;
}

/** A row that can be loaded. */
interface GoodRow {
  readonly row: SubscriptionRow;
  /** How far the source was done before this row. */
  readonly before: { readonly read: number; readonly rejected: number; readonly bytes: number };
}

/**
 * The rows of a source that can be loaded, but for those that a resumed import is past; counts all
 * rows, and reports the rejected ones.
 */
export async function* readGoodRows(
  source: AsyncIterable<Buffer>,
  { format, onRejected, rejectedMax = Number.POSITIVE_INFINITY }: SourceOptions,
  tally: Tally,
  resumption?: Resumption,
  onRow?: (bytesBefore: number) => void,
): AsyncGenerator<GoodRow> {
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
      // rows of one chunk follow each other without giving way to anything else
      await setImmediate();
      turnBegan = performance.now();
    }
  }
}

const tooManyRejected = (line: number, max: number): ImportError =>
  new ImportError(
    'BAD_ROWS',
    `Cannot go on past line ${line}: at most ${max} rows may be rejected; mend the source first`,
  );

/** The bytes of a source as they were before they were packed. */
export const unpacked = (source: AsyncIterable<Buffer>, { unpackedBytesMax = unpackedGibMax * gib }: SourceOptions) =>
  unpack(source, unpackedBytesMax);

function readRows(source: AsyncIterable<Buffer>, format: ImportFormat, skip: number): AsyncGenerator<SourceRow> {
  return format === 'csv' ? readCsv(source) : readNdjson(source, skip);
}

function checkSourceRow({ content }: SourceRow) {
  return 'faults' in content ? content : checkRow(content.value);
}
