import { createFreshCache } from '../storage/fresh-map.ts';
import type { Store, TenantId } from '../storage/store.ts';
import { findTenant } from '../storage/tables/tenant.ts';

/** Creates a function that returns a tenant's revision: cached while the store has not changed. */
export function createRevisionLookup(store: Store): (tenant: TenantId) => Promise<number> {
  const revisions = createFreshCache(store, async (tenant) => (await findTenant(store, tenant))?.revision ?? 0);
  return (tenant) => revisions(tenant);
}
