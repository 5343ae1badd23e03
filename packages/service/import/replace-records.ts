import type { Replacement, Store, TenantId } from '../storage/store.ts';
import { inSpan } from '../tracing/span.ts';
import { ImportError, sayLeft } from './error.ts';
import { requireHeld, withImportLock } from './import-lock.ts';
import { type ImportSummary, nothingLoaded, summaryOf } from './import-summary.ts';
import { batchRows, readBatches } from './read-batches.ts';
import { decompressed, noRowsYet, type SourceOptions, type Tally } from './read-valid-rows.ts';

interface ReplaceOptions extends SourceOptions {
  /** Count what would change, and change nothing. */
  readonly dryRun: boolean;
  /** How many records the caller wants to be removed, if it says so (`guardRemoval`). */
  readonly remove?: number | undefined;
}

/**
 * Replaces all records of a tenant with a source, in one transaction: clients get the old report
 * until they get the new one, records missing from the source are removed, and equal records are
 * left alone. Nothing changes if any row is rejected, or if the source fails. Throws `ImportError`
 * as `importRecords` does, and `REMOVES_MANY` if most records would be removed unconfirmed.
 */
export async function replaceRecords(
  store: Store,
  tenant: TenantId,
  source: AsyncIterable<Buffer>,
  options: ReplaceOptions,
): Promise<ImportSummary> {
  return withImportLock(store, tenant, async (lock) => {
    await options.onStart?.();
    const replacement = await store.openReplacement(tenant, options.importId);
    const tally = noRowsYet();
    try {
      await addRows(replacement, source, options, tally);
      const refused = refusalOf(tally);
      if (refused !== undefined) {
        return { ...summaryOf(tally, nothingLoaded), removed: 0, refused };
      }
      requireHeld(lock, 'nothing was changed');
      const { removed, ...counts } = await inSpan('replace records', () =>
        replacement.finish(options.dryRun, { confirmed: options.remove }),
      ).catch(sayLeft('nothing was changed'));
      return { ...summaryOf(tally, counts), removed };
    } finally {
      options.onCounts?.({ ...tally, ...nothingLoaded });
      await replacement.close();
    }
  });
}

/** Adds the valid rows of a source in batches, each while the next one is read. */
async function addRows(
  replacement: Replacement,
  source: AsyncIterable<Buffer>,
  options: ReplaceOptions,
  tally: Tally,
): Promise<void> {
  let pendingBatch: Promise<void> = Promise.resolve();
  try {
    for await (const rows of readBatches(decompressed(source, options), { ...options, tally }, batchRows)) {
      await pendingBatch;
      options.onProgress?.(tally.read);
      // the replacement is refused anyway; read on only to report all faults
      if (tally.rejected > 0) continue;
      pendingBatch = inSpan(
        'add batch',
        () => replacement.add(rows),
        () => ({ 'subreport.rows': rows.length }),
      );
      pendingBatch.catch(() => undefined); // the next call that awaits the batch throws its error
    }
  } finally {
    await pendingBatch;
  }
}

function refusalOf({ read, rejected }: Tally): ImportError | undefined {
  if (rejected === 0) return undefined;
  return new ImportError(
    'BAD_ROWS',
    `Cannot replace the records: every row must be valid, or the record of an invalid one would be removed: ${rejected} of ${read} are not; nothing was changed`,
  );
}
