import { type ImportSummary, nothingLoaded, summaryOf } from './import-summary.ts';
import { batchRows } from './read-batches.ts';
import { decompressed, noRowsYet, readValidRows, type SourceOptions } from './read-valid-rows.ts';

/** Checks every row of a source, and loads none. */
export async function checkRows(source: AsyncIterable<Buffer>, options: SourceOptions): Promise<ImportSummary> {
  const tally = noRowsYet();
  try {
    for await (const _ of readValidRows(decompressed(source, options), { ...options, tally }))
      if (tally.read % batchRows === 0) options.onProgress?.(tally.read);
  } finally {
    options.onCounts?.({ ...tally, ...nothingLoaded });
  }
  return summaryOf(tally, nothingLoaded);
}
