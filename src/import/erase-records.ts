import type { Store, TenantId } from '../storage/store.ts';
import { requireHeld, withImportLock } from './import-lock.ts';

/** Records per transaction. */
const batchRows = 500;

/** The result of an erasure. */
interface ErasureSummary {
  /** Distinct ids in the request. */
  readonly asked: number;
  readonly deleted: number;
  /** Ids without a record; they may have been erased before. */
  readonly missing: number;
}

/**
 * Erases records by their ids, in batches that are durable one by one. Each record leaves a
 * tombstone, so that clients that read changes remove it too. Throws `ImportError` `BUSY`, and
 * erases nothing, while an import into the tenant is running, because it could bring a record back.
 */
export function eraseRecords(store: Store, tenant: TenantId, ids: ReadonlySet<string>): Promise<ErasureSummary> {
  return withImportLock(store, tenant, async (lock) => {
    const all = [...ids];
    let deleted = 0;
    for (let start = 0; start < all.length; start += batchRows) {
      requireHeld(lock, 'run the command again');
      deleted += await store.deleteSubscriptions(tenant, all.slice(start, start + batchRows));
    }
    return { asked: ids.size, deleted, missing: ids.size - deleted };
  });
}
