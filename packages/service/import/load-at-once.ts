import type { StagedLoad, Store, TenantId } from '../storage/store.ts';
import { ImportError, sayLeft } from './error.ts';
import { requireHeld, withImportLock } from './import-lock.ts';
import { type ImportSummary, nothingLoaded, summaryOf } from './import-summary.ts';
import { batchRows, readBatches } from './read-batches.ts';
import { decompressed, noRowsYet, type SourceOptions, type Tally } from './read-valid-rows.ts';

export interface LoadOptions extends SourceOptions {
  /** Count what would change, and change nothing. */
  readonly dryRun: boolean;
  /** Whether records that are not in the source are removed. */
  readonly replace: boolean;
  /** How many records the caller wants to be removed, if it says so (`guardRemoval`). */
  readonly remove?: number | undefined;
}

/**
 * Loads a source in one transaction, strictly or to replace all records of a tenant: clients get
 * the old report until they get the new one, and equal records are left alone. Nothing changes if
 * any row is rejected, or if the source fails. Throws `ImportError` as `importRecords` does, and
 * `REMOVES_MANY` if most records would be removed unconfirmed.
 */
export async function loadAtOnce(
  store: Store,
  tenant: TenantId,
  source: AsyncIterable<Buffer>,
  options: LoadOptions,
): Promise<ImportSummary> {
  const { replace, dryRun, importId } = options;
  const left = replace ? 'nothing was changed' : 'nothing was loaded';
  return withImportLock(store, tenant, async (lock) => {
    await options.onStart?.();
    const staged = await store.openStagedLoad(tenant, importId, !replace);
    const tally = noRowsYet();
    try {
      await addRows(staged, source, options, tally);
      const nothing = { ...summaryOf(tally, nothingLoaded), ...(replace && { removed: 0 }) };
      if (tally.rejected > 0) return { ...nothing, refused: refusalOf(tally, replace, left) };
      requireHeld(lock, left);
      const { removed, ...counts } = await staged.finish(dryRun, { confirmed: options.remove }).catch(sayLeft(left));
      return { ...summaryOf(tally, counts), ...(replace && { removed }) };
    } finally {
      options.onCounts?.({ ...tally, ...nothingLoaded });
      await staged.close();
    }
  });
}

/** Adds the valid rows of a source in batches, each while the next one is read. */
async function addRows(
  staged: StagedLoad,
  source: AsyncIterable<Buffer>,
  options: LoadOptions,
  tally: Tally,
): Promise<void> {
  let pendingBatch: Promise<void> = Promise.resolve();
  try {
    for await (const rows of readBatches(decompressed(source, options), { ...options, tally }, batchRows)) {
      await pendingBatch;
      options.onProgress?.(tally.read);
      // the load is refused anyway; read on only to report all faults
      if (tally.rejected > 0) continue;
      pendingBatch = staged.add(rows);
      pendingBatch.catch(() => undefined); // the next call that awaits the batch throws its error
    }
  } finally {
    await pendingBatch;
  }
}

const refusalOf = ({ read, rejected }: Tally, replace: boolean, left: string): ImportError =>
  new ImportError(
    'BAD_ROWS',
    `Cannot ${replace ? 'replace the records: every row must be valid, or the record of an invalid one would be removed' : 'import strictly: every row must be valid'}: ${rejected} of ${read} are not; ${left}`,
  );
