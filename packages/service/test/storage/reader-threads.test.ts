import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addTenant } from '../../../../test/support/add-tenant.ts';
import { engines, type TestStore } from '../../../../test/support/engines.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import type { Store, TenantId } from '../../storage/store.ts';

const count = 'select count(*) as n from subscription where tenant_id = $1';
const rowsTwice = `select count(*) as n from (select id from subscription where tenant_id = $1) as a,
  (select id from subscription where tenant_id = $1) as b` as const;
/** Takes minutes for 2,000 rows: it reads the tenant's rows once for each pair of them. */
const endless = `${rowsTwice}, (select id from subscription where tenant_id = $1) as c` as const;

describe('reads of the embedded store that are not bounded by a page', () => {
  let opened: TestStore;
  let store: Store;
  let tenant: TenantId;

  const tenantOf = async (name: string, rows: number): Promise<TenantId> => {
    const tenant = await addTenant(store, name);
    await store.loadSubscriptions(
      tenant,
      Array.from({ length: rows }, (_, index) => subscriptionRow({ id: `${name}-${index}`, createdDate: index })),
    );
    return tenant;
  };
  const countOf = async (of: TenantId): Promise<number> => {
    const [row] = await store.readTenantOnce(of, { sql: count, values: [] });
    return Number(row?.n);
  };

  beforeAll(async () => {
    opened = await engines[0].openTestStore();
    ({ store } = opened);
    tenant = await tenantOf('acme', 2_000);
  });
  afterAll(() => opened.close());

  test('do not block the event loop while their statement runs', async () => {
    let turns = 0;
    let isDone = false;
    const read = store.readTenant(tenant, (reader) => reader.all(rowsTwice));
    void read.then(() => {
      isDone = true;
    });
    for (; !isDone; turns += 1) await nextTurn();
    expect((await read)[0]?.n).toBe(2_000 * 2_000);
    expect(turns).toBeGreaterThan(2); // on the main thread it would be over before the second one
  });

  test('see one snapshot in all their statements', async () => {
    const own = await tenantOf('moment', 3);
    const seen = await store.readTenant(own, async (reader) => {
      const [before] = await reader.all(count);
      await store.loadSubscriptions(own, [subscriptionRow({ id: 'later' })]);
      const [after] = await reader.all(count);
      return [before?.n, after?.n];
    });
    expect([seen, await countOf(own)]).toEqual([[3, 3], 4]);
  });

  test('see the latest records after a snapshot was closed in the middle of its stream', async () => {
    const own = await tenantOf('half', 1_000);
    const aborted = await store.openSnapshot(own, 60_000);
    for await (const { rows } of aborted.streamLines('select id from subscription where tenant_id = $1', [], 10)) {
      expect(rows).toBe(10);
      break;
    }
    await aborted.close();
    await store.loadSubscriptions(own, [subscriptionRow({ id: 'later' })]);
    // one on each thread, of which there are at most four
    const snapshots = await Promise.all(Array.from({ length: 4 }, () => store.openSnapshot(own, 60_000)));
    const seen = await Promise.all(snapshots.map(async (snapshot) => (await snapshot.all(count))[0]?.n));
    for (const snapshot of snapshots) await snapshot.close();
    expect(seen).toEqual(Array(4).fill(1_001));
  });

  test('are aborted at the deadline of their request, statement included, and the thread serves the next one', async () => {
    const inTime = store.within(performance.now() + 200);
    await expect(inTime.readTenant(tenant, (reader) => reader.all(endless))).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
    expect(await countOf(tenant)).toBe(2_000);
  });

  test('end when their client leaves, whether they run or wait, and the thread serves the next one', async () => {
    const deadline = performance.now() + 60_000;
    const own = await tenantOf('former', 2_000);
    const again = Array.from({ length: 2_000 }, (_, index) => subscriptionRow({ id: `former-${index}` }));
    await store.loadSubscriptions(own, again);
    const ofVersions = endless.replaceAll('subscription', 'subscription_version') as typeof endless;
    for (const sql of [endless, ofVersions]) {
      const client = new AbortController();
      const ofClient = store.within(deadline, client.signal);
      const snapshot = await ofClient.openSnapshot(own, 60_000);
      const reads = [
        ofClient.readTenant(own, (reader) => reader.all(sql)),
        ofClient.readTenantOnce(own, { sql, values: [] }),
        snapshot.all(sql),
      ];
      const failures = Promise.all(reads.map((read) => read.catch((error: unknown) => error)));
      await nextTurn();
      const left = new Error('left');
      client.abort(left);
      expect(await failures).toEqual([left, left, left]);
      await expect(ofClient.readTenant(own, (reader) => reader.all(count))).rejects.toBe(left);
      expect(await countOf(own)).toBe(2_000);
    }
  });

  test('succeed for a tenant while another statement of it never finishes', async () => {
    const client = new AbortController();
    const held = store
      .within(performance.now() + 20_000, client.signal)
      .readTenant(tenant, (reader) => reader.all(endless))
      .catch((error: unknown) => error);
    let isOver = false;
    void held.then(() => {
      isOver = true;
    });
    expect(await countOf(tenant)).toBe(2_000);
    expect(await store.readTenant(tenant, async (reader) => (await reader.all(count))[0]?.n)).toBe(2_000);
    expect(isOver).toBe(false); // they did not wait until the statement reached its deadline
    const left = new Error('left');
    client.abort(left);
    expect(await held).toBe(left);
  });

  test('succeed for another tenant while one tenant has a statement that never finishes', async () => {
    const other = await tenantOf('globex', 5);
    const inTime = store.within(performance.now() + 20_000);
    const held = Array.from({ length: 6 }, () => inTime.readTenant(tenant, (reader) => reader.all(endless)));
    let isOver = false;
    const failed = Promise.allSettled(held).finally(() => {
      isOver = true;
    });
    expect(await countOf(other)).toBe(5);
    await store.openSnapshot(other, 1_000).then(async (snapshot) => {
      expect((await snapshot.all(count))[0]?.n).toBe(5);
      await snapshot.close();
    });
    expect(isOver).toBe(false); // they did not wait until the statements reached their deadline
    await opened.close(); // interrupts them
    expect((await failed).map(({ status }) => status)).toEqual(Array(6).fill('rejected'));
    opened = await engines[0].openTestStore();
  });
});
