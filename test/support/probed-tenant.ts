import { createClient } from '../../packages/service/auth/clients/manage-clients.ts';
import { checkRow } from '../../packages/service/import/check-row.ts';
import { syntheticRows } from '../../packages/service/import/synthetic-rows.ts';
import { openStore } from '../../packages/service/storage/open-store.ts';
import type { Store, TenantId } from '../../packages/service/storage/store.ts';
import type { SubscriptionRow } from '../../packages/service/storage/subscription-row.ts';
import { findTenant, insertTenant } from '../../packages/service/storage/tables/tenant.ts';
import { type ProbedTenant, until } from './turn-activities.ts';

const name = 'acme';

/**
 * Opens an embedded store with one tenant of `records` records, which it creates if the folder has
 * none.
 */
export async function openProbedTenant(dataDir: string, records: number): Promise<ProbedTenant> {
  const store = openStore({ databaseUrl: undefined, dataDir, poolSize: 1, onConnectionError: () => undefined });
  try {
    await store.migrate();
    const known = await findTenant(store, name);
    const tenant = known?.tenant ?? (await makeTenant(store, records));
    const client = await createClient(store, 1, { tenant, scopes: ['subscription:read', 'subscription:write'] });
    return { name, records, client };
  } finally {
    await store.close();
  }
}

async function makeTenant(store: Store, records: number): Promise<TenantId> {
  await insertTenant(store, name, until);
  const tenant = (await findTenant(store, name))?.tenant;
  if (tenant === undefined) throw new TypeError('no tenant');
  let batch: SubscriptionRow[] = [];
  for (const row of syntheticRows({ count: records, seed: 1, until })) {
    const checked = checkRow(row);
    if ('faults' in checked) throw new TypeError(JSON.stringify(checked.faults));
    batch.push(checked.row);
    if (batch.length < 20_000) continue;
    await store.loadSubscriptions(tenant, batch);
    batch = [];
  }
  await store.loadSubscriptions(tenant, batch);
  return tenant;
}
