import { expect, test } from 'vitest';
import { openMetrics } from '../../src/cli/serving/open-metrics.ts';
import { StorageError } from '../../src/storage/error.ts';
import type { SqlValue, Store } from '../../src/storage/store.ts';
import { openSqlite } from '../support/engines.ts';

/** The store as on a cluster that has lost a node: what it reads of all tenants fails. */
const losing = (store: Store): Store =>
  new Proxy(store, {
    get(target, name: keyof Store) {
      if (name === 'within') return () => losing(target);
      if (name === 'readDirectory')
        return (sql: 'select 1', values?: readonly SqlValue[]) =>
          /\btenant\b/.test(sql)
            ? Promise.reject(new StorageError('UNAVAILABLE', 'a node is lost'))
            : target.readDirectory(sql, values);
      const member = target[name];
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });

const ofTenants = ['history_versions', 'history_bytes', 'history_sweeps_due', 'history_ahead_seconds', 'tenants'];
const ofStore = ['ready', 'store_bytes', 'import_last_success_timestamp_seconds', 'doctor_problems'];

test('while a node is lost, metrics of all tenants are absent rather than 0, and the others are there', async () => {
  const { store, environment, close } = await openSqlite();
  const config = { DATA_DIR: environment.DATA_DIR ?? '', KEY_ROTATION_DAYS: 0, HISTORY_DAYS: 30, TOMBSTONE_DAYS: 90 };
  const certificates = { public: undefined, management: undefined };
  const namesOf = async (measured: Store): Promise<readonly string[]> => {
    const opened = openMetrics({ store: measured, config, isDraining: () => false, waiting: () => 0, certificates });
    const text = await opened.metrics.render();
    opened.close();
    return [...new Set([...text.matchAll(/^subreport_(\w+)/gm)].map(([, name = '']) => name))];
  };
  try {
    expect(await namesOf(store)).toEqual(expect.arrayContaining([...ofTenants, ...ofStore]));
    const names = await namesOf(losing(store));
    expect(names).toEqual(expect.arrayContaining(ofStore));
    expect(names.filter((name) => ofTenants.includes(name))).toEqual([]);
  } finally {
    await close();
  }
});
