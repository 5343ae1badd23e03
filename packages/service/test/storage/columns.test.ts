import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addTenant } from '../../../../test/support/add-tenant.ts';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { checkRecords } from '../../storage/maintenance/check-records.ts';
import type { Store, TenantId } from '../../storage/store.ts';
import { rowColumns, type SubscriptionRow } from '../../storage/subscription-row.ts';

const plain = subscriptionRow({ id: 'id-1' });

/**
 * The same row with another value in one column, and another record, which differs in no column: a
 * load leaves equal records alone.
 */
function withOther(column: (typeof rowColumns)[number]): SubscriptionRow {
  const record = JSON.stringify({ ...JSON.parse(plain.record), other: true });
  if (column.name === 'record') return { ...plain, record };
  const member = Object.keys(plain).find((name) => column.read({ ...plain, [name]: 'other' }) === 'other') ?? '';
  return { ...plain, record, [member]: column.type === 'bigint' ? 1_600_000_000 : 'other' };
}

describe.each(drawOne(engines, import.meta.url))('each column of a record on $engine', ({ engine, openTestStore }) => {
  let opened: TestStore;
  let store: Store;
  beforeAll(async () => {
    opened = await openTestStore();
    store = opened.store;
  });
  afterAll(() => opened.close());
  const replaceWith = async (tenant: TenantId, rows: readonly SubscriptionRow[]): Promise<void> => {
    const replacement = await store.openStagedLoad(tenant);
    await replacement.add(rows);
    await replacement.finish(false);
    await replacement.close();
  };

  test.each(rowColumns.slice(1))(
    '$name is stored by a load and a replacement, kept of a former version, and compared by the doctor',
    async (column) => {
      const name = `tenant-${column.name.replaceAll('_', '-')}`;
      const tenant = await addTenant(store, name);
      const valuesIn = (table: string, order: string) =>
        store.readTenant(tenant, async (reader) =>
          (await reader.all(`select ${column.name} as value from ${table} where tenant_id = $1 order by ${order}`)).map(
            ({ value }) => value,
          ),
        );
      const other = withOther(column);
      const [first, second] = [column.read(plain), column.read(other)];
      expect(second).not.toBe(first);

      await store.loadSubscriptions(tenant, [plain]);
      await store.loadSubscriptions(tenant, [other]);
      expect(await valuesIn('subscription', 'id')).toEqual([second]);
      const { problems } = await store.readTenant(tenant, (reader) => checkRecords(reader, engine));
      const contradicted = column.path === undefined ? [] : [expect.stringMatching(`in ${column.name}$`)];
      expect(problems).toEqual(contradicted);

      await replaceWith(tenant, [plain]);
      expect(await valuesIn('subscription', 'id')).toEqual([first]);
      expect(await valuesIn('subscription_version', 'until_revision')).toEqual([first, second]);
      await replaceWith(tenant, []);
      expect(await valuesIn('subscription_version', 'until_revision')).toEqual([first, second, first]);
    },
  );
});
