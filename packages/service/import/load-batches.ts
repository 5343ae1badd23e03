import { setTimeout as sleep } from 'node:timers/promises';
import { StorageError } from '../storage/error.ts';
import type { ImportLock, LoadCounts, Store, TenantId } from '../storage/store.ts';
import type { SubscriptionRow } from '../storage/subscription-row.ts';
import { ImportError, sayLeft } from './error.ts';
import { requireHeld } from './import-lock.ts';

/** The tenant that an import loads, under its import lock. */
export interface LoadTarget {
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
    const loaded = await retryBusy(() => store.loadSubscriptions(tenant, rows, expectsNew, importId)).catch(
      sayLeft(before === 0 ? 'nothing was loaded' : `the ${before} records before them are loaded`),
    );
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

/** The error of an import that ends early, with how many records it has stored. */
export function sayLoaded(error: unknown, { inserted, updated, unchanged }: LoadCounts): unknown {
  const loaded = inserted + updated + unchanged;
  const said = (message: string): string => `${message}; ${loaded} records before it are loaded`;
  if (loaded === 0) return error;
  if (error instanceof StorageError) return new StorageError(error.code, said(error.message), error);
  // of a batch beyond the budget, the message has the number already
  const isUnsaid = error instanceof ImportError && error.code !== 'OVER_BUDGET';
  return isUnsaid ? new ImportError(error.code, said(error.message)) : error;
}
