import { StorageError } from '../storage/error.ts';
import type { LoadCounts, Store, TenantId } from '../storage/store.ts';
import { readResumePoint } from '../storage/tables/resume-point.ts';
import { readStoredRecords, type StoredRecords } from '../storage/tables/stored-record.ts';
import { Batch } from './batch.ts';
import { createIndexDeferral, noDeferral } from './defer-indexes.ts';
import { withImportLock } from './import-lock.ts';
import { type BatchLoader, createBatchLoader, type LoadTarget } from './load-batches.ts';
import { decompressed, type RejectedRow, readValidRows, type SourceOptions, type Tally } from './read-valid-rows.ts';
import { batchRows, readWindows } from './read-windows.ts';
import { createResumption } from './resume-import.ts';
import { SourceDigest } from './source-digest.ts';
import type { SourceRow } from './source-row.ts';
import { idOf } from './stored-row.ts';

/**
 * The result of an import. `read` counts rows; in a dry run nothing is inserted, updated or
 * unchanged. An accepted row that a later row of its batch replaces counts in none of the three.
 */
export interface ImportSummary extends LoadCounts {
  readonly read: number;
  readonly accepted: number;
  readonly rejected: number;
}

export interface ImportOptions extends SourceOptions {
  /** Check every row and load none. */
  readonly dryRun: boolean;
  /** Continue an unfinished import of the same source; its counts continue too. */
  readonly resume?: boolean;
  /**
   * Whether a first load may go without most indexes until it ends. With SQLite, no other process
   * can open the store then.
   */
  readonly defersIndexes?: boolean;
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
 * the import to resume had another source.
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
    return loadRecords({ store, tenant, lock }, source, options);
  });
}

/** Checks every row and loads none. */
async function checkRecords(source: AsyncIterable<Buffer>, options: ImportOptions): Promise<ImportSummary> {
  const tally = { read: 0, rejected: 0 };
  try {
    for await (const _ of readValidRows(decompressed(source, options), { ...options, tally }))
      if (tally.read % batchRows === 0) options.onProgress?.(tally.read);
  } finally {
    options.onCounts?.({ ...tally, ...nothingLoaded });
  }
  return summaryOf(tally, nothingLoaded);
}

async function loadRecords(
  target: LoadTarget,
  source: AsyncIterable<Buffer>,
  options: ImportOptions,
): Promise<ImportSummary> {
  const { format, onProgress } = options;
  const digest = new SourceDigest();
  const resumePoint = options.resume === true ? await readResumePoint(target.store, target.tenant) : undefined;
  const resumption = createResumption(resumePoint, format, digest);
  const tally: Tally = { read: 0, rejected: resumePoint?.rejected ?? 0 };
  const done = { read: resumePoint?.read ?? 0, rejected: tally.rejected };
  const reportResume = once(async () => options.onResume?.(done));
  const onRejected = async (row: RejectedRow): Promise<void> => {
    await reportResume();
    await options.onRejected(row);
  };
  const reading = { ...options, onRejected, tally };
  const loader = createBatchLoader(target, resumePoint ?? nothingLoaded);
  const windows = readWindows(digest.follow(decompressed(source, options)), {
    ...{ format, tally, resumption, rowsMax: options.batchRowsMax },
    onRow: (bytes) => digest.markRowEnd(bytes),
    isCompared: () => !loader.expectsNew,
  });
  const deferral =
    options.defersIndexes === true ? createIndexDeferral(target.store, options.resume === true) : noDeferral;
  const settle = (): Promise<void> => loader.settle().finally(() => options.onCounts?.({ ...tally, ...loader.counts }));
  let begun: Promise<void> | undefined;
  let batch = new Batch();
  try {
    for await (const { rows, batchEnd } of windows) {
      await batch.add(rows, await readStored(target, loader, rows), reading);
      if (batchEnd === undefined) continue;
      begun ??= deferral.begin(batchEnd !== 'finished');
      await begun;
      if (batchEnd === 'finished') {
        resumption.requireReached(tally.read);
        await reportResume();
      }
      const point = batchEnd !== 'finished' && {
        ...{ ...batchEnd, rejected: tally.rejected, format },
        sha256: digest.at(batchEnd.bytes) ?? '',
      };
      await loader.load(batch, (counts) => (point ? { ...point, ...counts } : 'finished'));
      batch = new Batch();
      onProgress?.(tally.read);
    }
    await settle();
  } catch (error) {
    const ending = settle().finally(() => deferral.end(false));
    await ending.catch(() => undefined); // the first error is the one to report
    throw error;
  }
  await deferral.end(true);
  return summaryOf(tally, loader.counts);
}

/**
 * The stored records of rows, as the previous batch left them, to compare the rows with;
 * `undefined` if most rows are expected to be new, or if the store cannot read them in time: the
 * load itself may take longer.
 */
async function readStored(
  { store, tenant }: LoadTarget,
  loader: BatchLoader,
  rows: readonly SourceRow[],
): Promise<StoredRecords | undefined> {
  if (!loader.expectsNew) await loader.settle();
  if (loader.expectsNew || rows.length === 0) return undefined;
  const ids = rows.map(idOf).filter((id) => id !== undefined);
  return readStoredRecords(store, tenant, ids).catch((error: unknown) => {
    if (error instanceof StorageError && (error.code === 'UNAVAILABLE' || error.code === 'BUSY')) return undefined;
    throw error;
  });
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

/** Combines the rows read with the rows loaded. */
export const summaryOf = ({ read, rejected }: Tally, counts: LoadCounts): ImportSummary => ({
  read,
  accepted: read - rejected,
  rejected,
  ...counts,
});
