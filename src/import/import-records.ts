import type { ImportLock, LoadCounts, Store, TenantId } from '../storage/store.ts';
import type { SubscriptionRow } from '../storage/subscription-row.ts';
import { readResumePoint } from '../storage/tables/resume-point.ts';
import { withImportLock } from './import-lock.ts';
import { batchEnd, batchRows, createBatchLoader } from './load-batches.ts';
import { decompressed, readValidRows, type SourceOptions, type Tally } from './read-valid-rows.ts';
import { createResumption } from './resume-import.ts';
import { SourceDigest } from './source-digest.ts';

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
  return withImportLock(store, tenant, (lock) => loadRecords(store, tenant, source, options, lock));
}

/** Checks every row and loads none. */
async function checkRecords(source: AsyncIterable<Buffer>, options: ImportOptions): Promise<ImportSummary> {
  const tally = { read: 0, rejected: 0 };
  for await (const _ of readValidRows(decompressed(source, options), options, tally))
    if (tally.read % batchRows === 0) options.onProgress?.(tally.read);
  return summaryOf(tally, { inserted: 0, updated: 0, unchanged: 0 });
}

async function loadRecords(
  store: Store,
  tenant: TenantId,
  source: AsyncIterable<Buffer>,
  options: ImportOptions,
  lock: ImportLock,
): Promise<ImportSummary> {
  const digest = new SourceDigest();
  const resumePoint = options.resume === true ? await readResumePoint(store, tenant) : undefined;
  const resumption = createResumption(resumePoint, options.format, digest);
  const tally: Tally = { read: 0, rejected: resumePoint?.rejected ?? 0 };
  const begun = { read: resumePoint?.read ?? 0, rejected: tally.rejected };
  let reported: Promise<void> | undefined;
  /**
   * Reports the resumed import, once the source is known to match it and before any later callback.
   */
  const reportResume = () => (reported ??= Promise.resolve(options.onResume?.(begun)));
  const loader = createBatchLoader(store, tenant, lock, resumePoint ?? { inserted: 0, updated: 0, unchanged: 0 });
  let batch = new Map<string, SubscriptionRow>();
  // state after the last row of the batch
  let done = { read: tally.read, rejected: tally.rejected, bytes: 0 };
  let end = batchEnd(done.read, options.batchRowsMax);
  const flush = async (isLast: boolean): Promise<void> => {
    const sha256 = digest.at(done.bytes) ?? '';
    const { bytes, read, rejected } = done;
    await loader.load([...batch.values()], (counts) =>
      isLast ? 'finished' : { bytes, sha256, format: options.format, read, rejected, ...counts },
    );
    batch = new Map();
    options.onProgress?.(tally.read);
  };
  try {
    for await (const { row, before } of readValidRows(
      digest.follow(decompressed(source, options)),
      {
        ...options,
        async onRejected(row) {
          await reportResume();
          await options.onRejected(row);
        },
      },
      tally,
      resumption,
      (bytes) => digest.markRowEnd(bytes),
    )) {
      if (before.read >= end) {
        done = before;
        await flush(false);
        end = batchEnd(before.read, options.batchRowsMax);
      }
      batch.set(row.id, row);
    }
    resumption.requireReached(tally.read);
    await reportResume();
    await flush(true);
  } finally {
    await loader.settle();
  }
  return summaryOf(tally, loader.counts);
}

/** Combines the rows read with the rows loaded. */
export const summaryOf = ({ read, rejected }: Tally, counts: LoadCounts): ImportSummary => ({
  read,
  accepted: read - rejected,
  rejected,
  ...counts,
});
