import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { addTenant } from '../../../../test/support/add-tenant.ts';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import { readTexts } from '../../../../test/support/read-page.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { spanLevel } from '../../storage/counts/span.ts';
import type { PagePosition } from '../../storage/read/page-sql.ts';
import { RangeMemory } from '../../storage/read/range-memory.ts';
import type { Store, TenantId } from '../../storage/store.ts';

const all = { dateColumn: 'created_date' } as const;
const order = { column: 'created_date', descending: true } as const;
const days = (first: number, count: number) =>
  Array.from({ length: count }, (_, n) => subscriptionRow({ id: `id${first + n}`, createdDate: first + n }));

describe.each(drawOne(engines, import.meta.url))('remembered ranges on $engine', ({ openTestStore }) => {
  let opened: TestStore;
  let store: Store;
  let tenant: TenantId;
  const newTenant = (name: string) => addTenant(store, name);
  const load = (...dates: readonly number[]) =>
    store.loadSubscriptions(
      tenant,
      dates.map((date) => subscriptionRow({ id: `id${date}`, createdDate: date, record: String(date) })),
    );
  const pageAfter = (ranges: RangeMemory, date: number) =>
    readTexts({ store, ranges }, tenant, all, order, { kind: 'after', orderKey: { date, id: `id${date}` } }, 3);

  beforeAll(async () => {
    opened = await openTestStore();
    store = opened.store;
    tenant = await newTenant('walker');
    await load(1, 2, 3, 4, 5, 6, 7);
  });
  afterAll(() => opened.close());

  test('are not used once the records have changed', async () => {
    const ranges = new RangeMemory();
    await readTexts({ store, ranges }, tenant, all, order, { kind: 'offset', skip: 0 }, 3);
    await load(9); // before the key
    await store.deleteSubscriptions(tenant, ['id1', 'id2']);
    expect(await pageAfter(ranges, 5)).toMatchObject({ texts: ['4', '3'], total: 6, hasMore: false });
  });

  const newLargeTenant = async (name: string) => {
    const owner = await newTenant(name);
    const rows = Array.from({ length: 3_000 }, (_, n) =>
      subscriptionRow({
        id: `id${n}`,
        createdDate: Math.floor(n / 3),
        productId: `product-${n % 2}`,
        status: n % 5 === 0 ? 'EXPIRED' : 'ACTIVE',
        record: String(n),
      }),
    );
    await store.loadSubscriptions(owner, rows);
    return owner;
  };

  test('give a query that recurs its total and the first record of a deep page, in both directions', async () => {
    const owner = await newLargeTenant('recurring');
    const ranges = new RangeMemory();
    const bounds = { ...all, afterSeconds: 99, beforeSeconds: 900 };
    for (const filter of [all, bounds, { ...bounds, productId: 'product-1', statuses: ['ACTIVE'] }]) {
      for (const descending of [false, true]) {
        for (const skip of [0, 10, 180, 1_000, 5_000]) {
          const asked = [owner, filter, { ...order, descending }, { kind: 'offset', skip }, 4] as const;
          const expected = await readTexts({ store }, ...asked);
          await readTexts({ store, ranges }, ...asked);
          const once = vi.spyOn(store, 'readTenantOnce');
          expect(await readTexts({ store, ranges }, ...asked)).toEqual(expected);
          expect(once.mock.calls.filter(([, { sql }]) => sql.includes('range_start'))).toEqual([]);
          once.mockRestore();
        }
      }
    }
  });

  test('give bounds that are new their page from the leaves of the counts, until the records change', async () => {
    const owner = await newLargeTenant('new-bounds');
    const ranges = new RangeMemory();
    const elsewhere = opened.openAgain();
    let bound = 0;
    for (const part of [{}, { productId: 'product-1' }, { statuses: ['ACTIVE'] }, { autoRenew: 'false' }, {}]) {
      const once = vi.spyOn(store, 'readTenantOnce');
      for (const skip of [0, 0, 0, 100, 177, 1_000, 2_400, 4_000])
        for (const descending of [false, true])
          for (const width of [0, 1, 120, 900, undefined]) {
            bound = (bound + 271) % 1_100;
            const before = width === undefined ? {} : { beforeSeconds: bound + width };
            const filter = { ...all, ...part, ...(bound % 3 > 0 && { afterSeconds: bound - 50 }), ...before };
            const asked = [owner, filter, { ...order, descending }, { kind: 'offset', skip }, 4] as const;
            const expected = await readTexts({ store: elsewhere }, ...asked);
            expect(await readTexts({ store, ranges }, ...asked)).toEqual(expected);
          }
      const ranked = once.mock.calls.filter(([, { sql }]) => sql.includes('range_start') && sql.includes('sum('));
      expect(ranked.length).toBeLessThan(2);
      once.mockRestore();
      await elsewhere.loadSubscriptions(owner, [subscriptionRow({ id: `new${bound}`, createdDate: bound })]);
    }
  });

  test('have no leaves of a large tree, which are not looked for again until it changes', async () => {
    const owner = await newLargeTenant('large-tree');
    const sql = `update subscription_span set n = 500001 where tenant_id = $1 and level = ${spanLevel.root}` as const;
    await store.writeTenant(owner, [{ sql, values: [] }]);
    const ranges = new RangeMemory();
    const once = vi.spyOn(store, 'readTenantOnce');
    for (const beforeSeconds of [10, 20, 30, 40, 50, 60])
      expect(
        await readTexts({ store, ranges }, owner, { ...all, beforeSeconds }, order, { kind: 'offset', skip: 0 }, 3),
      ).toMatchObject({ total: 3 * beforeSeconds });
    const sent = (part: string) => once.mock.calls.filter(([, { sql }]) => sql.includes(part)).length;
    expect([sent('string_agg(leaf'), sent('sum(n)')]).toEqual([1, 6]);
    once.mockRestore();
  });

  test('are not used once another process has changed the records, by any kind of page', async () => {
    const owner = await newTenant('elsewhere');
    await store.loadSubscriptions(owner, days(1_000, 600));
    const ranges = new RangeMemory();
    const positions: readonly PagePosition[] = [
      { kind: 'offset', skip: 0 },
      { kind: 'offset', skip: 300 },
      { kind: 'after', orderKey: { date: 1_596, id: 'id1596' } },
      { kind: 'before', orderKey: { date: 1_300, id: 'id1300' } },
    ];
    const elsewhere = opened.openAgain();
    for (const filter of [all, { ...all, afterSeconds: 500 }, { ...all, autoRenew: 'true' }]) {
      for (const [index, position] of positions.entries()) {
        const read = () => readTexts({ store, ranges }, owner, filter, order, position, 3);
        for (let n = 0; n < 2; n += 1) await read();
        await elsewhere.loadSubscriptions(owner, days(2_000 + index, 1));
        expect(await read()).toEqual(await readTexts({ store }, owner, filter, order, position, 3));
        await elsewhere.deleteSubscriptions(owner, [`id${2_000 + index}`]);
        expect(await read()).toMatchObject({ total: 600 });
      }
    }
  });

  test('belong to one tenant, although another one has the same keys and the same revision', async () => {
    const [larger, smaller] = [await newTenant('larger'), await newTenant('smaller')];
    await store.loadSubscriptions(larger, days(0, 9));
    await store.loadSubscriptions(smaller, days(0, 6));
    const ascending = { ...order, descending: false };
    for (const filter of [all, { ...all, autoRenew: 'true' }]) {
      const ranges = new RangeMemory();
      const read = (owner: TenantId, position: PagePosition) =>
        readTexts({ store, ranges }, owner, filter, ascending, position, 3);
      const first = await read(larger, { kind: 'offset', skip: 0 });
      const after = await read(smaller, { kind: 'after', orderKey: { date: 2, id: 'id2' } });
      expect(after).toMatchObject({ total: 6, hasMore: false, revision: first.revision });
      expect(await read(smaller, { kind: 'offset', skip: 3 })).toMatchObject({ total: 6, hasMore: false });
    }
  });

  test('belong to one order: the same key is elsewhere in the opposite one, and in that of another date', async () => {
    const owner = await newTenant('ordered');
    const rows = [1, 2, 3, 4, 5, 6, 7].map((date) =>
      subscriptionRow({ id: `id${date}`, createdDate: date, activationDate: date < 3 ? date + 100 : date }),
    );
    await store.loadSubscriptions(owner, rows);
    const ranges = new RangeMemory();
    const read = (column: 'created_date' | 'activation_date', descending: boolean, ...page: [PagePosition, number]) =>
      readTexts({ store, ranges }, owner, all, { column, descending }, ...page);
    const afterThird: PagePosition = { kind: 'after', orderKey: { date: 3, id: 'id3' } };
    await read('created_date', false, { kind: 'offset', skip: 0 }, 3);
    expect(await read('created_date', false, afterThird, 4)).toMatchObject({ hasMore: false });
    expect(await read('created_date', true, afterThird, 4)).toMatchObject({ hasMore: false, total: 7 });
    expect(await read('activation_date', false, afterThird, 4)).toMatchObject({ hasMore: true, total: 7 });
  });
});
