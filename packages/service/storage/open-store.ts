import type { PostgresOptions } from './postgres/connections.ts';
import { openPostgresStore } from './postgres/store.ts';
import { openSqliteStore } from './sqlite/store.ts';
import type { Store } from './store.ts';

/** Where the data is: in a PostgreSQL database if there is a URL, else in SQLite in a folder. */
export interface StoreOptions extends Omit<PostgresOptions, 'url'> {
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
}

/** Opens the configured store. Throws `StorageError` `UNUSABLE` if the folder cannot be used. */
export function openStore({ databaseUrl, dataDir, ...options }: StoreOptions): Store {
  return databaseUrl === undefined
    ? openSqliteStore(dataDir, options)
    : openPostgresStore({ url: databaseUrl, ...options });
}
