import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { calendarOf } from '../../report/calendar.ts';
import { readTenant } from '../../report/moment.ts';
import { summariseChanges } from '../../storage/read/changes-summary.ts';
import { countCommitted } from '../../storage/read/committed-changes.ts';
import type { Store, TenantId } from '../../storage/store.ts';
import type { SubscriptionRow } from '../../storage/subscription-row.ts';
import { findTenant, insertTenant } from '../../storage/tables/tenant.ts';

const drawn = drawOne(engines, import.meta.url);

const days = calendarOf('day', undefined, { from: 0, until: 0 });
const max = { transitions: 500, imports: 100, perImport: 20 };
const importIds = ['01890a5d-ac96-774b-bcce-b302099a8057', '01890a5d-ac96-774b-bcce-b302099a8058'] as const;
const row = (n: number, given: Partial<SubscriptionRow> = {}): SubscriptionRow =>
  subscriptionRow({ id: `id${n}`, ...given });

describe.each(drawn)('changes that are added up from their commits on $engine', ({ openTestStore }) => {
  let opened: TestStore;
  let store: Store;
  let tenant: TenantId;
  let tenants = 0;

  beforeAll(async () => {
    opened = await openTestStore();
    store = opened.store;
  });
  afterAll(() => opened.close());

  const revision = async (): Promise<number> => (await findTenant(store, tenant))?.revision ?? 0;
  const load = (rows: readonly SubscriptionRow[], importId?: string, removed: readonly string[] = []) =>
    store.loadSubscriptions(tenant, rows, undefined, importId, removed);
  /** A tenant with nine records; returns its revision. */
  async function begin(): Promise<number> {
    tenants += 1;
    await insertTenant(store, `committed-${tenants}`, 1_700_000_000);
    tenant = (await findTenant(store, `committed-${tenants}`))?.tenant as TenantId;
    await load(Array.from({ length: 9 }, (_, n) => row(n + 1)));
    return revision();
  }
  /** The counts from the commits, and from the records. */
  async function count(base: number, id = '', listed = max) {
    const end = await revision();
    const period = { after: { revision: base + 1, id }, base };
    return {
      committed: await readTenant(store, tenant, (reader) => countCommitted(reader, period, end, days, listed)),
      read: await readTenant(store, tenant, (reader) => summariseChanges(reader, period, days, listed)),
    };
  }

  test('records that changed once, again, back, or only for a while are counted as from the records', async () => {
    const base = await begin();
    await load(
      [row(1, { status: 'DEPLETED' }), row(2, { status: 'DEPLETED' }), row(3, { autoRenew: 'false' })],
      importIds[0],
    );
    await load([row(10), row(11), row(4, { productId: 'product-2', expirationDate: 1_800_000_000 })]);
    const replacement = await store.openReplacement(tenant, importIds[1]);
    await replacement.add([
      ...[row(1, { status: 'EXPIRED' }), row(2), row(3, { autoRenew: 'false', status: null })],
      ...[row(4, { productId: 'product-3', expirationDate: 1_750_000_000 }), row(5, { status: null }), row(6), row(7)],
      ...[row(8), row(10, { status: 'DEPLETED' })],
    ]);
    await replacement.finish(false);
    await replacement.close();
    await load([row(1, { status: 'SUSPENDED' })], importIds[0], ['id7']);
    const { committed, read } = await count(base);
    expect(committed).toEqual(read);
    // 1 to 5, but not 6 and 8; 10, but not 11, which was there for a while; 7 and 9
    expect(committed).toMatchObject({ kinds: { added: 1, changed: 5, removed: 2 }, renewed: 1, importCount: 2 });
    for (const since of [base + 1, base + 2, base + 3, base + 4]) {
      const later = await count(since);
      expect(later.committed).toEqual(later.read);
    }
  });

  test('transitions that are equally frequent are listed alike, also those from and to no status', async () => {
    const words = [null, 'A', 'A B', '\ue000', '\u{1f600}'];
    const base = await begin();
    const rowsOf = (shift: number) =>
      words.map((_, n) => {
        const word = words[(n + shift) % words.length] ?? null;
        return row(n + 1, { status: word, productId: word ?? 'none', autoRenew: String(n < 2 === shift > 0) });
      });
    await load(rowsOf(0));
    await load(rowsOf(1));
    for (const transitions of [2, 500]) {
      const { committed, read } = await count(base + 1, '', { ...max, transitions });
      expect(committed).toEqual(read);
      const froms = ['A', 'A B', '\ue000', '\u{1f600}', null].slice(0, transitions);
      expect(committed?.status.listed.map(({ from }) => from)).toEqual(froms);
    }
  });

  test('the records are read if one of them has come back', async () => {
    const base = await begin();
    await load([], undefined, ['id1']);
    await load([row(1)]);
    expect((await count(base)).committed).toBe(undefined);
  });

  test('the records are read if one of them was erased, or if a commit does not say what it did', async () => {
    const base = await begin();
    await load([row(1, { status: 'DEPLETED' })]);
    const until = await revision();
    await store.deleteSubscriptions(tenant, ['id1']);
    expect((await count(base)).committed).toBe(undefined);
    const period = { after: { revision: base + 1, id: '' }, base, until };
    const before = await readTenant(store, tenant, (reader) => countCommitted(reader, period, until, days, max));
    expect(before).toBe(undefined); // also for a period before the erasure
    const later = await revision();
    const many = [2, 3, 4, 5, 6, 7, 8].map((n) => row(n, { status: `${n}`.repeat(64), productId: `p${n}`.repeat(40) }));
    await load(many);
    expect((await count(later)).committed).toBe(undefined);
  });

  test('the records are read for a period that begins within a revision', async () => {
    const base = await begin();
    await load([row(1, { status: 'DEPLETED' }), row(2, { status: 'DEPLETED' })]);
    expect((await count(base, 'id1')).committed).toBe(undefined);
    expect((await count(base)).committed).toMatchObject({ kinds: { changed: 2 } });
  });
});
