import { expect, test } from 'vitest';
import { addTenant } from '../../../../test/support/add-tenant.ts';
import { connectPostgres } from '../../../../test/support/connect-postgres.ts';
import { onCluster, openPostgres, postgresUrl } from '../../../../test/support/engines.ts';
import { eventually } from '../../../../test/support/eventually.ts';
import { testRole, urlOf } from '../../../../test/support/global-setup.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { createBatchLoader } from '../../import/load-batches.ts';

test.skipIf(onCluster)('an import repeats a batch that lost a deadlock, and has every row once (C1)', async () => {
  const opened = await openPostgres(testRole);
  const database = new URL(opened.environment.DATABASE_URL ?? '').pathname.slice(1);
  const other = await connectPostgres(urlOf(await postgresUrl(), database, 'postgres'));
  // long enough to cause the deadlock; the import then detects it first
  await other.query(`alter database ${database} set deadlock_timeout = '3s'`);
  await other.query("set deadlock_timeout = '1min'");
  try {
    const tenant = await addTenant(opened.store, 'acme');
    const lock = await opened.store.lockImport(tenant);
    if (lock === undefined) throw new Error('the import of the tenant is locked');
    await opened.store.loadSubscriptions(tenant, [subscriptionRow({ id: 'a' })]);

    await other.query("begin; select 1 from subscription where id = 'a' for update");
    const loader = createBatchLoader({ store: opened.store, tenant, lock });
    const rows = [subscriptionRow({ id: 'a', record: 'changed' }), subscriptionRow({ id: 'b' })];
    await loader.load(rows);
    const waiting = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    await eventually(async () => expect((await other.query(waiting)).rows).not.toEqual([]));
    // the import holds this row, so one of the two transactions must be aborted
    await other.query("select 1 from tenant where id = 'acme' for update");
    await other.query('commit');
    await loader.settle();

    expect(loader.counts).toEqual({ inserted: 1, updated: 1, unchanged: 0 });
    await lock.release();
  } finally {
    await other.end();
    await opened.close();
  }
});
