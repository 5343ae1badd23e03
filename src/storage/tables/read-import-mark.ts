import type { ImportMark } from './import-mark.ts';
import type { Store, TenantId } from '../store.ts';

/** The mark of a tenant's unfinished import, or `undefined` when there is none. */
export async function readImportMark(store: Store, tenant: TenantId): Promise<ImportMark | undefined> {
  const [row] = await store.readTenant(
    tenant,
    (reader) =>
      reader.all(
        `select bytes, sha256, format, rows_read, rejected, inserted, updated, unchanged from subscription_import
       where tenant_id = $1`,
      ),
    { isBounded: true },
  );
  if (row === undefined) return undefined;
  return {
    bytes: Number(row.bytes),
    sha256: String(row.sha256),
    format: String(row.format),
    read: Number(row.rows_read),
    rejected: Number(row.rejected),
    inserted: Number(row.inserted),
    updated: Number(row.updated),
    unchanged: Number(row.unchanged),
  };
}
