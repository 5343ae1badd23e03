import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addTenant } from '../../../../test/support/add-tenant.ts';
import { checkProperty } from '../../../../test/support/check-property.ts';
import { enginesAndMore, type TestStore } from '../../../../test/support/engines.ts';
import { removeRecords } from '../../../../test/support/remove-records.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { type ChangeKey, readChanges } from '../../storage/read/changes.ts';
import type { Store, TenantId } from '../../storage/store.ts';
import { readHistory } from '../../storage/tables/history.ts';

const before: ChangeKey = { revision: 0, id: '' };
const idsMax = 12;
const idOf = (n: number): string => `id${n}`;
const rowOf = (n: number, version: number) => subscriptionRow({ id: idOf(n), createdDate: n, deviceId: `v${version}` });
const rowsOf = (ids: readonly number[], version = 0) => ids.map((n) => rowOf(n, version));

describe.each(enginesAndMore)('changes of subscriptions on $engine', ({ openTestStore }) => {
  let opened: TestStore;
  let store: Store;
  const newTenant = () => addTenant(store, undefined, 1_700_000_000);
  const changesOf = (tenant: TenantId, from = before, limit = 1_000) =>
    store.readTenant(tenant, (reader) => readChanges(reader, { after: from, newestFirst: false, limit }));
  /** Of each change: its revision, its id, and whether the record exists. */
  const outline = async (tenant: TenantId, from = before, limit = 1_000) =>
    (await changesOf(tenant, from, limit)).map(({ revision, id, record }) => [revision, id, record !== undefined]);

  beforeAll(async () => {
    opened = await openTestStore();
    store = opened.store;
  });
  afterAll(() => opened.close());

  test('a load into a tenant that does not exist is an error, and stores nothing', async () => {
    const missing = 'missing' as TenantId;
    await expect(store.loadSubscriptions(missing, rowsOf([1]))).rejects.toThrow();
    expect(await outline(missing)).toEqual([]);
  });

  test('a load stores quotes, backslashes, commas and braces as they are', async () => {
    const tenant = await newTenant();
    const texts = ['"', '\\', '","', '\\"', '{a,b}', 'NULL', ''];
    const rows = texts.map((deviceId, index) => ({ ...rowOf(index, 0), deviceId, status: null }));
    await store.loadSubscriptions(tenant, rows);
    const sql = 'select device_id, status from subscription where tenant_id = $1 order by id';
    const stored = await store.readTenant(tenant, (reader) => reader.all(sql));
    expect(stored).toEqual(texts.map((text) => ({ device_id: text, status: null })));
  });

  test('a removed record becomes a tombstone, and a record again when it is loaded again', async () => {
    const tenant = await newTenant();
    await store.loadSubscriptions(tenant, rowsOf([1, 2, 3]));
    expect(await store.deleteSubscriptions(tenant, ['id2', 'id2', 'nobody'])).toMatchObject({ records: 1 });
    const removed = [
      [1, 'id1', true],
      [1, 'id3', true],
      [2, 'id2', false],
    ];
    expect(await outline(tenant)).toEqual(removed);
    expect(await store.deleteSubscriptions(tenant, ['id2', 'nobody'])).toMatchObject({ records: 0 });
    expect(await outline(tenant)).toEqual(removed);
    await store.loadSubscriptions(tenant, rowsOf([1, 2]));
    expect(await outline(tenant)).toEqual([...removed.slice(0, 2), [3, 'id2', true]]);
    await store.deleteSubscriptions(tenant, ['id1', 'id2']);
    expect(await outline(tenant)).toEqual([
      [1, 'id3', true],
      [4, 'id1', false],
      [4, 'id2', false],
    ]);
  });

  test('a recount is a revision without changes', async () => {
    const tenant = await newTenant();
    await store.loadSubscriptions(tenant, rowsOf([1, 2]));
    await store.deleteSubscriptions(tenant, ['id1']);
    const [known, history] = [await changesOf(tenant), await store.readTenant(tenant, readHistory)];
    await store.recountSubscriptions(tenant, 1);
    const revision = history.revision + 1;
    expect([await changesOf(tenant), await store.readTenant(tenant, readHistory)]).toEqual([
      known,
      { ...history, revision, kept: expect.anything() },
    ]);
  });

  test('after any history each record has its last change and the tenant the newest revision (property)', async () => {
    const some = fc.uniqueArray(fc.nat({ max: idsMax - 1 }), { minLength: 1, maxLength: idsMax });
    const step = fc.oneof(
      fc.record({ load: some, version: fc.nat({ max: 2 }) }),
      fc.record({ load: some, version: fc.nat({ max: 2 }), gone: some }),
      fc.record({ remove: fc.array(fc.nat({ max: idsMax - 1 }), { minLength: 1, maxLength: idsMax }) }),
    );
    await checkProperty(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const tenant = await newTenant();
        const model = new Map<string, { revision: number; record: string | undefined }>();
        const kept = new Set<string>();
        let revision = 0;
        for (const each of steps) {
          const rows = 'load' in each ? rowsOf(each.load, each.version) : [];
          const gone = 'gone' in each ? each.gone.filter((n) => !each.load.includes(n)) : [];
          const ids = [...new Set('remove' in each ? each.remove : gone)].map(idOf);
          const changed: [string, string | undefined][] = [
            ...rows.map(({ id, record }): [string, string] => [id, record]),
            ...ids.filter((id) => model.has(id)).map((id): [string, undefined] => [id, undefined]),
          ];
          const removed = ids.filter((id) => model.get(id)?.record !== undefined).length;
          const real = changed.filter(([id, record]) => model.get(id)?.record !== record);
          // a load keeps the versions of what it removes; to erase them is a revision
          const erased = 'remove' in each ? ids.filter((id) => kept.delete(id)) : [];
          if (real.length + erased.length > 0) revision += 1;
          if (!('remove' in each)) for (const [id, record] of real) if (record === undefined) kept.add(id);
          for (const [id, record] of real) model.set(id, { revision, record });
          if ('remove' in each) {
            const { records } = await store.deleteSubscriptions(tenant, each.remove.map(idOf));
            expect(records).toBe(removed);
          } else expect(await removeRecords(store, tenant, ids, rows)).toMatchObject({ removed });
        }
        const expected = [...model].map(([id, change]) => ({ id, ...change }));
        expected.sort((a, b) => a.revision - b.revision || (a.id < b.id ? -1 : 1));
        expect(await changesOf(tenant)).toEqual(expected);
        expect((await store.readTenant(tenant, readHistory)).revision).toBe(revision);
      }),
      { least: 10, most: 60 },
    );
  });

  test('a reader that follows the changes of two concurrent writers misses none', async () => {
    const tenant = await newTenant();
    const [other, third] = [opened.openAgain(), opened.openAgain()];
    let writing = true;
    const write = async (by: Store, first: number) => {
      for (let n = 0; n < 40; n += 1) {
        await by.loadSubscriptions(tenant, rowsOf([first + n, 1_000 + (n % 7)], first + n));
        if (n % 3 === 0) await by.deleteSubscriptions(tenant, [idOf(first + n), idOf(1_000 + (n % 5))]);
      }
    };
    const copy = new Map<string, string>();
    const follow = async () => {
      let from = before;
      for (let last = false, answers = 0; answers < 10_000; last = !writing, answers += 1) {
        const page = await third.readTenant(tenant, (reader) =>
          readChanges(reader, { after: from, newestFirst: false, limit: 5 }),
        );
        for (const { id, record } of page) {
          if (record === undefined) copy.delete(id);
          else copy.set(id, record);
        }
        from = page.at(-1) ?? from;
        if (last && page.length === 0) return;
      }
      throw new Error('the changes do not end');
    };
    const writers = Promise.all([write(store, 0), write(other, 100)]).finally(() => {
      writing = false;
    });
    await Promise.all([writers, follow()]);
    const live = (await changesOf(tenant)).filter(({ record }) => record !== undefined);
    expect([...copy].sort()).toEqual(live.map(({ id, record }) => [id, record]).sort());
    expect(live.length).toBeGreaterThan(40);
  });
});
