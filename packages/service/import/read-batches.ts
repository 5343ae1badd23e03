import type { SubscriptionRow } from '../storage/subscription-row.ts';
import { checkSourceRow, endTurn, type RowReading, readRows, rejectRow } from './read-valid-rows.ts';
import type { Resumption } from './resume-import.ts';

/** Rows of the first transaction, after which progress is reported. */
export const batchRows = 1_000;
/** Rows of the second transaction. */
const secondRows = 3_000;
/**
 * Rows of each later transaction. Rows of one transaction share pages of the indexes and counts:
 * 10,000 cost 0.7 of the CPU time of as many in transactions of 3,000. Another writer of the
 * embedded store waits for the whole transaction, some half a second.
 */
const batchRowsMax = 10_000;
/**
 * A batch ends after these bytes of the source, so that long rows take no more memory than others:
 * 10,000 typical records have 4.7 MB.
 */
const batchBytesMax = 7_340_032;

/** The rows of one transaction. */
interface Batch {
  /** The valid rows; of rows with one id only the last. */
  readonly rows: readonly SubscriptionRow[];
  /** How far the source is read after them, or `finished` after all of it. */
  readonly end: { readonly read: number; readonly bytes: number } | 'finished';
}

interface BatchReading {
  readonly resumption: Resumption;
  /** Called after each row with the bytes of the source before it. */
  readonly onRow: (bytesBefore: number) => void;
  /** Maximum rows of a batch. */
  readonly rowsMax: number | undefined;
}

/**
 * The number of the last row of the batch that begins after row `read`, unless its bytes end it
 * earlier. A batch depends only on where the one before it ended, so a resumed import forms the
 * same batches, and gets the same counts, as one of this version and `rowsMax` that was never
 * stopped.
 */
function batchEndAfter(read: number, rowsMax = batchRowsMax): number {
  const first = Math.min(batchRows, rowsMax);
  if (read < first) return first;
  const second = first + Math.min(secondRows, rowsMax);
  return read < second ? second : second + (Math.floor((read - second) / rowsMax) + 1) * rowsMax;
}

/**
 * Reads and checks the rows of a source in batches, without those that a resumed import has passed
 * already, and reports the rejected ones. The last batch may be empty.
 */
export async function* readBatches(
  source: AsyncIterable<Buffer>,
  reading: RowReading,
  { resumption, onRow, rowsMax }: BatchReading,
): AsyncGenerator<Batch> {
  const { tally } = reading;
  let bytes = 0;
  let batchStart = 0;
  let last = batchEndAfter(0, rowsMax);
  let rows = new Map<string, SubscriptionRow>();
  for await (const row of readRows(source, reading, resumption.rows)) {
    const isPast = resumption.isPast(tally.read + 1, row.end);
    if (isPast) {
      last = batchEndAfter(tally.read + 1, rowsMax);
      batchStart = row.end;
    } else {
      if (tally.read >= last || bytes - batchStart > batchBytesMax) {
        yield { rows: [...rows.values()], end: { read: tally.read, bytes } };
        rows = new Map();
        last = batchEndAfter(tally.read, rowsMax);
        batchStart = bytes;
      }
      onRow(bytes);
    }
    tally.read += 1;
    bytes = row.end;
    if (!isPast) {
      const checked = checkSourceRow(row);
      if ('row' in checked) {
        rows.set(checked.row.id, checked.row);
        tally.sample.add(checked.row);
      } else await rejectRow(row, checked.faults, reading);
    }
    const turn = endTurn();
    if (turn !== undefined) await turn;
  }
  yield { rows: [...rows.values()], end: 'finished' };
}
