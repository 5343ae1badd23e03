import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TenantId } from '../../src/storage/store.ts';
import { countMatching, readPage } from '../../src/storage/subscription-page.ts';
import { findTenant, insertTenant } from '../../src/storage/tenant.ts';
import { engines, type TestStore } from '../support/engines.ts';
import { subscriptionRow } from '../support/rows.ts';

describe.each(engines)('the store on $engine', ({ openTestStore }) => {
  let opened: TestStore;
  let acme: TenantId;
  beforeAll(async () => {
    opened = await openTestStore();
    await insertTenant(opened.store, 'acme', 1);
    acme = (await findTenant(opened.store, 'acme'))?.tenant as TenantId;
  });
  afterAll(() => opened.close());

  test('loads rows, and the same rows again change nothing', async () => {
    const rows = [1, 2, 3].map((n) => subscriptionRow({ id: `id-${n}`, createdDate: n }));
    expect(await opened.store.loadSubscriptions(acme, rows)).toEqual({ inserted: 3, updated: 0, unchanged: 0 });
    expect(await opened.store.loadSubscriptions(acme, rows)).toEqual({ inserted: 0, updated: 0, unchanged: 3 });
    const read = await opened.store.readTenant(acme, async (reader) => [
      await countMatching(reader, { dateColumn: 'created_date' }),
      await readPage(
        reader,
        { dateColumn: 'created_date' },
        { column: 'created_date', descending: false },
        { kind: 'offset', skip: 1 },
        2,
      ),
    ]);
    expect(read).toEqual([3, [2, 3].map((n) => ({ date: n, id: `id-${n}`, record: rows[n - 1]?.record }))]);
  });
});
