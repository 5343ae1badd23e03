import { createHash } from 'node:crypto';
import { StorageError } from './error.ts';
import type { ImportLock } from './import-lock.ts';
import { SqliteConnection } from './sqlite-connection.ts';
import type { TenantId } from './store.ts';

/**
 * Takes the right to import into a tenant of the embedded store: an exclusive lock on an empty database of its own beside the store, which the operating
 * system lets go when the process ends. The file stays, as removing it would let two hold locks on two files of one name. `undefined` when it is taken.
 */
export function lockImportOnSqlite(databaseFile: string, tenant: TenantId): ImportLock | undefined {
  const name = createHash('sha256').update(tenant).digest('hex').slice(0, 16);
  const connection = new SqliteConnection(`${databaseFile}-import-${name}.lock`, 0);
  try {
    connection.run('begin exclusive');
  } catch (error) {
    connection.close();
    if (error instanceof StorageError && error.code === 'BUSY') return undefined;
    throw error;
  }
  let held = true;
  return {
    isHeld: () => held,
    release: async () => {
      held = false;
      connection.close();
    },
  };
}
