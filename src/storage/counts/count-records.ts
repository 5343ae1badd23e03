import type { Store, TenantId } from '../store.ts';
import { spanLevel, wholeSeries } from './span.ts';

/** The number of a tenant's records, from the root of its counts: one row, however many records. */
export async function countRecords(store: Store, tenant: TenantId): Promise<number> {
  const [rows] = await store.readTenantOnce(
    tenant,
    [
      {
        sql: `select n from subscription_span where tenant_id = $1 and series = '${wholeSeries}' and level = ${spanLevel.root}`,
        values: [],
      },
    ],
    { isBounded: true },
  );
  return Number(rows?.[0]?.n ?? 0);
}
