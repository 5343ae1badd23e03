import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { SpanMemory } from '../../src/storage/counts/span-memory.ts';
import type { PageContext } from '../../src/storage/read/page.ts';
import type { Store, TenantId } from '../../src/storage/store.ts';
import type { SubscriptionFilter } from '../../src/storage/subscription-filter.ts';
import { findTenant, insertTenant } from '../../src/storage/tables/tenant.ts';
import { engines, type TestStore } from '../support/engines.ts';
import { readTexts } from '../support/read-page.ts';
import { subscriptionRow } from '../support/rows.ts';

const created = { dateColumn: 'created_date' } as const;
const order = { column: 'created_date', descending: false } as const;
const rowsEach = 3_500;

describe.each(engines)('remembered leaves on $engine', ({ openTestStore }) => {
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

  /**
   * Reads a page. Returns how: the calls that find it in the stored tree (`stored`), the others in
   * one round trip (`once`), and those among them that load or use remembered leaves.
   */
  async function look(
    spans: SpanMemory,
    tenant = tenants[0] as TenantId,
    filter: SubscriptionFilter = created,
    skip = 2_000,
  ) {
    vi.restoreAllMocks();
    const [once, several] = [vi.spyOn(store, 'readTenantOnce'), vi.spyOn(store, 'readTenant')];
    const { total, records } = await readTexts({ store, spans }, tenant, filter, order, { kind: 'offset', skip }, 2);
    const asked = once.mock.calls.map(([, statements]) => statements.map(({ sql }) => sql).join());
    const selected = asked.filter((sql) => sql.includes('found_group')).length;
    return {
      total,
      first: records.first?.id,
      loads: asked.filter((sql) => sql.includes('as spans')).length,
      remembered: asked.filter((sql) => sql.includes('as bigint) + (')).length,
      once: asked.length - selected,
      stored: several.mock.calls.length + selected,
    };
  }
  const half = { total: rowsEach, first: 'id2000', loads: 0, remembered: 0 };
  const fromMemory = { ...half, once: 1, stored: 0 };
  const fromStore = { ...half, once: 0, stored: 1 };
  const loading = { ...half, loads: 1, once: 1, stored: 1 };

  test('are loaded at the second use of a series, and find a page in one round trip', async () => {
    const spans = new SpanMemory();
    expect(await look(spans)).toEqual(fromStore);
    expect(await look(spans)).toEqual(loading);
    expect(await look(spans)).toEqual(fromMemory);
    expect(await look(spans, tenants[1])).toEqual(fromStore);
  });

  test('give the first page between bounds its total', async () => {
    const spans = new SpanMemory();
    const ask = () => look(spans, tenants[0], { ...created, afterSeconds: 999, beforeSeconds: 3_003 }, 0);
    const [first, second, third] = [await ask(), await ask(), await ask()];
    const page = { total: 2_003, first: 'id1000', stored: 0 };
    expect(first).toEqual({ ...page, loads: 0, remembered: 0, once: 1 });
    expect(second).toEqual({ ...page, loads: 1, remembered: 0, once: 2 });
    expect(third).toEqual({ ...page, loads: 0, remembered: 1, once: 1 });
  });

  test('with the dates around bounds, which are loaded at their second use, a page takes one statement', async () => {
    const spans = new SpanMemory();
    const tenant = tenants[0] as TenantId;
    const ask = async (afterSeconds: number, skip: number, statuses?: readonly string[]) => {
      const filter = { ...created, afterSeconds, beforeSeconds: 3_003, ...(statuses && { statuses }) };
      const once = vi.spyOn(store, 'readTenantOnce');
      const { total, records } = await readTexts({ store, spans }, tenant, filter, order, { kind: 'offset', skip }, 2);
      const calls = once.mock.calls.map(([, statements]) => statements.map(({ sql }) => sql));
      vi.restoreAllMocks();
      return { total, first: records.first?.id, calls };
    };
    for (let n = 0; n < 3; n += 1) await ask(1_059, 0);
    const loading = await ask(1_059, 0);
    expect(loading.calls).toHaveLength(2);
    expect(loading.calls[1]?.[0]).toContain('as dates_1');
    // another second of the same leaf, and a deep page
    for (const [after, skip] of [
      [1_059, 0],
      [1_070, 0],
      [1_070, 1_500],
    ] as const) {
      const { total, first, calls } = await ask(after, skip);
      expect({ total, first }).toEqual({ total: 3_002 - after, first: `id${after + 1 + skip}` });
      expect(calls.map((statements) => statements.length)).toEqual([1]);
      expect(calls[0]?.[0]).not.toContain('count(*)');
    }
    // records of another status are not among the dates
    for (let n = 0; n < 5; n += 1) expect(await ask(1_059, 0, ['EXPIRED'])).toMatchObject({ total: 0 });
    await store.loadSubscriptions(tenant, [subscriptionRow({ id: 'another', createdDate: 1_500 })]);
    for (let n = 0; n < 5; n += 1) expect(await ask(1_070, 0)).toMatchObject({ total: 1_933, first: 'id1071' });
    await store.deleteSubscriptions(tenant, ['another']);
  });

  test('are loaded only once the series was used often enough for its size', async () => {
    // two of the 3,500 records, which have ten leaves
    const narrow = { ...created, afterSeconds: 1_000, beforeSeconds: 1_003 };
    const spans = new SpanMemory({ leavesPerAsk: 2 });
    const loads = [];
    for (let asked = 1; asked <= 8; asked += 1) loads.push((await look(spans, tenants[0], narrow, 0)).loads);
    // the second load learns that there are too many rows, and how many
    expect(loads).toEqual([0, 1, 0, 0, 0, 1, 0, 0]);
  });

  test('are loaded once by concurrent requests', async () => {
    const spans = new SpanMemory();
    await look(spans);
    vi.restoreAllMocks();
    const once = vi.spyOn(store, 'readTenantOnce');
    const page = () =>
      readTexts({ store, spans }, tenants[0] as TenantId, created, order, { kind: 'offset', skip: 2_000 }, 2);
    await Promise.all(Array.from({ length: 20 }, page));
    expect(once.mock.calls.filter(([, [asked]]) => asked?.sql.includes('as spans'))).toHaveLength(1);
    expect(await look(spans)).toEqual(fromMemory);
  });

  test('do not fail a page when they cannot be loaded', async () => {
    const spans = new SpanMemory();
    const failing: PageContext['store'] = {
      engine: store.engine,
      readTenant: (tenant, work) => store.readTenant(tenant, work),
      readTenantOnce: (tenant, statements) =>
        statements.some(({ sql }) => sql.includes('as spans'))
          ? Promise.reject(new Error('they are gone'))
          : store.readTenantOnce(tenant, statements),
    };
    for (let asked = 0; asked < 4; asked += 1) {
      const position = { kind: 'offset', skip: 2_000 } as const;
      const { total } = await readTexts({ store: failing, spans }, tenants[0] as TenantId, created, order, position, 2);
      expect(total).toBe(rowsEach);
    }
  });

  test('are not used once another process has changed the records', async () => {
    const spans = new SpanMemory();
    const tenant = tenants[4] as TenantId;
    for (let n = 0; n < 3; n += 1) await look(spans, tenant);
    const elsewhere = opened.openAgain();
    for (const added of [1, 2]) {
      await load(elsewhere, tenant, rowsEach + added - 1, 1);
      const total = rowsEach + added;
      // read with the remembered leaves, then again with the stored counts
      expect(await look(spans, tenant)).toEqual({ ...fromStore, total, once: 1 });
      expect(await look(spans, tenant)).toEqual({ ...loading, total });
      expect(await look(spans, tenant)).toEqual({ ...fromMemory, total });
    }
  });

  test('are evicted least recently used first, and not kept for a series that fills a fourth of the memory', async () => {
    const spans = new SpanMemory({ bytesMax: 8_900 }); // five series of ten leaves
    const four = tenants.slice(0, 4);
    for (const tenant of four) for (let n = 0; n < 3; n += 1) await look(spans, tenant);
    for (const tenant of four) expect(await look(spans, tenant)).toEqual(fromMemory);
    const askForProduct = async (tenant?: TenantId) => {
      for (let n = 0; n < 3; n += 1) await look(spans, tenant, { ...created, productId: 'product-1' });
    };
    await askForProduct(four[0]);
    await look(spans, four[0]);
    await askForProduct(four[3]);
    const forgotten = [];
    for (const n of [0, 2, 3, 1]) forgotten.push((await look(spans, four[n])).stored === 1);
    // the second one is the least recently used
    expect(forgotten).toEqual([false, false, false, true]);
    const small = new SpanMemory({ bytesMax: 7_900 });
    const loads = [];
    for (let n = 0; n < 8; n += 1) loads.push((await look(small)).loads);
    expect(loads).toEqual([0, 1, 0, 0, 0, 0, 0, 0]);
  });
});
