import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Logger } from 'pino';
import { CommandError } from '../../../terminal/error.ts';
import { openStore, type StoreOptions } from '../../storage/open-store.ts';
import type { Store } from '../../storage/store.ts';
import type { Config } from '../config.ts';

/** Opens the store of the settings, whatever its schema is. */
export const openConfiguredStore = (config: Config, options: Partial<StoreOptions> = {}): Store =>
  openStore({
    databaseUrl: config.DATABASE_URL,
    dataDir: config.DATA_DIR,
    poolSize: config.DATABASE_POOL_SIZE,
    keepsHistory: config.HISTORY_DAYS > 0,
    tenantBytesMax: config.TENANT_STORAGE_MAX_MIB * 2 ** 20,
    operationMs: config.REQUEST_SECONDS_MAX * 1000,
    ...options,
  });

/** Throws without a database file: in a wrong folder, a command would create an empty one. */
export function requireStore({ DATABASE_URL, DATA_DIR }: Pick<Config, 'DATABASE_URL' | 'DATA_DIR'>): void {
  if (DATABASE_URL !== undefined || existsSync(join(DATA_DIR, 'subreport.db'))) return;
  throw new CommandError(
    `Cannot find the database: DATA_DIR must be the folder of one: there is no subreport.db in '${resolve(DATA_DIR)}'; go to the folder of the service, or create a first tenant with 'subreport tenant create acme'`,
  );
}

/** Opens the store of the settings, and migrates its schema unless `MIGRATE_ON_START=false`. */
export async function openReadyStore(config: Config, events: StoreEvents = {}): Promise<Store> {
  const store = openConfiguredStore(config, events);
  try {
    if (config.MIGRATE_ON_START === 'true') await store.migrate();
    await store.checkReady();
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

type StoreEvents = Pick<StoreOptions, 'onConnectionError' | 'onPooler'>;

export const logStoreEvents = (logger: Logger): StoreEvents => ({
  onConnectionError: (error) => logger.warn({ err: error }, 'a pooled connection broke; the pool replaces it'),
  onPooler: () =>
    logger.warn(
      'DATABASE_URL refers to a pooler, which does not forward notifications: each request polls the database for changes (docs/operators/operating.md, Poolers)',
    ),
});
