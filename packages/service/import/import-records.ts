import type { Store, TenantId } from '../storage/store.ts';
import { checkRows, checkStrictly, type ImportOptions, unchangedSince } from './check-rows.ts';
import { withImportLock } from './import-lock.ts';
import { type ImportSummary, summaryOf } from './import-summary.ts';
import { createBatchLoader, type LoadTarget, sayLoaded } from './load-batches.ts';
import { readBatches } from './read-batches.ts';
import { decompressed, noRowsYet } from './read-valid-rows.ts';
import { replaceRecords } from './replace-records.ts';
import { type ImportSource, withWhole } from './require-whole.ts';

export interface WholeOptions extends ImportOptions {
  /** Whether one invalid row means that nothing is loaded. */
  readonly strict: boolean;
  /** Whether the records of the source replace all others. */
  readonly replace: boolean;
  /** How many records a replacement removes, if the caller says so (`guardRemoval`). */
  readonly remove?: number | undefined;
}

/**
 * Imports a source after it was read to its end: nothing of it is loaded if it was cut, or cannot
 * be read as a whole, or, with `strict`, if a row is invalid or finds no room. The tenant's import
 * lock is held from its first byte. A replacement is one transaction, so it needs no look. Throws
 * `ImportError` as `importRecords`, `replaceRecords` and `Spool.store` do.
 */
export async function importWhole(
  store: Store,
  tenant: TenantId,
  source: ImportSource,
  options: WholeOptions,
): Promise<ImportSummary> {
  const { strict, replace, dryRun } = options;
  if (replace) return replaceRecords(store, tenant, source.open(), options);
  if (dryRun && !strict) return checkRows(source.open(), options);
  if (dryRun) return withWhole(source, options, (whole) => checkStrictly(whole, { store, tenant }, options));
  const load = strict ? loadStrictly : loadRows;
  return underLock(store, tenant, options, (target) =>
    withWhole(source, options, (whole) => load(target, whole, options)),
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
  return underLock(store, tenant, options, (target) => loadRows(target, { open: () => source }, options));
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

/** Loads all rows of a source, or none of them. */
async function loadStrictly(target: LoadTarget, source: ImportSource, options: ImportOptions): Promise<ImportSummary> {
  const checked = await checkStrictly(source, target, options);
  if (checked.refused !== undefined) return checked;
  return unchangedSince(checked, (onRejected) => loadRows(target, source, { ...options, onRejected }));
}

/** Loads the valid rows of a source. */
async function loadRows(
  target: LoadTarget,
  { open }: Pick<ImportSource, 'open'>,
  options: ImportOptions,
): Promise<ImportSummary> {
  const tally = noRowsYet();
  const loader = createBatchLoader(target);
  const batches = readBatches(decompressed(open(), options), { ...options, tally }, options.batchRowsMax);
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
