import type { Store, TenantId } from '../storage/store.ts';
import { withImportLock } from './import-lock.ts';
import { type ImportSummary, nothingLoaded, summaryOf } from './import-summary.ts';
import { type LoadOptions, loadAtOnce } from './load-at-once.ts';
import { createBatchLoader, type LoadTarget, sayLoaded } from './load-batches.ts';
import { batchRows, readBatches } from './read-batches.ts';
import { decompressed, noRowsYet, readValidRows, type SourceOptions } from './read-valid-rows.ts';
import { type ImportSource, withWhole } from './require-whole.ts';

interface ImportOptions extends SourceOptions {
  /** Check every row and load none. */
  readonly dryRun: boolean;
  /** Maximum rows per transaction, for a process that also serves requests. */
  readonly batchRowsMax?: number | undefined;
}

export interface WholeOptions extends ImportOptions, LoadOptions {
  /** Whether one invalid row means that nothing is loaded. */
  readonly strict: boolean;
}

/**
 * Imports a source: strictly or as a replacement in one transaction, otherwise in batches, after it
 * was read to its end, so that nothing of it is loaded if it was cut. The tenant's import lock is
 * held from its first byte. Throws `ImportError` as `importRecords`, `loadAtOnce` and `Spool.store`
 * do.
 */
export async function importWhole(
  store: Store,
  tenant: TenantId,
  source: ImportSource,
  options: WholeOptions,
): Promise<ImportSummary> {
  if (options.strict || options.replace) return loadAtOnce(store, tenant, source.open(), options);
  if (options.dryRun) return checkRows(source.open(), options);
  return underLock(store, tenant, options, (target) =>
    withWhole(source, options, (open) => loadRows(target, open(), options)),
  );
}

/**
 * Reads a source, decompresses gzip and zstd, checks each row against the contract and loads the
 * valid rows in batches, each durable once it is counted. The last row with an id wins: within a
 * batch the earlier ones are never written, so the same source twice changes nothing; across
 * batches each is an update. An import that has failed is begun again. Throws `ImportError`: `BUSY`
 * while another import into the tenant is running, `OVER_BUDGET` if a batch exceeds the storage
 * budget.
 */
export async function importRecords(
  store: Store,
  tenant: TenantId,
  source: AsyncIterable<Buffer>,
  options: ImportOptions,
): Promise<ImportSummary> {
  if (options.dryRun) return checkRows(source, options);
  return underLock(store, tenant, options, (target) => loadRows(target, source, options));
}

const underLock = (
  store: Store,
  tenant: TenantId,
  { onStart, importId }: ImportOptions,
  load: (target: LoadTarget) => Promise<ImportSummary>,
): Promise<ImportSummary> =>
  withImportLock(store, tenant, async (lock) => {
    await onStart?.();
    return load({ store, tenant, lock, importId });
  });

/** Loads the valid rows of a source. */
async function loadRows(
  target: LoadTarget,
  source: AsyncIterable<Buffer>,
  options: ImportOptions,
): Promise<ImportSummary> {
  const tally = noRowsYet();
  const loader = createBatchLoader(target);
  const batches = readBatches(decompressed(source, options), { ...options, tally }, options.batchRowsMax);
  const settle = (): Promise<void> => loader.settle().finally(() => options.onCounts?.({ ...tally, ...loader.counts }));
  try {
    for await (const rows of batches) {
      await loader.load(rows);
      options.onProgress?.(tally.read);
    }
    await settle();
  } catch (error) {
    await settle().catch(() => undefined); // the first error is the one to report
    throw sayLoaded(error, loader.counts);
  }
  return summaryOf(tally, loader.counts);
}

/** Checks every row of a source, and loads none. */
async function checkRows(source: AsyncIterable<Buffer>, options: SourceOptions): Promise<ImportSummary> {
  const tally = noRowsYet();
  try {
    for await (const _ of readValidRows(decompressed(source, options), { ...options, tally }))
      if (tally.read % batchRows === 0) options.onProgress?.(tally.read);
  } finally {
    options.onCounts?.({ ...tally, ...nothingLoaded });
  }
  return summaryOf(tally, nothingLoaded);
}
