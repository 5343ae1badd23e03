import { setTimeout as sleep } from 'node:timers/promises';
import { StorageError } from '../storage/error.ts';
import type { ImportLock, LoadCounts, ResumePoint, Store, TenantId } from '../storage/store.ts';
import type { SubscriptionRow } from '../storage/subscription-row.ts';
import { inSpan } from '../tracing/span.ts';
import { requireHeld } from './import-lock.ts';
import type { ValidRow } from './read-valid-rows.ts';

/** Rows of the first transaction. */
export const batchRows = 1_000;
/**
 * Rows of each later transaction: enough to share its cost, few enough that another writer waits
 * only a tenth of a second or two.
 */
const batchRowsMax = 3_000;

/**
 * The number of the last row of the batch that begins after row `read`. It depends only on the row
 * number, so a resumed import forms the same batches, and gets the same counts, as one that was
 * never stopped.
 */
function batchEnd(read: number, rowsMax = batchRowsMax): number {
  const first = Math.min(batchRows, rowsMax);
  return read < first ? first : first + (Math.floor((read - first) / rowsMax) + 1) * rowsMax;
}

/** The rows of one transaction; of rows with one id only the last. */
interface Batch {
  readonly batch: readonly SubscriptionRow[];
  /** How far the source is done after the batch; `undefined` for the last one. */
  readonly end: ValidRow['before'] | undefined;
}

/** Groups rows into batches of up to `rowsMax` rows of the source, and a last one, maybe empty. */
export async function* readBatches(rows: AsyncIterable<ValidRow>, rowsMax?: number): AsyncGenerator<Batch> {
  let batch = new Map<string, SubscriptionRow>();
  let end = batchEnd(0, rowsMax);
  for await (const { row, before } of rows) {
    if (before.read >= end) {
      yield { batch: [...batch.values()], end: before };
      batch = new Map();
      end = batchEnd(before.read, rowsMax);
    }
    batch.set(row.id, row);
  }
  yield { batch: [...batch.values()], end: undefined };
}

/**
 * Maximum attempts at a batch that cannot get its locks; each waits up to the store's own limit.
 */
const attemptsMax = 3;
/** Wait before the second attempt in milliseconds; it grows with each attempt. */
const pauseMs = 200;

/** Returns the resume point after a batch; `counts` are those of the batches before it. */
type ResumePointAfter = (counts: LoadCounts) => ResumePoint | 'finished';

/** Loads rows in batches, each durable once `counts` includes it. */
interface BatchLoader {
  /** Counts of the rows in finished batches. */
  readonly counts: LoadCounts;
  /**
   * Waits for the previous batch, starts loading this one and resolves without waiting for it, so
   * that the caller can read the following batch meanwhile.
   */
  load(rows: readonly SubscriptionRow[], pointAfter: ResumePointAfter): Promise<void>;
  /** Resolves when the last batch has finished. */
  settle(): Promise<void>;
}

/** The tenant that an import loads, under its import lock. */
export interface LoadTarget {
  readonly store: Store;
  readonly tenant: TenantId;
  readonly lock: ImportLock;
}

/** Loads batches one after another, each while the next one is read and checked. */
export function createBatchLoader({ store, tenant, lock }: LoadTarget, start: LoadCounts): BatchLoader {
  const counts = { inserted: start.inserted, updated: start.updated, unchanged: start.unchanged };
  let pendingBatch: Promise<void> = Promise.resolve();
  const loadOne = async (rows: readonly SubscriptionRow[], pointAfter: ResumePointAfter): Promise<void> => {
    requireHeld(lock, 'run the import again with --resume');
    const loaded = await inSpan(
      'load batch',
      () => retryBusy(() => store.loadSubscriptions(tenant, rows, pointAfter(counts))),
      () => ({ 'subreport.rows': rows.length }),
    );
    Object.assign(counts, sum(counts, loaded));
  };
  return {
    counts,
    async load(rows, pointAfter) {
      await pendingBatch;
      pendingBatch = loadOne(rows, pointAfter);
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

const sum = (a: LoadCounts, b: LoadCounts): LoadCounts => ({
  inserted: a.inserted + b.inserted,
  updated: a.updated + b.updated,
  unchanged: a.unchanged + b.unchanged,
});
