import { setTimeout as sleep } from 'node:timers/promises';
import type { Subscription } from '../../contract/subscription.ts';
import { StorageError } from '../storage/error.ts';
import type { ImportLock, LoadCounts, Store, TenantId } from '../storage/store.ts';
import type { SubscriptionRow } from '../storage/subscription-row.ts';
import { inSpan } from '../tracing/span.ts';
import { ImportError, sayLeft } from './error.ts';
import { requireHeld, withImportLock } from './import-lock.ts';
import { batchRows, readBatches } from './read-batches.ts';
import { decompressed, noRowsYet, readValidRows, type SourceOptions, type Tally } from './read-valid-rows.ts';

/**
 * The result of an import. `read` counts rows; in a dry run nothing is inserted, updated or
 * unchanged. An accepted row that a later row of its batch replaces counts in none of the three.
 */
export interface ImportSummary extends LoadCounts {
  readonly read: number;
  /** Rows of CSV without a record: of empty cells, or the header once more. */
  readonly skipped: number;
  /** Doubts about the ICCIDs of the valid rows. */
  readonly warnings: readonly string[];
  /** The first valid rows as they are stored. */
  readonly firstRecords: readonly Subscription[];
  readonly accepted: number;
  readonly rejected: number;
}

export interface ImportOptions extends SourceOptions {
  /** Check every row and load none. */
  readonly dryRun: boolean;
  /** Called with each valid row of a dry run. */
  readonly onChecked?: (row: SubscriptionRow) => Promise<void>;
  /** Maximum rows per transaction, for a process that also serves requests. */
  readonly batchRowsMax?: number | undefined;
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
  if (options.dryRun) return checkRecords(source, options);
  return withImportLock(store, tenant, async (lock) => {
    await options.onStart?.();
    return loadRecords({ store, tenant, lock, importId: options.importId }, source, options);
  });
}

/** Checks every row and loads none. */
export async function checkRecords(source: AsyncIterable<Buffer>, options: ImportOptions): Promise<ImportSummary> {
  const tally = noRowsYet();
  try {
    for await (const row of readValidRows(decompressed(source, options), { ...options, tally })) {
      await options.onChecked?.(row);
      if (tally.read % batchRows === 0) options.onProgress?.(tally.read);
    }
  } finally {
    options.onCounts?.({ ...tally, ...nothingLoaded });
  }
  return summaryOf(tally, nothingLoaded);
}

export async function loadRecords(
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

/** The error of an import that ends early, with how many records it has stored. */
function sayLoaded(error: unknown, { inserted, updated, unchanged }: LoadCounts): unknown {
  const loaded = inserted + updated + unchanged;
  const said = (message: string): string => `${message}; ${loaded} records before it are loaded`;
  if (loaded === 0) return error;
  if (error instanceof StorageError) return new StorageError(error.code, said(error.message), error);
  // of a batch beyond the budget, the message has the number already
  const isUnsaid = error instanceof ImportError && error.code !== 'OVER_BUDGET';
  return isUnsaid ? new ImportError(error.code, said(error.message)) : error;
}

export const nothingLoaded: LoadCounts = { inserted: 0, updated: 0, unchanged: 0 };

export const summaryOf = ({ read, rejected, skipped, sample }: Tally, counts: LoadCounts): ImportSummary => ({
  read,
  skipped,
  warnings: sample.warnings,
  firstRecords: sample.records,
  accepted: read - rejected,
  rejected,
  ...counts,
});

/** The tenant that an import loads, under its import lock. */
interface LoadTarget {
  readonly store: Store;
  readonly tenant: TenantId;
  readonly lock: ImportLock;
  readonly importId?: string | undefined;
}

/**
 * Maximum attempts at a batch that cannot get its locks; each waits up to the store's own limit.
 */
const attemptsMax = 3;
/** Wait before the second attempt in milliseconds; it grows with each attempt. */
const pauseMs = 200;

/** Loads rows in batches, each durable once `counts` includes it. */
interface BatchLoader {
  /** Counts of the rows in finished batches. */
  readonly counts: LoadCounts;
  /**
   * Waits for the previous batch, starts loading this one and resolves without waiting for it, so
   * that the caller can read the following batch meanwhile.
   */
  load(rows: readonly SubscriptionRow[]): Promise<void>;
  /** Resolves when the last batch has finished. */
  settle(): Promise<void>;
}

/** Loads batches one after another, each while the next one is read and checked. */
export function createBatchLoader({ store, tenant, lock, importId }: LoadTarget): BatchLoader {
  const counts = { inserted: 0, updated: 0, unchanged: 0 };
  let pendingBatch: Promise<void> = Promise.resolve();
  const loadOne = async (rows: readonly SubscriptionRow[]): Promise<void> => {
    requireHeld(lock, 'run the import again');
    const before = counts.inserted + counts.updated;
    const expectsNew = before > 0 && counts.updated + counts.unchanged === 0;
    const loaded = await inSpan(
      'load batch',
      () => retryBusy(() => store.loadSubscriptions(tenant, rows, expectsNew, importId)),
      () => ({ 'subreport.rows': rows.length }),
    ).catch(sayLeft(before === 0 ? 'nothing was loaded' : `the ${before} records before them are loaded`));
    counts.inserted += loaded.inserted;
    counts.updated += loaded.updated;
    counts.unchanged += loaded.unchanged;
  };
  return {
    counts,
    async load(rows) {
      await pendingBatch;
      pendingBatch = loadOne(rows);
      pendingBatch.catch(() => undefined); // the next call that awaits the batch throws its error
    },
    settle: () => pendingBatch,
  };
}

/**
 * Retries a transaction that lost a deadlock or timed out waiting for a lock, for example of a
 * shard that is being moved, or of a migration.
 */
async function retryBusy<T>(load: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await load();
    } catch (error) {
      const isBusy = error instanceof StorageError && error.code === 'BUSY';
      if (!isBusy || attempt === attemptsMax) throw error;
      await sleep(attempt * pauseMs);
    }
  }
}
