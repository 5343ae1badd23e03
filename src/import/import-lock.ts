import type { ImportLock } from '../storage/import-lock.ts';
import type { Store, TenantId } from '../storage/store.ts';
import { ImportError } from './error.ts';

/** Fails as `withImportLock` does: for those who would else find out after a long preparation. */
export const requireNoImport = (store: Store, tenant: TenantId): Promise<void> =>
  withImportLock(store, tenant, async () => undefined);

/** Runs an import with the right to import into a tenant. Fails with `ImportError` `BUSY` at once when another import into it is running. */
export async function withImportLock<T>(
  store: Store,
  tenant: TenantId,
  work: (lock: ImportLock) => Promise<T>,
): Promise<T> {
  const lock = await store.lockImport(tenant);
  if (lock === undefined) {
    throw new ImportError(
      'BUSY',
      `Cannot import into the tenant now: one import at a time may write to it, and another one is running: current value is '${tenant}'`,
    );
  }
  try {
    return await work(lock);
  } finally {
    await lock.release();
  }
}
