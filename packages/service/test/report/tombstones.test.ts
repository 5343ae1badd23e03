import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { addTenant } from '../../../../test/support/add-tenant.ts';
import { checkProperty } from '../../../../test/support/check-property.ts';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { defaultPageLimits } from '../../../contract/report.ts';
import { listChanges } from '../../report/list-changes.ts';
import { parseChanges } from '../../report/parse-changes.ts';
import type { ReportContext } from '../../report/report-query.ts';
import type { Store, TenantId } from '../../storage/store.ts';
import { sweepTombstones } from '../../storage/tables/history.ts';
import { findTenant } from '../../storage/tables/tenant.ts';

const drawn = drawOne(engines, import.meta.url);

interface Answer {
  readonly changes: readonly { readonly id: string; readonly removed?: true }[];
  readonly next: string;
  readonly has_more: boolean;
}

const day = 86_400;
const days = 90;
const idOf = (n: number): string => `id${n}`;

describe.each(drawn)('the retention of tombstones on $engine', ({ openTestStore }) => {
  let opened: TestStore;
  let store: Store;
  let context: ReportContext;
  /** The injected clock; it never goes back between tests. */
  let now = 20_000 * day + 3_600;
  const newTenant = () => addTenant(store, undefined, now);
  const load = (tenant: TenantId, ids: readonly number[], version = 0) =>
    store.loadSubscriptions(
      tenant,
      ids.map((n) => subscriptionRow({ id: idOf(n), createdDate: n, deviceId: `version ${version}` })),
    );
  const remove = (tenant: TenantId, ids: readonly number[]) => store.deleteSubscriptions(tenant, ids.map(idOf));
  const sweep = () => sweepTombstones(store, { nowSeconds: now, days });
  /** Advances the clock past the retention. */
  const outlive = async () => {
    await sweep(); // records today's revision of each tenant
    now += (days + 1) * day;
    return sweep();
  };
  const answer = async (tenant: TenantId, token: string | undefined, size = 100): Promise<Answer> => {
    const query = `${token === undefined ? '' : `since=${token}&`}size=${size}`;
    return JSON.parse((await listChanges(context, tenant, parseChanges(query, context, 'json'))).body) as Answer;
  };
  const refused = {
    code: 'RESYNC_REQUIRED',
    messages: [expect.stringContaining("without 'since', into an empty copy")],
  };

  beforeAll(async () => {
    opened = await openTestStore();
    store = opened.store;
    const reportUrl = 'http://localhost/r';
    context = { store, limits: defaultPageLimits, reportUrl, now: () => 1 };
  });
  afterAll(() => opened.close());

  test('a tombstone stays for the whole retention and is gone a day after it', async () => {
    const tenant = await newTenant();
    await load(tenant, [1, 2]);
    await remove(tenant, [2]);
    await sweep();
    const removed = async () => (await answer(tenant, undefined)).changes.filter((change) => change.removed);
    now += days * day;
    expect([await sweep(), await removed()]).toEqual([0, [{ id: idOf(2), removed: true }]]);
    now += day;
    expect([await sweep(), await removed()]).toEqual([1, []]);
    expect(await sweep()).toBe(0);
  });

  test('a change token older than a removed tombstone is rejected, a newer one is accepted', async () => {
    const tenant = await newTenant();
    await load(tenant, [1, 2, 3]);
    const before = (await answer(tenant, undefined)).next;
    await remove(tenant, [3]);
    const after = (await answer(tenant, undefined)).next;
    expect((await answer(tenant, before)).changes).toEqual([{ id: idOf(3), removed: true }]);
    await outlive();
    await expect(answer(tenant, before)).rejects.toMatchObject(refused);
    await load(tenant, [4]);
    expect((await answer(tenant, after)).changes.map(({ id }) => id)).toEqual([idOf(4)]);
  });

  test('tokens of any age stay valid while no tombstone of the tenant was removed', async () => {
    const tenant = await newTenant();
    await load(tenant, [1]);
    const { next } = await answer(tenant, undefined);
    await load(tenant, [2]);
    await outlive();
    expect((await answer(tenant, next)).changes.map(({ id }) => id)).toEqual([idOf(2)]);
  });

  test('a sweep is a new revision, so that no ETag of a response with removed tombstones matches', async () => {
    const tenant = await newTenant();
    await load(tenant, [1]);
    await remove(tenant, [1]);
    const revision = async () => (await findTenant(store, tenant))?.revision;
    expect(await revision()).toBe(2);
    await outlive();
    expect(await revision()).toBe(3);
    await outlive();
    expect(await revision()).toBe(3);
  });

  test('many tombstones are removed in transactions of at most 1,000', async () => {
    const tenant = await newTenant();
    const ids = Array.from({ length: 2_500 }, (_, n) => n);
    await load(tenant, ids);
    await remove(tenant, ids);
    const sweeping = vi.spyOn(store, 'sweepTombstones');
    expect(await outlive()).toBe(2_500);
    const batches = await Promise.all(sweeping.mock.results.map(({ value }) => value as Promise<number>));
    sweeping.mockRestore();
    expect(batches.filter((n) => n > 0)).toEqual([1_000, 1_000, 500]);
    expect((await answer(tenant, undefined)).changes).toEqual([]);
  });

  test('during sweeps, the copy of a client is correct or its token is rejected (property)', async () => {
    const someIds = fc.uniqueArray(fc.nat({ max: 8 }), { minLength: 1, maxLength: 6 });
    const step = fc.oneof(
      fc.record({ kind: fc.constant('load' as const), ids: someIds, version: fc.nat({ max: 2 }) }),
      fc.record({ kind: fc.constant('remove' as const), ids: someIds }),
      fc.record({ kind: fc.constant('outlive' as const) }),
      fc.record({ kind: fc.constant('read' as const), reader: fc.nat({ max: 2 }), size: fc.constantFrom(1, 2, 100) }),
    );
    await checkProperty(
      fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 40 }), async (steps) => {
        const tenant = await newTenant();
        const readers = [0, 1, 2].map(() => ({ token: undefined as string | undefined, copy: new Set<string>() }));
        const live = new Set<string>();
        for (const each of steps) {
          if (each.kind === 'load') {
            await load(tenant, each.ids, each.version);
            for (const n of each.ids) live.add(idOf(n));
          } else if (each.kind === 'remove') {
            await remove(tenant, each.ids);
            for (const n of each.ids) live.delete(idOf(n));
          } else if (each.kind === 'outlive') await outlive();
          else {
            const reader = readers[each.reader];
            if (reader === undefined) throw new RangeError('no such reader');
            const page = await answer(tenant, reader.token, each.size).catch((error: { code?: string }) => {
              expect(error.code).toBe('RESYNC_REQUIRED');
              return undefined;
            });
            if (page === undefined) {
              Object.assign(reader, { token: undefined, copy: new Set() });
              continue;
            }
            for (const { id, removed } of page.changes) removed ? reader.copy.delete(id) : reader.copy.add(id);
            reader.token = page.next;
            if (!page.has_more) expect([...reader.copy].sort()).toEqual([...live].sort());
          }
        }
      }),
      { least: 5, most: 25 },
    );
  });
});
