import { type SyntheticRow, syntheticRows } from '../../packages/service/import/synthetic-rows.ts';
import { loadRecords } from './report-console.ts';
import type { TestClient, TestService } from './service.ts';

/** Creates a tenant with synthetic records, each changed by `change`, and a client of it. */
export async function createFilledTenant(
  service: TestService,
  name: string,
  count: number,
  change: (row: SyntheticRow, index: number) => SyntheticRow = (row) => row,
): Promise<TestClient> {
  const tenant = await service.createTenant(name);
  const rows = [...syntheticRows({ count, seed: 7, until: Math.floor(Date.now() / 1000) })];
  await loadRecords(service, tenant, rows.map(change));
  return service.createClient(tenant);
}
