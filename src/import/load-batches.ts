import { setTimeout as sleep } from 'node:timers/promises';
import { StorageError } from '../storage/error.ts';
import type { ImportLock, LoadCounts, ResumePoint, Store, TenantId } from '../storage/store.ts';
import { inSpan } from '../tracing/span.ts';
import type { Batch } from './batch.ts';
import { requireHeld } from './import-lock.ts';

/**
 * Maximum attempts at a batch that cannot get its locks; each waits up to the store's own limit.
 */
const attemptsMax = 3;
/** Wait before the second attempt in milliseconds; it grows with each attempt. */
const pauseMs = 200;

/** Returns the resume point after a batch; `counts` are those of the batches before it. */
type ResumePointAfter = (counts: LoadCounts) => ResumePoint | 'finished';

/** What the loader needs of a `Batch`. */
type BatchRows = Pick<Batch, 'changedRows' | 'comparison' | 'allRows'>;

/** Loads rows in batches, each durable once `counts` includes it. */
export interface BatchLoader {
  /** Counts of the rows in finished batches. */
  readonly counts: LoadCounts;
  /** Whether most rows of the last finished batch were new: then comparing first costs more. */
  readonly expectsNew: boolean;
  /**
   * Waits for the previous batch, starts loading this one and resolves without waiting for it, so
   * that the caller can read the following batch meanwhile.
   */
  load(batch: BatchRows, pointAfter: ResumePointAfter): Promise<void>;
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
  let expectsNew = false;
  const loadOne = async (batch: BatchRows, pointAfter: ResumePointAfter): Promise<void> => {
    requireHeld(lock, 'run the import again with --resume');
    const resumePoint = pointAfter(counts);
    const { changedRows, comparison } = batch;
    const loaded = await inSpan(
      'load batch',
      async () => {
        const changed = comparison && { rows: changedRows, comparison, resumePoint };
        const known = changed && (await retryBusy(() => store.loadChanged(tenant, changed)));
        if (known !== undefined) return known;
        const rows = batch.allRows();
        return retryBusy(() => store.loadSubscriptions(tenant, rows, resumePoint));
      },
      () => ({ 'subreport.rows': changedRows.length }),
    );
    expectsNew = loaded.inserted > loaded.updated + loaded.unchanged;
    Object.assign(counts, sum(counts, loaded));
  };
  return {
    counts,
    get expectsNew() {
      return expectsNew;
    },
    async load(batch, pointAfter) {
      await pendingBatch;
      pendingBatch = loadOne(batch, pointAfter);
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
