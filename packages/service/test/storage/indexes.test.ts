import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import { readTexts } from '../../../../test/support/read-page.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import type { PageContext } from '../../storage/read/page.ts';
import type { SubscriptionOrder } from '../../storage/read/page-sql.ts';
import type { Row, Store, TenantId, TenantSql } from '../../storage/store.ts';
import type { SubscriptionFilter } from '../../storage/subscription-filter.ts';
import { findTenant, insertTenant } from '../../storage/tables/tenant.ts';

const byCreation: SubscriptionOrder = { column: 'created_date', descending: false };
const all = { dateColumn: 'created_date' } as const;

/** Filters, and the index that has their records in the default order. */
const ordered: readonly (readonly [index: string, filter: Partial<SubscriptionFilter>])[] = [
  ['subscription_product', { productId: 'product-7' }],
  ['subscription_product', { productId: 'product-7', statuses: ['S1'] }],
  ['subscription_product', { productId: 'product-7', statuses: ['S1', 'S2'] }],
  ['subscription_status', { statuses: ['S1'] }],
  ['subscription_product', { planId: 'plan-2' }],
  ['subscription_created', { autoRenew: 'true' }],
  ['subscription_product', { planId: 'plan-2', autoRenew: 'true' }],
];

/** Filters whose records are found by an index and sorted. */
const found: typeof ordered = [
  ['subscription_iccid', { iccid: '894450010000000007' }],
  ['subscription_email', { email: 'user7@example.com' }],
  ['subscription_device', { deviceId: 'device-7' }],
  ['subscription_iccid', { iccid: '894450010000000007', productId: 'product-7', statuses: ['S1'] }],
  ['subscription_email', { email: 'user7@example.com', planId: 'plan-2', afterSeconds: 1_700_000_100 }],
  ['subscription_device', { deviceId: 'device-7', statuses: ['S1', 'S2'] }],
  [
    'subscription_email',
    {
      email: 'user7@example.com',
      dateColumn: 'expiration_date',
      afterSeconds: 1_700_000_100,
      beforeSeconds: 1_700_000_900,
    },
  ],
  ['subscription_device', { deviceId: 'device-7', productId: 'product-7', afterSeconds: 1_700_000_100 }],
];

const listed = Array.from({ length: 1_000 }, (_, n) => String(n));
/** Lists, as one value; without statistics of their number, a planner may read all rows. */
const lists: typeof found = [
  ['subscription_pkey', { id: listed.map((n) => `id-${n}`) }],
  ['subscription_iccid', { iccid: listed.map((n) => `89445001${n.padStart(10, '0')}`) }],
  [
    'subscription_device',
    { deviceId: listed.map((n) => `device-${n}`), statuses: ['S1', 'S2'], productId: 'product-7' },
  ],
  ['subscription_pkey', { id: listed.map((n) => `id-${n}`), deviceId: listed.map((n) => `device-${n}`) }],
  ['subscription_email', { email: 'user7@example.com', iccid: [`89445001${'7'.padStart(10, '0')}`, '1'] }],
];

const orders = (['created_date', 'activation_date', 'expiration_date'] as const).flatMap((column) =>
  [false, true].map((descending) => ({ column, descending })),
);

