import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addTenant } from '../../../../test/support/add-tenant.ts';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { checkCounts } from '../../storage/counts/check.ts';
import { listProducts } from '../../storage/counts/intervals.ts';
import type { TenantId } from '../../storage/store.ts';

const numbers =
  'with recursive number (n) as (select 1 union all select n + 1 from number where n < 2500) select n from number' as const;

describe.each(drawOne(engines, import.meta.url))('the check of the counts on $engine', ({ openTestStore }) => {
  let opened: TestStore;
  let tenant: TenantId;

  beforeAll(async () => {
    opened = await openTestStore();
    tenant = await addTenant(opened.store, 'acme');
    await opened.store.loadSubscriptions(tenant, [subscriptionRow({ id: 'a' })]);
    for (const [level, condition] of [
      [0, 'n > 0'],
      [1, 'n in (1, 2001, 2002)'],
      [2, 'n = 1'],
    ] as const) {
      const sql = `insert into subscription_span (tenant_id, series, level, from_date, from_id, n, counts)
        select tenant_id, 'product=none', ${level}, n, '', 0, '{}' from (${numbers}) as numbers
        cross join (select id as tenant_id from tenant) as t where tenant_id = $1 and ${condition}` as const;
      await opened.store.writeTenant(tenant, [{ sql, values: [] }]);
    }
  });
  afterAll(() => opened.close());

  test('is of products and plans that are listed in one order, whatever the order of their records', async () => {
    const listed = await addTenant(opened.store, 'listed');
    for (const [index, [productId, planId]] of (
      [
        ['b', 'z'],
        ['c', 'm'],
        ['a', 'y'],
        ['b', 'a'],
      ] as const
    ).entries())
      await opened.store.loadSubscriptions(listed, [subscriptionRow({ id: `id-${index}`, productId, planId })]);
    expect(await opened.store.readTenant(listed, (reader) => listProducts(reader, 10))).toEqual({
      products: ['a', 'b', 'c'],
      plans: ['a', 'm', 'y', 'z'],
    });
  });

  test('compares all leaves with their groups, also where a group has too many', async () => {
    expect((await opened.store.readTenant(tenant, checkCounts)).problems).toEqual([
      'Series product=none does not begin before every record',
      "Span 'product=none' 1 1 holds 2000 spans, at most 64 are allowed",
      "Span 'product=none' 1 2002 holds 499 spans, at most 64 are allowed",
    ]);
  });
});
