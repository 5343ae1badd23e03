import type { Directory, TenantReader } from '../store.ts';

/** A tenant's revision; `undefined` if there is no such tenant, or it is being deleted. */
export async function findRevision(store: Directory, tenant: string): Promise<number | undefined> {
  const [row] = await store.readDirectory('select revision from tenant where id = $1 and deletion_started_at is null', [
    tenant,
  ]);
  return row === undefined ? undefined : Number(row.revision);
}

/** The tenant's revision in the reader's snapshot. */
export async function readRevision(reader: TenantReader): Promise<number> {
  const [row] = await reader.all(
    'select revision from (select id as tenant_id, revision from tenant) as t where tenant_id = $1',
  );
  return Number(row?.revision ?? 0);
}
