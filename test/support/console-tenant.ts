import { importRecords } from '../../packages/service/import/import-records.ts';
import { type SyntheticRow, syntheticRows } from '../../packages/service/import/synthetic-rows.ts';
import type { TestClient, TestService } from './service.ts';

/** Creates a tenant with synthetic records, each changed by `change`, and a client of it. */
export async function createFilledTenant(
  service: TestService,
  name: string,
  count: number,
  change: (row: SyntheticRow, index: number) => SyntheticRow = (row) => row,
): Promise<TestClient> {
  const tenant = await service.createTenant(name);
  const source = (async function* () {
    let index = 0;
    for (const row of syntheticRows({ count, seed: 7, until: Math.floor(Date.now() / 1000) })) {
      yield Buffer.from(`${JSON.stringify(change(row, index))}\n`);
      index += 1;
    }
  })();
  const { rejected } = await importRecords(service.store, tenant, source, {
    format: 'ndjson',
    dryRun: false,
    onRejected: () => undefined,
  });
  if (rejected > 0) throw new Error(`${rejected} of the rows for ${name} were rejected`);
  return service.createClient(tenant);
}
