import type { SqlValue, Store, TenantReader } from '../../packages/service/storage/store.ts';

/** A statement that reads a tenant's rows. */
export interface ReadStatement {
  readonly sql: string;
  readonly values: readonly SqlValue[];
  /** Whether its rows are streamed. */
  readonly isStream?: boolean;
}

/** A store that tells `note` of each statement that reads a tenant's rows. */
export function watchReads(store: Store, note: (statement: ReadStatement) => unknown): Store {
  const watched = <T extends TenantReader>(reader: T): T => ({
    ...reader,
    all(sql, values = []) {
      note({ sql, values });
      return reader.all(sql, values);
    },
  });
  const own: Partial<Store> = {
    within: (...args) => watchReads(store.within(...args), note),
    readTenant: (of, work, options) => store.readTenant(of, (reader) => work(watched(reader)), options),
    readTenantOnce(of, statement, options) {
      note(statement);
      return store.readTenantOnce(of, statement, options);
    },
    async openSnapshot(...args) {
      const snapshot = await store.openSnapshot(...args);
      return {
        ...watched(snapshot),
        streamLines(sql, values, batchRows) {
          note({ sql, values, isStream: true });
          return snapshot.streamLines(sql, values, batchRows);
        },
      };
    },
  };
  return new Proxy(store, {
    get(target, name: keyof Store) {
      const value = own[name] ?? target[name];
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
