import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Removes rows in small transactions, each of which removes up to `rowsMax` and returns how many;
 * returns the sum. Pending requests run in between.
 */
export async function inBatches(rowsMax: number, removeSome: () => Promise<number>): Promise<number> {
  for (let removed = 0; ; await nextTurn()) {
    const batch = await removeSome();
    removed += batch;
    if (batch < rowsMax) return removed;
  }
}
