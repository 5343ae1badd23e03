import { toCountedRow } from '../../packages/service/storage/counts/counted-row.ts';
import type { Row, StagedCounts, Store, TenantId } from '../../packages/service/storage/store.ts';
import { columnNames, type SubscriptionRow } from '../../packages/service/storage/subscription-row.ts';
import { subscriptionRow } from './rows.ts';

/** Removes records, which the history keeps, and loads others: a replacement without them. */
export async function removeRecords(
  store: Store,
  tenant: TenantId,
  ids: readonly string[],
  loaded: readonly SubscriptionRow[] = [],
  importId?: string,
): Promise<StagedCounts> {
  const rows = await store.readTenant(tenant, (reader) =>
    reader.all(`select ${columnNames()} from subscription where tenant_id = $1`),
  );
  const replacement = await store.openStagedLoad(tenant, importId);
  try {
    const kept = rows.filter(({ id }) => !ids.includes(String(id)));
    for (let at = 0; at < kept.length; at += 10_000) await replacement.add(kept.slice(at, at + 10_000).map(toRow));
    if (loaded.length > 0) await replacement.add(loaded);
    return await replacement.finish(false);
  } finally {
    await replacement.close();
  }
}

const toRow = (row: Row): SubscriptionRow =>
  subscriptionRow({
    ...toCountedRow(row),
    iccid: String(row.iccid),
    deviceId: String(row.device_id),
    email: row.email === null ? null : String(row.email),
    record: String(row.record),
  });
