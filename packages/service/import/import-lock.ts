import { StorageError } from '../storage/error.ts';
import type { ImportLock, Store, TenantId } from '../storage/store.ts';
import { findTenant } from '../storage/tables/tenant.ts';
import { ImportError } from './error.ts';

/**
 * Runs an import while holding the tenant's import lock. Throws `ImportError` immediately: `BUSY`
 * if another import into the tenant is running, `NO_TENANT` if the tenant was deleted since it was
 * looked up.
 */
export function withImportLock<T>(store: Store, tenant: TenantId, work: (lock: ImportLock) => Promise<T>): Promise<T> {
  return withWriteLock(store, tenant, async (lock) => {
    if ((await findTenant(store, tenant)) === undefined) {
      throw new ImportError(
        'NO_TENANT',
        `Cannot import into the tenant: it must exist, and it was deleted or is being deleted: current value is '${tenant}'`,
      );
    }
    return work(lock);
  });
}

/**
 * Runs work during which no other process may write the tenant's records. Throws `ImportError`
 * `BUSY` immediately if one does.
 */
export async function withWriteLock<T>(
  store: Store,
  tenant: TenantId,
  work: (lock: ImportLock) => Promise<T>,
): Promise<T> {
  const lock = await store.lockImport(tenant);
  if (lock === undefined) {
    throw new ImportError(
      'BUSY',
      `Cannot change the records of the tenant now: one import at a time may write to it, and another one is running: current value is '${tenant}'`,
    );
  }
  try {
    return await work(lock);
  } finally {
    await lock.release();
  }
}

/** Throws if the lock was lost with its connection; `advice` says what to do then. */
export function requireHeld(lock: ImportLock, advice: string): void {
  if (lock.isHeld()) return;
  throw new StorageError(
    'UNAVAILABLE',
    `Cannot continue: the connection that holds the import lock of the tenant must stay open; ${advice}`,
  );
}
