import { setTimeout as sleep } from 'node:timers/promises';
import { StorageError } from '../storage/error.ts';
import type { ImportLock, LoadCounts, ResumePoint, Store, TenantId } from '../storage/store.ts';
import type { SubscriptionRow } from '../storage/subscription-row.ts';
import { requireHeld } from './import-lock.ts';

/** Rows of the first transaction. */
export const batchRows = 1_000;
/**
 * Rows of the transactions after it: large enough to share their cost, small enough that another
 * writer waits a tenth of a second or two. Four times as many were no faster, and took 40 MB more.
 */
const batchRowsMax = 2_000;

/**
 * The row of the source that ends the batch which begins behind row `read`. It depends on the row's
 * number alone, so a resumed import makes the same batches, and the same counts, as one that was
 * never stopped.
 */
export function batchEnd(read: number, rowsMax = batchRowsMax): number {
  const first = Math.min(batchRows, rowsMax);
  return read < first ? first : first + (Math.floor((read - first) / rowsMax) + 1) * rowsMax;
}

/**
 * Attempts at a batch that another transaction keeps from its locks; each waits for them up to the
 * store's own limit.
 */
const attemptsMax = 3;
/** Wait before the second attempt, in milliseconds; it grows with each. */
const pauseMs = 200;

/** The resume point after a batch; `counts` are those of the batches before it. */
type ResumePointAfter = (counts: LoadCounts) => ResumePoint | 'finished';

/** Where rows go in batches, each durable once `counts` has it. */
interface BatchLoader {
  /** What became of the rows of the batches that are done. */
  readonly counts: LoadCounts;
  /**
   * Loads a batch as soon as the one before it is done; resolves when that one is, so that the next
   * can be read meanwhile.
   */
  load(rows: readonly SubscriptionRow[], pointAfter: ResumePointAfter): Promise<void>;
  /** Resolves when the last batch is done. */
  settle(): Promise<void>;
}

/** Loads batches one after another, each while the next one is read and checked. */
export function createBatchLoader(store: Store, tenant: TenantId, lock: ImportLock, start: LoadCounts): BatchLoader {
  const counts = { inserted: start.inserted, updated: start.updated, unchanged: start.unchanged };
  let underWay: Promise<void> = Promise.resolve();
  const loadOne = async (rows: readonly SubscriptionRow[], pointAfter: ResumePointAfter): Promise<void> => {
    requireHeld(lock, 'run the import again with --resume');
    const loaded = await retryBusy(() => store.loadSubscriptions(tenant, rows, pointAfter(counts)));
    Object.assign(counts, sum(counts, loaded));
  };
  return {
    counts,
    async load(rows, pointAfter) {
      await underWay;
      underWay = loadOne(rows, pointAfter);
      underWay.catch(() => undefined); // it is told to whoever waits for the batch next
    },
    settle: () => underWay,
  };
}

/**
 * Runs a transaction again that lost a deadlock or waited too long for a lock: of a shard that
 * moves, say, or of a migration.
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
