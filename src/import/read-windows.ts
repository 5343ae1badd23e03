import { type ImportFormat, readRows, type Tally } from './read-valid-rows.ts';
import type { Resumption } from './resume-import.ts';
import type { SourceRow } from './source-row.ts';
import { endTurn } from './turns.ts';

/** Rows of the first transaction. */
export const batchRows = 1_000;
/**
 * Rows of each later transaction: enough to share its cost, few enough that another writer waits
 * only a tenth of a second or two.
 */
const batchRowsMax = 3_000;
/**
 * A batch ends after these bytes of the source, so that long rows take no more memory than others:
 * 3,000 typical records have 1.4 MB.
 */
const batchBytesMax = 2_097_152;

/** Maximum rows of a window that is not compared: they become garbage while they are young. */
const uncomparedRowsMax = 64;

/** Consecutive rows of a source that have not been checked, all of one batch. */
interface Window {
  readonly rows: readonly SourceRow[];
  /** If the batch ends with them: how far the source is read, or `finished` after all of it. */
  readonly batchEnd: { readonly read: number; readonly bytes: number } | 'finished' | undefined;
}

interface WindowReading {
  readonly format: ImportFormat;
  /** Counts the rows that a resumed import has passed; the caller counts the others. */
  readonly tally: Tally;
  readonly resumption: Resumption;
  /** Called after each row with the bytes of the source before it. */
  readonly onRow: (bytesBefore: number) => void;
  /** Maximum rows of a batch. */
  readonly rowsMax: number | undefined;
  /** Whether a window will be compared with the stored records. */
  readonly isCompared: () => boolean;
}

/**
 * The number of the last row of the batch that begins after row `read`, unless its bytes end it
 * earlier. A batch depends only on where the one before it ended, so a resumed import forms the
 * same batches, and gets the same counts, as one that was never stopped.
 */
function batchEndAfter(read: number, rowsMax = batchRowsMax): number {
  const first = Math.min(batchRows, rowsMax);
  return read < first ? first : first + (Math.floor((read - first) / rowsMax) + 1) * rowsMax;
}

/**
 * Reads the rows of a source in windows, without those that a resumed import has passed already.
 * The last window may be empty. If reading fails, the rows before the failure come first.
 */
export async function* readWindows(
  source: AsyncIterable<Buffer>,
  { format, tally, resumption, onRow, rowsMax, isCompared }: WindowReading,
): AsyncGenerator<Window> {
  let [read, bytes] = [0, 0];
  let end = batchEndAfter(0, rowsMax);
  let rows: SourceRow[] = [];
  let batchStart = 0;
  const isFull = (): boolean => rows.length >= uncomparedRowsMax && !isCompared();
  const finish = (batchEnd: Window['batchEnd']): Window => {
    const window = { rows, batchEnd };
    rows = [];
    return window;
  };
  try {
    for await (const row of readRows(source, format, resumption.rows)) {
      const isPast = resumption.isPast(read + 1, row.end);
      if (isPast) {
        end = batchEndAfter(read + 1, rowsMax);
        batchStart = row.end;
      } else {
        if (read >= end || bytes - batchStart > batchBytesMax) {
          yield finish({ read, bytes });
          end = batchEndAfter(read, rowsMax);
          batchStart = bytes;
        } else if (isFull()) yield finish(undefined);
        rows.push(row);
        onRow(bytes);
      }
      read += 1;
      bytes = row.end;
      if (isPast) tally.read = read;
      const turn = endTurn();
      if (turn !== undefined) await turn;
    }
  } catch (error) {
    yield finish(undefined);
    throw error;
  }
  yield finish('finished');
}
