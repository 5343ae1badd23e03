import { setTimeout as sleep } from 'node:timers/promises';
import type { Subscription } from '../../contract/subscription.ts';
import { StorageError } from '../storage/error.ts';
import type { ImportLock, LoadCounts, ResumePoint, Store, TenantId } from '../storage/store.ts';
import type { SubscriptionRow } from '../storage/subscription-row.ts';
import { readResumePoint } from '../storage/tables/resume-point.ts';
import { inSpan } from '../tracing/span.ts';
import { ImportError, sayLeft } from './error.ts';
import { requireHeld, withImportLock } from './import-lock.ts';
import { batchRows, readBatches } from './read-batches.ts';
import {
  decompressed,
  noRowsYet,
  type RejectedRow,
  readValidRows,
  type SourceOptions,
  type Tally,
} from './read-valid-rows.ts';
import { createResumption, formatOf, SourceDigest } from './resume-import.ts';

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
  /** Continue an unfinished import of the same source; its counts continue too. */
  readonly resume?: boolean;
  /** Called with each valid row of a dry run. */
  readonly onChecked?: (row: SubscriptionRow) => Promise<void>;
  /** Maximum rows per transaction, for a process that also serves requests. */
  readonly batchRowsMax?: number | undefined;
  /**
   * Called before the first rejected row, with the rows that the resumed import had read and
   * rejected.
   */
  readonly onResume?: (done: { readonly read: number; readonly rejected: number }) => Promise<void> | void;
}

/**
 * Reads a source, decompresses gzip and zstd, checks each row against the contract and loads the
 * valid rows in batches, each durable once it is counted. The last row with an id wins: within a
 * batch the earlier ones are never written, so the same source twice changes nothing; across
 * batches each is an update. Each batch commits a resume point, from which `resume` continues.
 * Throws `ImportError`: `BUSY` while another import into the tenant is running, `OTHER_SOURCE` if
 * the import to resume had another source, `OVER_BUDGET` if a batch exceeds the storage budget.
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
  const { onProgress } = options;
  const format = formatOf(options);
  const digest = new SourceDigest();
  const resumePoint = options.resume === true ? await readResumePoint(target.store, target.tenant) : undefined;
  const resumption = createResumption(resumePoint, format, digest);
  const tally: Tally = { ...noRowsYet(), rejected: resumePoint?.rejected ?? 0 };
  const done = { read: resumePoint?.read ?? 0, rejected: tally.rejected };
  const reportResume = once(async () => options.onResume?.(done));
  const onRejected = async (row: RejectedRow): Promise<void> => {
    await reportResume();
    await options.onRejected(row);
  };
  const loader = createBatchLoader(target, resumePoint ?? nothingLoaded);
  const batches = readBatches(
    digest.follow(decompressed(source, options)),
    { ...options, onRejected, tally },
    { resumption, rowsMax: options.batchRowsMax, onRow: (bytes) => digest.markRowEnd(bytes) },
  );
  const settle = (): Promise<void> => loader.settle().finally(() => options.onCounts?.({ ...tally, ...loader.counts }));
  try {
    for await (const { rows, end } of batches) {
      if (end === 'finished') {
        resumption.requireReached(tally.read);
        await reportResume();
      }
      const point = end !== 'finished' && {
        ...{ ...end, rejected: tally.rejected, format },
        sha256: digest.at(end.bytes) ?? '',
      };
      await loader.load(rows, (counts) => (point ? { ...point, ...counts } : 'finished'));
      onProgress?.(tally.read);
    }
    await settle();
  } catch (error) {
    await settle().catch(() => undefined); // the first error is the one to report
    throw sayLoaded(error, loader.counts);
  }
  return summaryOf(tally, loader.counts);
}

/** The error of an import that its rows have ended, with what it has loaded. */
function sayLoaded(error: unknown, { inserted, updated, unchanged }: LoadCounts): unknown {
  const loaded = inserted + updated + unchanged;
  if (loaded === 0 || !(error instanceof ImportError)) return error;
  if (error.code !== 'BAD_ROWS' && error.code !== 'UNREADABLE') return error;
  return new ImportError(error.code, `${error.message}; ${loaded} records before it are loaded`);
}

export const nothingLoaded: LoadCounts = { inserted: 0, updated: 0, unchanged: 0 };

/** The same promise for every call; only the first call runs `work`. */
function once(work: () => Promise<void>): () => Promise<void> {
  let result: Promise<void> | undefined;
  return () => {
    result ??= work();
    return result;
  };
}

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
   * that the caller can read the following batch meanwhile. `pointAfter` returns the resume point
   * after it, given the counts of the batches before it.
   */
  load(rows: readonly SubscriptionRow[], pointAfter: (counts: LoadCounts) => ResumePoint | 'finished'): Promise<void>;
  /** Resolves when the last batch has finished. */
  settle(): Promise<void>;
}

/** Loads batches one after another, each while the next one is read and checked. */
export function createBatchLoader({ store, tenant, lock, importId }: LoadTarget, start: LoadCounts): BatchLoader {
  const counts = { inserted: start.inserted, updated: start.updated, unchanged: start.unchanged };
  let pendingBatch: Promise<void> = Promise.resolve();
  const loadOne = async (rows: readonly SubscriptionRow[], resumePoint: ResumePoint | 'finished'): Promise<void> => {
    requireHeld(lock, 'run the import again with --resume');
    const before = counts.inserted + counts.updated;
    const loaded = await inSpan(
      'load batch',
      () => retryBusy(() => store.loadSubscriptions(tenant, rows, resumePoint, importId)),
      () => ({ 'subreport.rows': rows.length }),
    ).catch(sayLeft(before === 0 ? 'nothing was loaded' : `the ${before} records before them are loaded`));
    counts.inserted += loaded.inserted;
    counts.updated += loaded.updated;
    counts.unchanged += loaded.unchanged;
  };
  return {
    counts,
    async load(rows, pointAfter) {
      await pendingBatch;
      pendingBatch = loadOne(rows, pointAfter(counts));
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
