import { createClient } from '../../packages/service/auth/clients/manage-clients.ts';
import { createImportId } from '../../packages/service/import/record-import.ts';
import type { Store, TenantId } from '../../packages/service/storage/store.ts';
import { type ImportRow, putImport } from '../../packages/service/storage/tables/import-history.ts';
import { insertTenant } from '../../packages/service/storage/tables/tenant.ts';
import type { BenchStore } from '../support/bench-store.ts';
import { syntheticRecords } from '../support/data-set.ts';

/** Records of each tenant but the first. */
const fewRecords = 3;
const batchRows = 5_000;
/** Nights in which each tenant was loaded. */
const nights = 3;
const dayMs = 86_400_000;

/**
 * Fills a store with tenants, each with a client, imports of some nights and a few records; the
 * first one has `large` records.
 */
export async function fillTenants({ store }: Pick<BenchStore, 'store'>, tenants: number, large: number): Promise<void> {
  const nowMs = Date.now();
  const few = [...syntheticRecords(fewRecords, 1)];
  for (let index = 0; index < tenants; index += 1) {
    const name = `tenant-${String(index + 1).padStart(5, '0')}`;
    await insertTenant(store, name, Math.floor(nowMs / 1000));
    if (index === 0) await loadMany(store, name as TenantId, large);
    else await store.loadSubscriptions(name as TenantId, few);
    await createClient(store, Math.floor(nowMs / 1000), { tenant: name as TenantId });
    for (let night = nights; night > 0; night -= 1)
      await putImport(store, importRow(name, nowMs - night * dayMs * 0.3), nights - night + 1);
  }
}

async function loadMany(store: Store, tenant: TenantId, records: number): Promise<void> {
  let batch: Parameters<Store['loadSubscriptions']>[1][number][] = [];
  for (const row of syntheticRecords(records, 1)) {
    batch.push(row);
    if (batch.length < batchRows) continue;
    await store.loadSubscriptions(tenant, batch);
    batch = [];
  }
  if (batch.length > 0) await store.loadSubscriptions(tenant, batch);
}

const importRow = (tenant: string, startedMs: number): ImportRow => ({
  ...{ id: createImportId(startedMs), tenant, startedAt: Math.floor(startedMs / 1000) },
  ...{ endedAt: Math.floor(startedMs / 1000) + 1, actorKind: 'command', actorId: 'bench', actorName: null },
  ...{
    address: null,
    via: 'command',
    format: 'ndjson',
    options: [],
    columns: null,
    result: 'ok',
    error: null,
    revision: 1,
  },
  counts: { read: fewRecords, rejected: 0, inserted: fewRecords, updated: 0, unchanged: 0, removed: 0 },
});
