import { checkRow } from '../../packages/service/import/check-row.ts';
import { syntheticRows } from '../../packages/service/import/synthetic-rows.ts';
import type { Store, TenantId } from '../../packages/service/storage/store.ts';
import type { SubscriptionRow } from '../../packages/service/storage/subscription-row.ts';
import { findTenant, insertTenant } from '../../packages/service/storage/tables/tenant.ts';

/**
 * The current time of all generated data: 2026-01-01T00:00:00Z. The data covers the preceding three
 * years.
 */
export const until = 1_767_225_600;
export const historySeconds = 3 * 365 * 86_400;

const batchRows = 5_000;

/**
 * Number of records of each tenant: the second one has half as many as the first, the third one a
 * third (Zipf), and each at least one.
 */
export function tenantSizes(records: number, tenants: number): readonly number[] {
  const weights = Array.from({ length: tenants }, (_, index) => 1 / (index + 1));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => Math.max(1, Math.round((records * weight) / sum)));
}

/**
 * Fills a store with synthetic records and gives its tenants, largest first. Their names begin with
 * `prefix`.
 */
export async function loadDataSet(
  store: Store,
  records: number,
  tenants: number,
  prefix = '',
): Promise<readonly TenantId[]> {
  const loaded: TenantId[] = [];
  for (const [index, count] of tenantSizes(records, tenants).entries()) {
    const name = `${prefix}tenant-${String(index + 1).padStart(3, '0')}`;
    await insertTenant(store, name, until);
    const tenant = (await findTenant(store, name))?.tenant;
    if (tenant === undefined) throw new TypeError('Cannot load the data: a tenant must exist once it was inserted');
    let batch: SubscriptionRow[] = [];
    for (const row of syntheticRecords(count, index + 1)) {
      batch.push(row);
      if (batch.length === batchRows) {
        await store.loadSubscriptions(tenant, batch);
        batch = [];
      }
    }
    if (batch.length > 0) await store.loadSubscriptions(tenant, batch);
    loaded.push(tenant);
  }
  return loaded;
}

/** `count` records as the store keeps them, deterministic for a seed. */
export function* syntheticRecords(count: number, seed: number): Generator<SubscriptionRow> {
  for (const row of syntheticRows({ count, seed, until })) {
    const checked = checkRow(row);
    if ('faults' in checked) throw new TypeError(`Cannot load the data: ${JSON.stringify(checked.faults)}`);
    yield checked.row;
  }
}
