import type { Replacement, Store, TenantId } from '../storage/store.ts';
import type { SubscriptionRow } from '../storage/subscription-row.ts';
import { ImportError } from './error.ts';
import { requireHeld, withImportLock } from './import-lock.ts';
import { type ImportSummary, summaryOf } from './import-records.ts';
import { batchRows } from './load-batches.ts';
import { readGoodRows, type SourceOptions, type Tally, unpacked } from './read-good-rows.ts';

/** How to replace. */
interface ReplaceOptions extends SourceOptions {
  /** Count what would change, and change nothing. */
  readonly dryRun: boolean;
  /** Whether a source without rows may remove everything. */
  readonly allowEmpty: boolean;
}

/** What a replacement did. `refused` says why it did nothing: its counts are zero then. */
export interface ReplaceSummary extends ImportSummary {
  readonly removed: number;
  readonly refused?: ImportError;
}

/**
 * Makes a source all records of a tenant, in one transaction: readers see the report of before
 * until they see the new one, records that are not in the source become removed ones, equal ones
 * are left alone. A source with one row that is rejected, or without any row, changes nothing; nor
 * does one that fails. Fails with `ImportError` as `importRecords` does.
 */
export async function replaceRecords(
  store: Store,
  tenant: TenantId,
  source: AsyncIterable<Buffer>,
  options: ReplaceOptions,
): Promise<ReplaceSummary> {
  return withImportLock(store, tenant, async (lock) => {
    const replacement = await store.openReplacement(tenant);
    try {
      const tally = { read: 0, rejected: 0 };
      await gather(replacement, source, options, tally);
      const refused = refusalOf(tally, options.allowEmpty);
      if (refused !== undefined) {
        return { ...summaryOf(tally, { inserted: 0, updated: 0, unchanged: 0 }), removed: 0, refused };
      }
      requireHeld(lock, 'nothing was changed');
      const { removed, ...counts } = await replacement.finish(options.dryRun);
      return { ...summaryOf(tally, counts), removed };
    } finally {
      await replacement.close();
    }
  });
}

/** Adds the good rows of a source in batches, each while the next one is read. */
async function gather(
  replacement: Replacement,
  source: AsyncIterable<Buffer>,
  options: ReplaceOptions,
  tally: Tally,
): Promise<void> {
  let batch = new Map<string, SubscriptionRow>();
  let underWay: Promise<void> = Promise.resolve();
  const flush = async (): Promise<void> => {
    await underWay;
    underWay = replacement.add([...batch.values()]);
    underWay.catch(() => undefined); // it is told to whoever waits for it next
    batch = new Map();
    options.onProgress?.(tally.read);
  };
  try {
    for await (const { row } of readGoodRows(unpacked(source, options), options, tally)) {
      if (tally.rejected > 0) continue; // nothing will come of it but the list of all that is wrong
      batch.set(row.id, row);
      if (batch.size >= batchRows) await flush();
    }
    await flush();
  } finally {
    await underWay;
  }
}

function refusalOf({ read, rejected }: Tally, allowEmpty: boolean): ImportError | undefined {
  if (rejected > 0) {
    return new ImportError(
      'BAD_ROWS',
      `Cannot replace the records: every row must be valid, or the record of an invalid one would be removed: ${rejected} of ${read} are not; nothing was changed`,
    );
  }
  if (read === 0 && !allowEmpty) {
    return new ImportError(
      'EMPTY',
      'Cannot replace the records by none: the source must have rows, or it must be said that all records are to be removed (allow-empty); nothing was changed',
    );
  }
  return undefined;
}
