import { describe, expect, test } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines } from '../../../../test/support/engines.ts';
import { subscriptionRow } from '../../../../test/support/rows.ts';
import { createClient } from '../../auth/clients/manage-clients.ts';
import { StorageError } from '../../storage/error.ts';
import type { DirectoryStatement, SqlValue, Store, TenantId } from '../../storage/store.ts';
import { sweepTombstones } from '../../storage/tables/history.ts';
import { sweepVersions } from '../../storage/tables/sweep-versions.ts';
import { findTenant, insertTenant } from '../../storage/tables/tenant.ts';

const drawn = drawOne(engines, import.meta.url);

const daySeconds = 86_400;
const now = 20_000 * daySeconds;
const failure = new StorageError('UNAVAILABLE', 'a node is lost');

/** The store as on a cluster that has lost the node of a tenant; `test/citus` has a real one. */
function losing(store: Store, lost: string, known: readonly string[]): Store {
  /** The tables of the coordinator, and the tenants of other nodes. */
  const isLeft = (sql: string, values: readonly SqlValue[]): boolean =>
    !/\btenant(?:_revision)?\b/.test(sql) ||
    (values.some((value) => known.includes(String(value))) && !values.includes(lost) && !/id <= \$3/.test(sql));
  const refuse = () => Promise.reject(failure);
  return new Proxy(store, {
    get(target, name: keyof Store) {
      if (name === 'within') return () => losing(target, lost, known);
      if (name === 'readDirectory')
        return (sql: 'select 1', values: readonly SqlValue[] = []) =>
          isLeft(sql, values) ? target.readDirectory(sql, values) : refuse();
      if (name === 'writeDirectory')
        return (statements: readonly DirectoryStatement[]) =>
          statements.every(({ sql, values }) => isLeft(sql, values)) ? target.writeDirectory(statements) : refuse();
      if (name === 'sweepHistory' || name === 'sweepTombstones')
        return (tenant: TenantId, ...args: [never, never]) =>
          tenant === lost ? refuse() : target[name](tenant, ...args);
      const member = target[name];
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

describe.each(drawn)('a sweep while a node is lost, on $engine', ({ openTestStore }) => {
  const lost = 'a-lost';
  const living = ['b-client', 'c-client'];

  /** Tenants with a version and a tombstone each, and a client. */
  const open = async () => {
    const opened = await openTestStore();
    const { store } = opened;
    const tenants: TenantId[] = [];
    for (const name of [lost, ...living]) {
      await insertTenant(store, name, 1);
      const tenant = (await findTenant(store, name))?.tenant as TenantId;
      await createClient(store, 1, { tenant, scopes: ['subscription:read'] });
      for (const deviceId of ['one', 'two'])
        await store.loadSubscriptions(tenant, [
          subscriptionRow({ id: 'changed', deviceId }),
          subscriptionRow({ id: 'removed' }),
        ]);
      await store.loadSubscriptions(tenant, [], undefined, undefined, ['removed']);
      tenants.push(tenant);
    }
    const count = (table: 'version' | 'tombstone'): Promise<readonly number[]> =>
      Promise.all(
        tenants.map(async (tenant) => {
          const sql = `select count(*) as n from subscription_${table} where tenant_id = $1` as const;
          const [[row] = []] = await store.readTenantOnce(tenant, [{ sql, values: [] }]);
          return Number(row?.n);
        }),
      );
    return { ...opened, count, failing: losing(store, lost, [lost, ...living]) };
  };

  test.each([
    { days: 0, title: 'without a history' },
    { days: 30, title: 'after the retention' },
  ])('removes the versions of the tenants of other nodes, $title, and rejects', async ({ days }) => {
    const { store, failing, count, close } = await open();
    try {
      expect(await count('version')).toEqual([2, 2, 2]);
      const at = (day: number) => ({ nowSeconds: now + day * daySeconds, days });
      await expect(sweepVersions(failing, at(0))).rejects.toBe(failure);
      if (days > 0) expect(await count('version')).toEqual([2, 2, 2]);
      await expect(sweepVersions(failing, at(days + 1))).rejects.toBe(failure);
      expect(await count('version')).toEqual([2, 0, 0]);
      // the node is back
      await sweepVersions(store, at(days + 1));
      await sweepVersions(store, at(2 * days + 2));
      expect(await count('version')).toEqual([0, 0, 0]);
    } finally {
      await close();
    }
  });

  test('removes the tombstones of the tenants of other nodes, and rejects', async () => {
    const { store, failing, count, close } = await open();
    try {
      const at = (day: number) => ({ nowSeconds: now + day * daySeconds, days: 90 });
      await expect(sweepTombstones(failing, at(0))).rejects.toBe(failure);
      expect(await count('tombstone')).toEqual([1, 1, 1]);
      await expect(sweepTombstones(failing, at(91))).rejects.toBe(failure);
      expect(await count('tombstone')).toEqual([1, 0, 0]);
      await sweepTombstones(store, at(91));
      await sweepTombstones(store, at(182));
      expect(await count('tombstone')).toEqual([0, 0, 0]);
    } finally {
      await close();
    }
  });

  test('marks and forgets the days of these tenants as a sweep of all does', async () => {
    const { store, failing, close } = await open();
    const notes = async () =>
      (await store.readDirectory('select tenant_id, is_swept from tenant_revision order by tenant_id')).map(
        ({ tenant_id: tenant, is_swept: isSwept }) => `${tenant} ${isSwept}`,
      );
    try {
      const at = (day: number, days: number) => ({ nowSeconds: now + day * daySeconds, days });
      await expect(sweepVersions(failing, at(0, 30))).rejects.toBe(failure);
      expect(await notes()).toEqual(['b-client 0', 'c-client 0']);
      await expect(sweepVersions(failing, at(31, 30))).rejects.toBe(failure);
      expect(await notes()).toEqual(['b-client 1', 'c-client 1']);
      await expect(sweepTombstones(failing, at(91, 90))).rejects.toBe(failure);
      expect(await notes()).toEqual([]);
    } finally {
      await close();
    }
  });
});