describe.each(engines)('indexes on $engine', ({ engine, openTestStore }) => {
  let opened: TestStore;
  let store: Store;
  let tenant: TenantId;

  beforeAll(async () => {
    opened = await openTestStore();
    store = opened.store;
    for (const name of ['acme', 'globex']) {
      await insertTenant(store, name, 1);
      tenant = (await findTenant(store, name))?.tenant as TenantId;
      const rows = Array.from({ length: 10_000 }, (_, n) =>
        subscriptionRow({
          id: `id-${n}`,
          createdDate: 1_700_000_000 + n,
          activationDate: 1_700_000_000 + ((n * 7) % 10_000),
          expirationDate: 1_700_000_000 + ((n * 13) % 10_000),
          status: `S${n % 4}`,
          productId: `product-${n % 20}`,
          planId: `plan-${n % 5}`,
          deviceId: `device-${n % 500}`,
          iccid: `89445001${String(n % 500).padStart(10, '0')}`,
          email: `user${n % 500}@example.com`,
          autoRenew: String(n % 3 === 0),
        }),
      );
      await store.loadSubscriptions(tenant, rows);
    }
    if (engine === 'postgres') {
      const client = new pg.Client({ connectionString: opened.environment.DATABASE_URL });
      await client.connect();
      await client.query('vacuum analyze subscription');
      await client.end();
    }
  });
  afterAll(() => opened.close());

  /** How the engine would read the records of a page after a key. */
  const planOf = async (filter: SubscriptionFilter, order: SubscriptionOrder): Promise<string> => {
    let plan: readonly Row[] = [];
    const explaining: PageContext['store'] = {
      engine,
      // the last statement reads the records
      readTenant: (of, work) => {
        const explain = engine === 'sqlite' ? 'explain query plan' : 'explain';
        return store.readTenant(of, (reader) =>
          work({
            async all(sql, values) {
              plan = await reader.all(`${explain} ${sql}`, values);
              return reader.all(sql, values);
            },
          }),
        );
      },
      readTenantOnce: async (of, statements) => {
        const explain = engine === 'sqlite' ? 'explain query plan' : 'explain';
        const { sql, values } = statements.at(-1) ?? expect.unreachable();
        plan = await store.readTenant(of, (reader) => reader.all(`${explain} ${sql}`, values));
        return [];
      },
    };
    await readTexts(
      { store: explaining },
      tenant,
      filter,
      order,
      { kind: 'after', orderKey: { date: 1_700_000_100, id: '' } },
      21,
    );
    return plan.map((row) => String(row.detail ?? row['QUERY PLAN'])).join('\n');
  };

  /** Whether more is sorted than the records of the page, whose keys were found in order. */
  const sortsKeys = (plan: string): boolean => {
    const sorts = plan.match(/^ *(?:-> +)?(?:Incremental )?Sort {2}\(|TEMP B-TREE/gm) ?? [];
    return sorts.length > (/\bfound\b/.test(plan) ? 1 : 0);
  };

  test.each(orders)('the order $column, descending $descending, is read from its index', async (order) => {
    const plan = await planOf({ ...all }, order);
    expect(plan).toContain(`subscription_${order.column.replace('_date', '')}`);
    expect([plan, sortsKeys(plan)]).toEqual([plan, false]);
  });

  test.each(ordered)('%s finds the records of %j in the default order and its reverse', async (index, filter) => {
    for (const descending of [false, true]) {
      const plan = await planOf({ ...all, ...filter }, { ...byCreation, descending });
      expect(plan).toContain(index);
      expect([plan, sortsKeys(plan)]).toEqual([plan, false]);
    }
  });

  test.each(found)('%s finds the records of %j, which are sorted, in each order', async (index, filter) => {
    for (const order of orders) {
      const plan = await planOf({ ...all, ...filter }, order);
      expect(plan).toContain(index);
      expect(plan.match(/subscription_(?!iccid|email|device|\d)\w+/g)).toBeNull();
    }
  });

  test.each(lists)('%s finds the records of a list, which are sorted, in each order', async (index, filter) => {
    const name = index === 'subscription_pkey' && engine === 'sqlite' ? 'sqlite_autoindex_subscription_1' : index;
    for (const order of orders) {
      const plan = await planOf({ ...all, ...filter }, order);
      expect(plan).toContain(name);
      expect(plan.match(/subscription_(?!iccid|email|device|pkey|\d)\w+/g)).toBeNull();
      expect(plan).not.toMatch(/Seq Scan on subscription|SCAN subscription/);
    }
  });

  test('the records of a product are sorted in the order of another date', async () => {
    const filter = { ...all, productId: 'product-7' };
    for (const descending of [false, true]) {
      const plan = await planOf(filter, { column: 'expiration_date', descending });
      expect(plan).toContain('subscription_product');
      expect(plan).not.toContain('subscription_expiration');
    }
  });

  test('a range of expiry dates in its own order is read from its index', async () => {
    const span = { dateColumn: 'expiration_date', afterSeconds: 1_700_000_200, beforeSeconds: 1_700_000_230 } as const;
    const plan = await planOf({ ...span, autoRenew: 'false' }, { column: 'expiration_date', descending: false });
    expect(plan).toContain('subscription_expiration');
    expect([plan, sortsKeys(plan)]).toEqual([plan, false]);
  });

  test('the versions within a period are found by their index alone', async () => {
    const within = `select count(*) as n from subscription_version
      where tenant_id = $1 and until_revision > $2 and until_revision <= $3 and from_revision > $2`;
    const explain = engine === 'sqlite' ? 'explain query plan' : 'explain';
    const plan = await store.readTenant(tenant, (reader) => reader.all(`${explain} ${within}` as TenantSql, [1, 9]));
    const text = plan.map((row) => String(row.detail ?? row['QUERY PLAN'])).join('\n');
    expect(text).toMatch(/COVERING INDEX subscription_version_until|Only Scan using subscription_version_until/);
  });
});
