import type { Store, TenantId } from '../../packages/service/storage/store.ts';
import { findTenant, insertTenant } from '../../packages/service/storage/tables/tenant.ts';

let made = 0;
const nextName = (): string => {
  made += 1;
  return `tenant-${made}`;
};

/** Adds a tenant to a store; without a name it gets one that no other has. */
export async function addTenant(store: Store, name = nextName(), createdAt = 1): Promise<TenantId> {
  await insertTenant(store, name, createdAt);
  const found = await findTenant(store, name);
  if (found === undefined) throw new Error(`no tenant ${name}`);
  return found.tenant;
}
