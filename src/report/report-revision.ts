import { createFreshCache } from '../storage/fresh-cache.ts';
import type { Store, TenantId } from '../storage/store.ts';
import { findTenant } from '../storage/tables/tenant.ts';

/**
 * Makes the function that tells a tenant's revision now: from memory while the store is known not
 * to have changed, from the store otherwise.
 */
export function createRevisionLookup(store: Store): (tenant: TenantId) => Promise<number> {
  const revisions = createFreshCache(store, async (tenant) => (await findTenant(store, tenant))?.revision ?? 0);
  return (tenant) => revisions(tenant);
}
