import type { SubscriptionRow } from '../storage/subscription-row.ts';
import { type RowReading, readValidRows } from './read-valid-rows.ts';

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
 * A batch ends once its records have more characters than this, so that long records take no more
 * memory than others: 10,000 typical records have 4 million.
 */
const batchCharactersMax = 7_340_032;

/**
 * Reads the valid rows of a source in batches, of rows with one id only the last, and reports the
 * rejected ones. A batch has at most `rowsMax` rows, and fewer long ones; the last may be empty.
 */
export async function* readBatches(
  source: AsyncIterable<Buffer>,
  reading: RowReading,
  rowsMax = batchRowsMax,
): AsyncGenerator<readonly SubscriptionRow[]> {
  const sizes = [batchRows, secondRows];
  let size = Math.min(sizes.shift() ?? rowsMax, rowsMax);
  let rows = new Map<string, SubscriptionRow>();
  let [count, characters] = [0, 0];
  for await (const row of readValidRows(source, reading)) {
    if (count >= size || characters > batchCharactersMax) {
      yield [...rows.values()];
      size = Math.min(sizes.shift() ?? rowsMax, rowsMax);
      rows = new Map();
      [count, characters] = [0, 0];
    }
    rows.set(row.id, row);
    count += 1;
    characters += row.record.length;
  }
  yield [...rows.values()];
}
