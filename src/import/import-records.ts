import type { ImportLock } from '../storage/import-lock.ts';
import type { LoadCounts } from '../storage/load-counts.ts';
import { readImportMark } from '../storage/read-import-mark.ts';
import type { Store, TenantId } from '../storage/store.ts';
import type { SubscriptionRow } from '../storage/subscription-row.ts';
import { withImportLock } from './import-lock.ts';
import { batchRows, batchRowsMax, createBatchLoader } from './load-batches.ts';
import { readGoodRows, type SourceOptions, type Tally, unpacked } from './read-good-rows.ts';
import { createResumption } from './resume-import.ts';
import { SourceDigest } from './source-digest.ts';

/** What an import did. `read` counts rows; in a dry run nothing is inserted, updated or unchanged. */
export interface ImportSummary extends LoadCounts {
  readonly read: number;
  readonly accepted: number;
  readonly rejected: number;
}

/** How to import. */
export interface ImportOptions extends SourceOptions {
  /** Check every row and load none. */
  readonly dryRun: boolean;
  /** Go on where an import of the same source, that did not finish, left off; its counts go on too. */
  readonly resume?: boolean;
  /** Rows of one transaction at most; a store that works in this process keeps it from everything else for so long. */
  readonly batchRowsMax?: number;
  /** Told before the first row that is rejected how many rows, and rejected ones among them, were done by the import that is resumed. */
  readonly onResume?: (done: { readonly read: number; readonly rejected: number }) => Promise<void> | void;
}

/**
 * Reads a source, unpacking gzip and zstd, row by row, checks each against the contract and loads the good ones in batches, each durable when it is counted. The same source twice
 * changes nothing. Of several rows with one id, the last one counts. Each batch commits how far the source is done, which `resume` goes on from. Fails with
 * `ImportError`: `BUSY` while another import into the tenant is running, `OTHER_SOURCE` when there is another one to resume.
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
  for await (const _ of readGoodRows(unpacked(source, options), options, tally))
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
  const mark = options.resume === true ? await readImportMark(store, tenant) : undefined;
  const resumption = createResumption(mark, options.format, digest);
  const tally: Tally = { read: 0, rejected: mark?.rejected ?? 0 };
  const begun = { read: mark?.read ?? 0, rejected: tally.rejected };
  let told: Promise<void> | undefined;
  /** Once the source is known to be the one that is resumed, and before anything of what follows is told. */
  const tellResume = () => (told ??= Promise.resolve(options.onResume?.(begun)));
  const loader = createBatchLoader(store, tenant, lock, mark ?? { inserted: 0, updated: 0, unchanged: 0 });
  let batch = new Map<string, SubscriptionRow>();
  let rowsMax = Math.min(batchRows, options.batchRowsMax ?? batchRows); // the first one is small, so that a short import is soon done
  let done = { read: tally.read, rejected: tally.rejected, bytes: 0 }; // up to the last row of the batch
  const flush = async (isLast: boolean): Promise<void> => {
    const sha256 = digest.at(done.bytes) ?? '';
    const { bytes, read, rejected } = done;
    await loader.load([...batch.values()], (counts) =>
      isLast ? 'finished' : { bytes, sha256, format: options.format, read, rejected, ...counts },
    );
    batch = new Map();
    rowsMax = options.batchRowsMax ?? batchRowsMax;
    options.onProgress?.(tally.read);
  };
  try {
    for await (const { row, before } of readGoodRows(
      digest.follow(unpacked(source, options)),
      {
        ...options,
        async onRejected(row) {
          await tellResume();
          await options.onRejected(row);
        },
      },
      tally,
      resumption,
      (bytes) => digest.pass(bytes),
    )) {
      if (batch.has(row.id) || batch.size >= rowsMax) {
        done = before;
        await flush(false);
      }
      batch.set(row.id, row);
    }
    resumption.requireReached(tally.read);
    await tellResume();
    await flush(true);
  } finally {
    await loader.settle();
  }
  return summaryOf(tally, loader.counts);
}

/** What was read and loaded. */
export const summaryOf = ({ read, rejected }: Tally, counts: LoadCounts): ImportSummary => ({
  read,
  accepted: read - rejected,
  rejected,
  ...counts,
});
