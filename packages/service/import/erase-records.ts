import type { RecordOwner, Store, TenantId } from '../storage/store.ts';
import { beginDeletion, finishDeletion } from '../storage/tables/delete-tenant.ts';
import { afterAllIds, removeImports } from '../storage/tables/import-history.ts';
import { readOwners } from '../storage/tables/subscription-ids.ts';
import { eraseRejections } from './erase-rejections.ts';
import { requireHeld, withImportLock, withWriteLock } from './import-lock.ts';

/** Records per transaction. */
const batchRows = 500;

interface ErasureSummary {
  /** Distinct ids in the request, or records of the subscriber or SIM. */
  readonly asked: number;
  readonly deleted: number;
  /** Ids without a record; they may have been erased before. */
  readonly missing: number;
  /** Former versions, of these records and of those that are removed or have another owner now. */
  readonly versions: number;
}

/**
 * Erases records by their ids, in batches that are durable one by one, and their former versions,
 * or what an owner has and had; also the rejected rows in the
 * history of imports that quote their ids, ICCIDs, emails or devices. `findIds` is called while no
 * import can add a record. Each record leaves a tombstone, so that clients that read changes remove
 * it too. Throws `ImportError` `BUSY`, and erases nothing, while an import into the tenant is
 * running, because it could bring a record back.
 */
export function eraseRecords(
  store: Store,
  tenant: TenantId,
  findIds: () => ReadonlySet<string> | Promise<ReadonlySet<string>>,
  owner?: RecordOwner,
): Promise<ErasureSummary> {
  return withImportLock(store, tenant, async (lock) => {
    const ids = await findIds();
    const all = [...ids];
    // before the records, which say what to look for if the erasure is repeated
    await eraseRejections(store, tenant, await readMarks(store, tenant, all, owner));
    let [deleted, versions] = [0, 0];
    for (let start = 0; start < all.length; start += batchRows) {
      requireHeld(lock, 'run the command again');
      const erased = await store.deleteSubscriptions(tenant, all.slice(start, start + batchRows), owner);
      deleted += erased.records;
      versions += erased.versions;
    }
    const asked = owner === undefined ? ids.size : deleted;
    return { asked, deleted, missing: asked - deleted, versions };
  });
}

/** The values by which a rejected row names an erased record or its owner. */
async function readMarks(
  store: Store,
  tenant: TenantId,
  ids: readonly string[],
  owner: RecordOwner | undefined,
): Promise<ReadonlySet<string>> {
  const marks = new Set([...ids, ...(owner === undefined ? [] : [owner.value])]);
  for (let start = 0; start < ids.length; start += batchRows)
    for (const row of await readOwners(store, tenant, ids.slice(start, start + batchRows), owner))
      for (const value of Object.values(row)) if (value !== null) marks.add(String(value));
  return marks;
}

/** Rows of a deleted tenant per transaction. */
const deletedRows = 2_000;

/** Counts of deleted rows; if a failed deletion is run again, those of the last run. */
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
      erased = await store.eraseRows(tenant, deletedRows);
    }
    // the history stays until now, so that an interrupted deletion can still be understood
    while ((await removeImports(store, tenant, afterAllIds, deletedRows)) > 0)
      requireHeld(lock, 'run the deletion again');
    await finishDeletion(store, tenant, nowSeconds());
    return { clients, rows };
  });
}
