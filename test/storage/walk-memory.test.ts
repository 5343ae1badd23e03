import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { PagePosition } from '../../src/storage/read/counted-page.ts';
import { WalkMemory } from '../../src/storage/read/walk-memory.ts';
import type { Store, TenantId } from '../../src/storage/store.ts';
import { findTenant, insertTenant } from '../../src/storage/tables/tenant.ts';
import { engines, type TestStore } from '../support/engines.ts';
import { readTexts } from '../support/read-page.ts';
import { subscriptionRow } from '../support/rows.ts';

const all = { dateColumn: 'created_date' } as const;
const order = { column: 'created_date', descending: true } as const;

describe.each(engines)('the places of a walk on $engine', ({ openTestStore }) => {
  let opened: TestStore;
  let store: Store;
  let tenant: TenantId;
  const newTenant = async (name: string): Promise<TenantId> => {
    await insertTenant(store, name, 1);
    return (await findTenant(store, name))?.tenant as TenantId;
  };
  const load = (...dates: readonly number[]) =>
    store.loadSubscriptions(
      tenant,
      dates.map((date) => subscriptionRow({ id: `id${date}`, createdDate: date, record: String(date) })),
    );
  const pageAfter = (walks: WalkMemory, date: number) =>
    readTexts({ store, walks }, tenant, all, order, { kind: 'after', orderKey: { date, id: `id${date}` } }, 3);
  const firstPage = (walks: WalkMemory) =>
    readTexts({ store, walks }, tenant, all, order, { kind: 'offset', skip: 0 }, 3);

  beforeAll(async () => {
    opened = await openTestStore();
    store = opened.store;
    tenant = await newTenant('walker');
    await load(1, 2, 3, 4, 5, 6, 7);
  });
  afterAll(() => opened.close());

  test('let each following page be read by one statement, up to the last', async () => {
    const walks = new WalkMemory();
    await firstPage(walks);
    const once = vi.spyOn(store, 'readTenantOnce');
    expect(await pageAfter(walks, 5)).toMatchObject({
      texts: ['4', '3', '2'],
      total: 7,
      hasMore: true,
      isBeyondKey: true,
    });
    expect(await pageAfter(walks, 2)).toMatchObject({ texts: ['1'], total: 7, hasMore: false, isBeyondKey: true });
    expect(once.mock.calls.map(([, statements]) => statements.length)).toEqual([1, 1]);
    once.mockRestore();
  });

  test('are not used once the records have changed', async () => {
    const walks = new WalkMemory();
    await firstPage(walks);
    await load(9); // before the key
    await store.deleteSubscriptions(tenant, ['id1', 'id2']);
    expect(await pageAfter(walks, 5)).toMatchObject({ texts: ['4', '3'], total: 6, hasMore: false });
  });

  test('with a filter that the counts do not know, the total is counted once for all page numbers of a revision', async () => {
    const walks = new WalkMemory();
    await load(11, 12, 13, 14, 15);
    const filter = { ...all, autoRenew: 'true' };
    const pageFrom = async (skip: number) => {
      const once = vi.spyOn(store, 'readTenantOnce');
      const page = await readTexts({ store, walks }, tenant, filter, order, { kind: 'offset', skip }, 2);
      const counts = once.mock.calls.filter(([, statements]) => statements.some(({ sql }) => sql.includes('count(*)')));
      once.mockRestore();
      const { texts, total, hasMore } = page;
      return { texts, total, hasMore, counted: counts.length };
    };
    const rest = (await pageFrom(0)).total;
    expect(await pageFrom(2)).toMatchObject({ texts: ['13', '12'], total: rest, hasMore: true, counted: 0 });
    expect(await pageFrom(rest - 1)).toMatchObject({ total: rest, hasMore: false, counted: 0 });
    expect(await pageFrom(rest)).toMatchObject({ texts: [], total: rest, hasMore: false });
    await load(16);
    expect(await pageFrom(2)).toMatchObject({ texts: ['14', '13'], total: rest + 1, counted: 1 });
    await store.deleteSubscriptions(
      tenant,
      [11, 12, 13, 14, 15, 16].map((date) => `id${date}`),
    );
  });

  test('belong to one tenant, although another one has the same keys and the same revision', async () => {
    const [larger, smaller] = [await newTenant('larger'), await newTenant('smaller')];
    const loadInto = (owner: TenantId, count: number) =>
      store.loadSubscriptions(
        owner,
        Array.from({ length: count }, (_, index) => subscriptionRow({ id: `id${index}`, createdDate: index })),
      );
    await loadInto(larger, 9);
    await loadInto(smaller, 6);
    const ascending = { ...order, descending: false };
    for (const filter of [all, { ...all, autoRenew: 'true' }]) {
      const walks = new WalkMemory();
      const read = (owner: TenantId, position: PagePosition) =>
        readTexts({ store, walks }, owner, filter, ascending, position, 3);
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
    const walks = new WalkMemory();
    const read = (
      column: 'created_date' | 'activation_date',
      descending: boolean,
      position: PagePosition,
      size: number,
    ) => readTexts({ store, walks }, owner, all, { column, descending }, position, size);
    const afterThird: PagePosition = { kind: 'after', orderKey: { date: 3, id: 'id3' } };
    await read('created_date', false, { kind: 'offset', skip: 0 }, 3);
    expect(await read('created_date', false, afterThird, 4)).toMatchObject({ hasMore: false });
    expect(await read('created_date', true, afterThird, 4)).toMatchObject({ hasMore: false, total: 7 });
    expect(await read('activation_date', false, afterThird, 4)).toMatchObject({ hasMore: true, total: 7 });
  });

  test('are not found for another key, which the store then counts', async () => {
    const walks = new WalkMemory();
    await firstPage(walks);
    expect(await pageAfter(walks, 1_000)).toMatchObject({ texts: ['9', '7', '6'], total: 6, isBeyondKey: false });
  });
});
