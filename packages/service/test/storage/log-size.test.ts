import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { engines } from '../../../../test/support/engines.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { logBytesKept } from '../../storage/sqlite/connection.ts';
import type { TenantId } from '../../storage/store.ts';
import { insertTenant } from '../../storage/tables/tenant.ts';

const tenant = 'acme' as TenantId;

test('the write-ahead log of the embedded store shrinks after a slow export', async () => {
  const { store, environment, close } = await engines[0].openTestStore();
  try {
    const log = join(environment.DATA_DIR ?? '', 'subreport.db-wal');
    const logBytes = (): number => statSync(log).size;
    await insertTenant(store, tenant, 1);
    const rows = Array.from({ length: 300 }, (_, index) => `${index}`.padStart(60, '0'));
    const load = (n: number): Promise<unknown> =>
      store.loadSubscriptions(
        tenant,
        rows.map((id) => subscriptionRow({ id, record: JSON.stringify({ n, text: 'x'.repeat(20_000) }) })),
      );
    await load(0);
    const snapshot = await store.openSnapshot(tenant, 600_000);
    await snapshot.all('select count(*) as n from subscription where tenant_id = $1');
    for (let n = 1; logBytes() <= 1.5 * logBytesKept; n += 1) await load(n);
    await snapshot.close();
    // The first small write begins a checkpoint, and the first one after it cuts the log. A short
    // log is checkpointed by the 250th write only.
    for (let writes = 1; writes <= 50 && logBytes() > logBytesKept; writes += 1) {
      await insertTenant(store, `after-${writes}`, 1);
      await sleep(100);
    }
    expect(logBytes()).toBeLessThanOrEqual(logBytesKept);
  } finally {
    await close();
  }
});
