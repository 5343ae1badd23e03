import type { Store, TenantId } from '../storage/store.ts';
import { beginDeletion, finishDeletion } from '../storage/tables/delete-tenant.ts';
import { afterAllIds, removeImports } from '../storage/tables/import-history.ts';
import { requireHeld, withWriteLock } from './import-lock.ts';

/** Rows per transaction. */
const batchRows = 2_000;

/** Counts of deleted rows. If a deletion is resumed, only the last run counts. */
interface DeletionSummary {
  readonly clients: number;
  /** Records, counts and tombstones. */
  readonly rows: number;
}

/**
 * Deletes a tenant: its clients at once, then its rows in batches. A killed deletion continues when
 * it is run again; until then the tenant cannot be used. Throws `ImportError` `BUSY`, and changes
 * nothing, while an import into the tenant is running.
 */
export function deleteTenant(store: Store, tenant: TenantId, nowSeconds: () => number): Promise<DeletionSummary> {
  return withWriteLock(store, tenant, async (lock) => {
    const clients = await beginDeletion(store, tenant, nowSeconds());
    let rows = 0;
    for (let erased = -1; erased !== 0; rows += erased) {
      requireHeld(lock, 'run the deletion again');
      erased = await store.eraseRows(tenant, batchRows);
    }
    // the history stays until now, so that an interrupted deletion can still be understood
    while ((await removeImports(store, tenant, afterAllIds, batchRows)) > 0)
      requireHeld(lock, 'run the deletion again');
    await finishDeletion(store, tenant, nowSeconds());
    return { clients, rows };
  });
}
