import type { Store, TenantId } from '../storage/store.ts';
import { requireHeld, withImportLock } from './import-lock.ts';

/** Records of one transaction. */
const batchRows = 500;

/** What became of the records that were to be erased. */
interface ErasureSummary {
  /** Ids that were given, each counted once. */
  readonly asked: number;
  readonly deleted: number;
  /** Ids of no record; they may have been erased before. */
  readonly missing: number;
}

/**
 * Erases records by their ids, in batches that are durable one by one; each record leaves a
 * tombstone, so clients that follow the changes remove it too. Throws `ImportError` `BUSY`, and
 * erases nothing, while an import into the tenant is running: it might bring a record back.
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
