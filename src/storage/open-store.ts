import type { PostgresOptions } from './postgres/connections.ts';
import { openPostgresStore } from './postgres/store.ts';
import { openSqliteStore } from './sqlite/store.ts';
import type { Store } from './store.ts';

/**
 * Where the data is: a PostgreSQL database when there is a URL, the embedded store in a folder
 * otherwise.
 */
export interface StoreOptions extends Omit<PostgresOptions, 'url'> {
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
}

/**
 * Opens the store that the settings choose. Fails with `StorageError` `UNUSABLE` when the folder
 * cannot be used.
 */
export function openStore({ databaseUrl, dataDir, ...options }: StoreOptions): Store {
  return databaseUrl === undefined
    ? openSqliteStore(dataDir, options.operationMs)
    : openPostgresStore({ url: databaseUrl, ...options });
}
