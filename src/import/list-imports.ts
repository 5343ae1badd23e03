import type { Store, TenantId } from '../storage/store.ts';
import {
  findImportRow,
  type ImportFilter,
  type ImportRow,
  interruptImports,
  listImportRows,
} from '../storage/tables/import-history.ts';
import { readRejections } from '../storage/tables/import-rejection.ts';
import { findTenant } from '../storage/tables/tenant.ts';

/** The imports that match, the newest first, at most `limit`. */
export async function listImports(store: Store, filter: ImportFilter, limit: number): Promise<readonly ImportRow[]> {
  const rows = await listImportRows(store, filter, limit);
  const interrupted = await interruptDead(store, rows);
  return interrupted ? listImportRows(store, filter, limit) : rows;
}

/** The import with this id, or `undefined`. */
export async function findImport(store: Store, id: string): Promise<ImportRow | undefined> {
  const row = await findImportRow(store, id);
  return row !== undefined && (await interruptDead(store, [row])) ? findImportRow(store, id) : row;
}

/** The first rejected rows of an import, as NDJSON. */
export async function readImportErrors(store: Store, { tenant: name, id }: ImportRow): Promise<string> {
  const tenant = (await findTenant(store, name))?.tenant;
  return tenant === undefined ? '' : readRejections(store, tenant, id);
}

/**
 * Marks imports as interrupted that are stored as running while no process holds their tenant's
 * import lock. Returns whether there were any.
 */
async function interruptDead(store: Store, rows: readonly ImportRow[]): Promise<boolean> {
  const tenants = new Set(rows.filter(({ result }) => result === 'running').map(({ tenant }) => tenant as TenantId));
  let found = false;
  for (const tenant of tenants) {
    const lock = await store.lockImport(tenant);
    if (lock === undefined) continue;
    try {
      await interruptImports(store, tenant);
      found = true;
    } finally {
      await lock.release();
    }
  }
  return found;
}
