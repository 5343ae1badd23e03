import { expect, test } from 'vitest';
import { openSqlite } from '../../../../test/support/engines.ts';
import { openMetrics } from '../../cli/serving/open-metrics.ts';
import { StorageError } from '../../storage/error.ts';
import type { SqlValue, Store } from '../../storage/store.ts';

/** The store as on a cluster that has lost a node: what it reads of all tenants fails, or more. */
const losing = (store: Store, lost = /\btenant\b/): Store =>
  new Proxy(store, {
    get(target, name: keyof Store) {
      if (name === 'within') return () => losing(target, lost);
      if (name === 'readDirectory')
        return (sql: 'select 1', values?: readonly SqlValue[]) =>
          lost.test(sql)
            ? Promise.reject(new StorageError('UNAVAILABLE', 'a node is lost'))
            : target.readDirectory(sql, values);
      const member = target[name];
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });

const ofTenants = ['history_versions', 'history_sweeps_due', 'history_ahead_seconds', 'tenants'];
const ofStore = ['ready', 'store_bytes', 'import_last_success_timestamp_seconds', 'doctor_problems'];
/** Metrics that are read from tables. */
const ofTables = [
  ...ofTenants,
  ...['import_last_success_timestamp_seconds', 'imports_last_day', 'import_rows_last_day'],
  ...['backup_last_success_timestamp_seconds', 'doctor_problems', 'doctor_last_run_timestamp_seconds'],
];

test('while a node is lost, metrics of all tenants are absent rather than 0, and the others are there; without the store, all are absent', async () => {
  const { store, environment, close } = await openSqlite();
  const service = {
    config: { DATA_DIR: environment.DATA_DIR ?? '', HISTORY_DAYS: 30, TOMBSTONE_DAYS: 90 },
    keyRing: { lifetimes: { access: 300, refresh: 3_600 }, now: () => 0 },
    certificates: { public: undefined, management: undefined },
    ...{ isDraining: () => false, waiting: () => 0 },
  };
  const namesOf = async (measured: Store): Promise<readonly string[]> => {
    const opened = openMetrics({ ...service, store: measured });
    const text = await opened.metrics.render();
    opened.close();
    return [...new Set([...text.matchAll(/^subreport_(\w+)/gm)].map(([, name = '']) => name))];
  };
  try {
    const all = await namesOf(store);
    expect(all).toEqual(expect.arrayContaining([...ofTables, ...ofStore]));
    // there is no budget
    expect(all.filter((name) => /^storage_budget/.test(name))).toEqual([]);
    const names = await namesOf(losing(store));
    expect(names).toEqual(expect.arrayContaining(ofStore));
    expect(names.filter((name) => ofTenants.includes(name))).toEqual([]);
    const left = await namesOf(losing(store, /./));
    expect(left).toContain('disk_bytes');
    expect(left.filter((name) => ofTables.includes(name))).toEqual([]);
  } finally {
    await close();
  }
});
