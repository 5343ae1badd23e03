import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { SpanMemory } from '../../src/storage/span-memory.ts';
import type { Store, TenantId } from '../../src/storage/store.ts';
import type { SubscriptionFilter } from '../../src/storage/subscription-filter.ts';
import { readPage } from '../../src/storage/subscription-page.ts';
import { findTenant, insertTenant } from '../../src/storage/tenant.ts';
import { engines, type TestStore } from '../support/engines.ts';
import { subscriptionRow } from '../support/rows.ts';

const created = { dateColumn: 'created_date' } as const;
const order = { column: 'created_date', descending: false } as const;
const rowsEach = 3_500;

describe.each(engines)('remembered spans on $engine', ({ openTestStore }) => {
  let opened: TestStore;
  let store: Store;
  const tenants: TenantId[] = [];
  const load = (target: Store, tenant: TenantId, first: number, count: number) =>
    target.loadSubscriptions(
      tenant,
      Array.from({ length: count }, (_, n) => subscriptionRow({ id: `id${first + n}`, createdDate: first + n })),
    );

  beforeAll(async () => {
    opened = await openTestStore();
    store = opened.store;
    for (let n = 0; n < 5; n += 1) {
      await insertTenant(store, `tenant-${n}`, 1);
      const tenant = (await findTenant(store, `tenant-${n}`))?.tenant as TenantId;
      await load(store, tenant, 0, rowsEach);
      tenants.push(tenant);
    }
  });
  afterAll(() => opened.close());
  beforeEach(() => void vi.restoreAllMocks());

  /** What a page half-way costs: reads of one round trip, and those of several. */
  async function look(spans: SpanMemory, tenant = tenants[0] as TenantId, filter: SubscriptionFilter = created) {
    vi.restoreAllMocks();
    const [once, several] = [vi.spyOn(store, 'readTenantOnce'), vi.spyOn(store, 'readTenant')];
    const position = { kind: 'offset', skip: 2_000 } as const;
    const { total, records } = await readPage({ store, spans }, tenant, filter, order, position, 2);
    expect(records.map(({ id }) => id)).toEqual(['id2000', 'id2001']);
    const inner = store.engine === 'sqlite' ? several.mock.calls.length : 0; // its own way to do either
    return {
      total,
      once: once.mock.calls.length,
      several: several.mock.calls.length - Math.min(inner, once.mock.calls.length),
    };
  }
  const fromMemory = { total: rowsEach, once: 1, several: 0 };
  const fromStore = { total: rowsEach, once: 0, several: 1 };
  const loading = { total: rowsEach, once: 1, several: 1 };

  test('are loaded when a series is asked for again, and lead to a page in one round trip', async () => {
    const spans = new SpanMemory();
    expect(await look(spans)).toEqual(fromStore);
    expect(await look(spans)).toEqual(loading);
    expect(await look(spans)).toEqual(fromMemory);
    expect(await look(spans, tenants[1])).toEqual(fromStore);
  });

  test('are not loaded before they were asked for often enough to be worth it', async () => {
    const spans = new SpanMemory({ spansPerAsk: 2 }); // ten spans
    for (let asked = 1; asked < 5; asked += 1) expect(await look(spans)).toEqual(fromStore);
    expect(await look(spans)).toEqual(loading);
    expect(await look(spans)).toEqual(fromMemory);
  });

  test('are not believed once another process has changed the records', async () => {
    const spans = new SpanMemory();
    const tenant = tenants[4] as TenantId;
    for (let n = 0; n < 3; n += 1) await look(spans, tenant);
    const elsewhere = opened.openAgain();
    await load(elsewhere, tenant, rowsEach, 1);
    const total = rowsEach + 1;
    expect(await look(spans, tenant)).toEqual({ total, once: 1, several: 1 });
    await load(elsewhere, tenant, rowsEach + 1, 1);
    expect(await look(spans, tenant)).toEqual({ total: total + 1, once: 0, several: 1 });
    expect(await look(spans, tenant)).toEqual({ total: total + 1, once: 1, several: 1 });
    expect(await look(spans, tenant)).toEqual({ total: total + 1, once: 1, several: 0 });
  });

  test('are as many as fit, those used last, and none of a series that would fill a fourth of it', async () => {
    const spans = new SpanMemory({ spansMax: 44 });
    const four = tenants.slice(0, 4);
    for (const tenant of four) for (let n = 0; n < 3; n += 1) await look(spans, tenant);
    for (const tenant of four) expect(await look(spans, tenant)).toEqual(fromMemory);
    await look(spans, four[0]);
    for (let n = 0; n < 3; n += 1) await look(spans, four[3], { ...created, productId: 'product-1' });
    const forgotten = [];
    for (const tenant of four) forgotten.push((await look(spans, tenant)).several === 1);
    expect(forgotten).toEqual([false, true, false, false]);
    const small = new SpanMemory({ spansMax: 36 });
    for (let n = 0; n < 4; n += 1) expect((await look(small)).several).toBe(1);
  });
});
