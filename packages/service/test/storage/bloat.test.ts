import { expect, test } from 'vitest';
import { connectPostgres } from '../../../../test/support/connect-postgres.ts';
import { onCluster, openPostgres } from '../../../../test/support/engines.ts';
import { testRole } from '../../../../test/support/global-setup.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import type { TenantId } from '../../storage/store.ts';
import { insertTenant } from '../../storage/tables/tenant.ts';

const tenant = 'acme' as TenantId;
const records = 4_000;
const nights = 10;
/** One record of 20 changes each night. */
const every = 20;

/** The records of a night: each has changed as often as it was its turn. */
const rowsOf = (night: number) =>
  Array.from({ length: records }, (_, index) => {
    const changes = Math.floor((night + ((index * 7_919) % every)) / every);
    return subscriptionRow({
      id: `id-${(index * 7_919) % records}`,
      createdDate: 1_700_000_000 + index * 600,
      expirationDate: 1_702_592_010 + index * 600 + changes * 86_400,
      status: changes % 2 === 0 ? 'ACTIVE' : 'EXPIRED',
      deviceId: `device-${changes}-${index}`,
    });
  });

/** The records, their indexes and counts; the history grows by design. */
const size = `select sum(pg_total_relation_size(oid)) as bytes from pg_class
  where oid in ('subscription'::regclass, 'subscription_span'::regclass)`;

test.skipIf(onCluster)(
  'nightly replacements keep the tables of PostgreSQL within 1.3 times their first size',
  async () => {
    const { store, environment, close } = await openPostgres(testRole);
    const client = await connectPostgres(environment.DATABASE_URL);
    const vacuumedSize = async (): Promise<number> => {
      await client.query('vacuum subscription, subscription_span'); // as autovacuum does in the day
      return Number((await client.query(size)).rows[0].bytes);
    };
    try {
      await insertTenant(store, tenant, 1);
      await store.loadSubscriptions(tenant, rowsOf(0));
      const first = await vacuumedSize();
      for (let night = 1; night <= nights; night += 1) {
        const replacement = await store.openStagedLoad(tenant);
        await replacement.add(rowsOf(night));
        const { updated } = await replacement.finish(false);
        await replacement.close();
        expect(updated).toBe(records / every);
        await vacuumedSize();
      }
      expect(await vacuumedSize()).toBeLessThanOrEqual(1.3 * first);
    } finally {
      await client.end();
      await close();
    }
  },
);
